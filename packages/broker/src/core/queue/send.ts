/**
 * SendMessage and SendMessageBatch (§8), with deduplication (rules 11.8–11.17).
 *
 * On a FIFO queue a send has an id: the one given, else the SHA-256 of its body where content-based deduplication is
 * on. If the window holds that id, the send is a duplicate: it succeeds, changes nothing, and is answered with the
 * original's MessageId and sequence. Otherwise message and window entry are created together, in one transaction.
 */

import type { KeptWindowEntry, MessageContent, WindowDigests } from '../changes.ts';
import type { CommandOf, Outcome, SendEntry, SendResult } from '../commands.ts';
import { differencesIn, isCollision } from '../deduplication/difference.ts';
import { attributesMd5, md5Hex, sha256Hex } from '../digest/digests.ts';
import { type Refusal, refuse } from '../errors.ts';
import type { Suppressed } from '../events.ts';
import { batchSizeBytesMax, delaySecondsMax } from '../limits.ts';
import { none } from '../structures/slab.ts';
import { comparedMd5 } from '../trace-context.ts';
import type { Transaction } from '../transaction.ts';
import { applyEntries, checkBatch } from './batch.ts';
import {
  type CheckedAttributes,
  checkMessage,
  checkPrepared,
  messageSize,
  messageSizeBound,
} from './message-check.ts';
import type { Queue } from './queue.ts';

export function send(queue: Queue, command: CommandOf<'send'>, tx: Transaction): Outcome<'send'> {
  const refusal =
    checkBatch(command, 'SendMessageBatchRequestEntry') ?? checkWholeBatch(queue, command);
  if (refusal !== undefined) return refusal;
  return applyEntries(queue, command, tx, sendOne);
}

function sendOne(
  queue: Queue,
  entry: SendEntry,
  tx: Transaction,
  index: number,
): SendResult | Refusal {
  const { prepared } = entry;
  const { sizeBytesMax } = queue.settings;
  const attributes =
    prepared === undefined
      ? checkMessage(entry, sizeBytesMax, index)
      : checkPrepared(prepared, sizeBytesMax);
  if (!attributes.ok) return attributes;
  const refusal = checkDelay(queue, entry) ?? checkContract(queue, entry, tx);
  if (refusal !== undefined) return refusal;
  return queue.isFifo
    ? sendFifo(queue, entry, attributes, tx)
    : sendStandard(queue, entry, attributes, tx);
}

/** What fails the whole request (8.6); on a single call a missing group id gives another error (8.4). */
function checkWholeBatch(
  queue: Queue,
  { entries, isBatch }: CommandOf<'send'>,
): Refusal | undefined {
  if (!isBatch) return undefined;
  if (queue.isFifo) {
    for (const entry of entries) {
      if (entry.groupId === undefined) return refuse('group-id-missing-in-batch');
      if (entry.deduplicationId === undefined && !queue.settings.isContentBased) {
        return refuse('deduplication-id-missing');
      }
    }
  }
  let bound = 0;
  for (const entry of entries) bound += messageSizeBound(entry);
  if (bound <= batchSizeBytesMax) return undefined;
  let size = 0;
  for (const entry of entries) size += messageSize(entry);
  return size > batchSizeBytesMax ? refuse('batch-too-long', { size }) : undefined;
}

function checkDelay(queue: Queue, { delaySeconds: value }: SendEntry): Refusal | undefined {
  if (value === undefined) return undefined;
  if (!Number.isInteger(value) || value < 0 || value > delaySecondsMax) {
    return refuse('delay-invalid', { value });
  }
  return queue.isFifo && value > 0 ? refuse('delay-on-fifo', { value }) : undefined;
}

/** A violation is reported in both modes; only `reject` refuses the message. */
function checkContract(
  { name }: Queue,
  { violation, groupId, body = '' }: SendEntry,
  tx: Transaction,
): Refusal | undefined {
  if (violation === undefined) return undefined;
  const { mode, rule, reason } = violation;
  const about = { at: tx.now, queue: name, groupId, body };
  tx.events.push({ type: 'contract-violation', ...about, mode, rule, reason });
  return mode === 'reject' ? refuse('contract-violated', { rule, reason }) : undefined;
}

function sendStandard(
  queue: Queue,
  entry: SendEntry,
  attributes: CheckedAttributes,
  tx: Transaction,
): SendResult | Refusal {
  if (entry.deduplicationId !== undefined) {
    return refuse('deduplication-id-on-standard');
  }
  const content = contentOf(entry, attributes, entry.groupId, undefined);
  const sequence = queue.nextStamp(tx);
  const messageId = queue.idOf(sequence);
  const { delaySeconds } = entry;
  const delayMs = delaySeconds === undefined ? queue.settings.delayMs : delaySeconds * 1000;
  queue.addMessage(tx, sequence, {
    sentAt: tx.now,
    delayMs,
    groupId: undefined,
    content,
  });
  const at = tx.now;
  tx.events.push({ type: 'sent', at, queue: queue.name, messageId, sequence, content });
  return resultOf(content, messageId, undefined);
}

function sendFifo(
  queue: Queue,
  entry: SendEntry,
  attributes: CheckedAttributes,
  tx: Transaction,
): SendResult | Refusal {
  const { groupId } = entry;
  const { isContentBased, profile } = queue.settings;
  if (groupId === undefined) return refuse('parameter-missing', { name: 'MessageGroupId' });
  if (entry.deduplicationId === undefined && !isContentBased) {
    return refuse('deduplication-id-missing');
  }
  const isBodyUnique = isContentBased && profile === 'yandex';
  const bodyHash =
    isBodyUnique || entry.deduplicationId === undefined
      ? sha256Hex(entry.body as string)
      : undefined;
  const deduplicationId = entry.deduplicationId ?? (bodyHash as string);
  const source = entry.deduplicationId === undefined ? 'content' : 'explicit';
  const content = contentOf(entry, attributes, undefined, deduplicationId);
  // One literal, like every object on this path: spreading another one costs as much as a digest.
  const kept: KeptWindowEntry = {
    deduplicationId,
    groupId,
    acceptedAt: tx.now,
    source,
    bodyMd5: content.bodyMd5,
    attributesMd5: comparedMd5(content.attributes, content.attributesMd5),
    bodyHash: isBodyUnique ? bodyHash : undefined,
  };
  const digests = queue.window.digester.of(kept);

  const byId = queue.window.find(digests, 'id');
  if (byId !== none) return duplicate({ queue, content, kept, digests }, byId, 'id', tx);
  if (isBodyUnique) {
    const byBody = queue.window.findText(bodyHash as string, groupId, 'body');
    if (byBody !== none) return duplicate({ queue, content, kept, digests }, byBody, 'body', tx);
  }

  const sequence = queue.nextStamp(tx);
  const messageId = queue.idOf(sequence);
  const message = { sentAt: tx.now, delayMs: 0, groupId, content };
  queue.addMessage(tx, sequence, message, digests.group0);
  queue.addToWindow(tx, sequence, kept, digests);
  tx.events.push({
    type: 'sent',
    at: tx.now,
    queue: queue.name,
    messageId,
    sequence,
    groupId,
    deduplicationId,
    source,
    content,
  });
  return resultOf(content, messageId, sequence);
}

/** A send that matched an earlier one, with the window entry that it would have had. */
interface Repeated {
  readonly queue: Queue;
  readonly content: MessageContent;
  readonly kept: KeptWindowEntry;
  readonly digests: WindowDigests;
}

function duplicate(
  { queue, content, kept, digests }: Repeated,
  row: number,
  matchedBy: 'id' | 'body',
  tx: Transaction,
): SendResult {
  const { groupId, deduplicationId, source } = kept;
  const match = queue.window.match(row);
  const original = { messageId: queue.idOf(match.sequence), ...match };
  const differed = queue.window.difference(row, digests);
  const suppressed: Suppressed = {
    deduplicationId,
    groupId,
    source,
    matchedBy,
    scope: queue.settings.scope,
    ageMs: tx.now - original.acceptedAt,
    expiresAt: original.acceptedAt + queue.settings.windowMs,
    original,
    differed,
  };
  const at = tx.now;
  tx.events.push({ type: 'duplicate', at, queue: queue.name, ...suppressed, content });
  if (isCollision({ source, differed })) {
    tx.events.push({
      type: 'collision',
      at,
      queue: queue.name,
      deduplicationId,
      groupId,
      originalMessageId: original.messageId,
      differed: differencesIn(differed).filter((part) => part !== 'body'),
    });
  }
  const { messageId, sequence } = original;
  return { ...resultOf(content, messageId, sequence), isDuplicate: true, suppressed };
}

function contentOf(
  { body, senderId, prepared }: SendEntry,
  { values, traceHeader }: CheckedAttributes,
  groupId: string | undefined,
  deduplicationId: string | undefined,
): MessageContent {
  return {
    body: body as string,
    bodyMd5: prepared?.bodyMd5 ?? md5Hex(body as string),
    attributes: values,
    attributesMd5: prepared?.attributesMd5 ?? attributesMd5(values),
    traceHeader,
    senderId,
    groupId,
    deduplicationId,
  };
}

function resultOf(
  { bodyMd5, attributesMd5: ofAttributes, traceHeader }: MessageContent,
  messageId: string,
  sequence: number | undefined,
): SendResult {
  return {
    ok: true,
    messageId,
    sequence,
    isDuplicate: false,
    bodyMd5,
    attributesMd5: ofAttributes,
    systemAttributesMd5:
      traceHeader === undefined
        ? ''
        : attributesMd5([{ name: 'AWSTraceHeader', type: 'String', value: traceHeader }]),
  };
}
