/**
 * SendMessage and SendMessageBatch (§8), with deduplication (rules 11.8–11.17).
 *
 * On a FIFO queue a send has an id: the one given, else the SHA-256 of its body where content-based deduplication is
 * on. If the window holds that id, the send is a duplicate: it succeeds, changes nothing, and is answered with the
 * original's MessageId and sequence. Otherwise message and window entry come into being together, in one turn.
 */

import type {
  DeduplicationSource,
  KeptWindowEntry,
  MessageContent,
  WindowDigests,
} from '../changes.ts';
import type { CommandOf, Outcome, SendEntry, SendResult } from '../commands.ts';
import { digestsOf, keyOf } from '../deduplication-window.ts';
import { differencesIn, isCollision } from '../difference.ts';
import { attributesMd5, md5Hex, sha256Hex } from '../digest.ts';
import { type Refusal, refuse } from '../errors.ts';
import type { Suppressed } from '../events.ts';
import { batchSizeBytesMax, delaySecondsMax } from '../limits.ts';
import { none } from '../slab.ts';
import { comparedMd5 } from '../trace-context.ts';
import type { Turn } from '../turn.ts';
import { applyEntries, checkBatch } from './batch.ts';
import { type CheckedMessage, checkMessage, messageSize } from './message-check.ts';
import type { Queue } from './queue.ts';

export function send(queue: Queue, command: CommandOf<'send'>, turn: Turn): Outcome<'send'> {
  const wrongForm = checkBatch(command, 'SendMessageBatchRequestEntry');
  if (wrongForm !== undefined) return wrongForm;
  const refusal = checkWholeBatch(queue, command);
  if (refusal !== undefined) return refusal;
  return applyEntries(command, (entry, index) => {
    const bodyName = command.isBatch
      ? `SendMessageBatchRequestEntry.${index + 1}.MessageBody`
      : 'MessageBody';
    const limit = { sizeBytesMax: queue.settings.sizeBytesMax, isBatch: command.isBatch, bodyName };
    const message = checkMessage(entry, limit);
    if (!message.ok) return message;
    const wrong = checkDelay(queue, entry);
    if (wrong !== undefined) return wrong;
    const refused = checkContract(queue, entry, turn);
    if (refused !== undefined) return refused;
    return queue.isFifo
      ? sendFifo(queue, entry, message, turn)
      : sendStandard(queue, entry, message, turn);
  });
}

/** What fails the whole request (8.6); on a single call the same lacks have other shapes (8.4). */
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
  const size = entries.reduce((sum, entry) => sum + messageSize(entry), 0);
  return size > batchSizeBytesMax ? refuse('batch-too-long', { size }) : undefined;
}

function checkDelay(queue: Queue, { delaySeconds: value }: SendEntry): Refusal | undefined {
  if (value === undefined) return undefined;
  if (!Number.isInteger(value) || value < 0 || value > delaySecondsMax) {
    return refuse('delay-invalid', { value });
  }
  return queue.isFifo && value > 0 ? refuse('delay-on-fifo', { value }) : undefined;
}

/** What was found wrong is told in either mode; only the one refuses. */
function checkContract(
  { name }: Queue,
  { violation, groupId, body = '' }: SendEntry,
  turn: Turn,
): Refusal | undefined {
  if (violation === undefined) return undefined;
  const { mode, rule, reason } = violation;
  if (turn.isObserved) {
    const about = { at: turn.now, queue: name, groupId, body };
    turn.events.push({ type: 'contract-violation', ...about, mode, rule, reason });
  }
  return mode === 'reject' ? refuse('contract-violated', { rule, reason }) : undefined;
}

function sendStandard(
  queue: Queue,
  entry: SendEntry,
  message: CheckedMessage,
  turn: Turn,
): SendResult | Refusal {
  if (entry.deduplicationId !== undefined) {
    return refuse('deduplication-id-on-standard');
  }
  const content = contentOf(entry, message, undefined);
  const sequence = queue.nextStamp();
  const messageId = queue.idOf(sequence);
  const { delaySeconds } = entry;
  queue.addMessage(turn, sequence, {
    sentAt: turn.now,
    delayMs: delaySeconds === undefined ? queue.settings.delayMs : delaySeconds * 1000,
    content,
  });
  if (turn.isObserved) {
    const at = turn.now;
    turn.events.push({ type: 'sent', at, queue: queue.name, messageId, sequence, content });
  }
  return sendResult(content, { messageId, sequence: undefined, isDuplicate: false });
}

function sendFifo(
  queue: Queue,
  entry: SendEntry,
  message: CheckedMessage,
  turn: Turn,
): SendResult | Refusal {
  const { groupId } = entry;
  const { isContentBased, profile } = queue.settings;
  if (groupId === undefined) return refuse('parameter-missing', { name: 'MessageGroupId' });
  if (entry.deduplicationId === undefined && !isContentBased) {
    return refuse('deduplication-id-missing');
  }
  const isBodyUnique = isContentBased && profile === 'yandex';
  const bodyHash =
    isBodyUnique || entry.deduplicationId === undefined ? sha256Hex(message.body) : undefined;
  const deduplicationId = entry.deduplicationId ?? (bodyHash as string);
  const source = entry.deduplicationId === undefined ? 'content' : 'explicit';
  const content = contentOf(entry, message, deduplicationId);
  const md5s = {
    bodyMd5: content.bodyMd5,
    attributesMd5: comparedMd5(content.attributes, content.attributesMd5),
  };
  const digests = digestsOf({ deduplicationId, groupId, ...md5s });
  const attempt: FifoSend = { queue, content, md5s, digests, groupId, deduplicationId, source };

  const byId = queue.window.find(digests, 'id');
  if (byId !== none) return duplicate(attempt, byId, 'id', turn);
  if (isBodyUnique) {
    const byBody = queue.window.find(keyOf(bodyHash as string, groupId), 'body');
    if (byBody !== none) return duplicate(attempt, byBody, 'body', turn);
  }
  return accept(attempt, isBodyUnique ? bodyHash : undefined, turn);
}

interface FifoSend {
  readonly queue: Queue;
  readonly content: MessageContent;
  readonly md5s: Pick<KeptWindowEntry, 'bodyMd5' | 'attributesMd5'>;
  readonly digests: WindowDigests;
  readonly groupId: string;
  readonly deduplicationId: string;
  readonly source: DeduplicationSource;
}

function accept(send: FifoSend, bodyHash: string | undefined, turn: Turn): SendResult {
  const { queue, content, groupId, deduplicationId, source } = send;
  const sequence = queue.nextStamp();
  const messageId = queue.idOf(sequence);
  queue.addMessage(turn, sequence, { sentAt: turn.now, delayMs: 0, groupId, content });
  const entry: KeptWindowEntry = {
    deduplicationId,
    groupId,
    acceptedAt: turn.now,
    source,
    ...send.md5s,
    bodyHash,
  };
  queue.addToWindow(turn, sequence, entry, send.digests);
  if (turn.isObserved) {
    const at = turn.now;
    turn.events.push({
      type: 'sent',
      at,
      queue: queue.name,
      messageId,
      sequence,
      groupId,
      deduplicationId,
      source,
      content,
    });
  }
  return sendResult(content, { messageId, sequence, isDuplicate: false });
}

function duplicate(send: FifoSend, row: number, matchedBy: 'id' | 'body', turn: Turn): SendResult {
  const { queue, content, groupId, deduplicationId, source } = send;
  const match = queue.window.match(row);
  const original = { messageId: queue.idOf(match.sequence), ...match };
  const differed = queue.window.difference(row, send.digests);
  const suppressed: Suppressed = {
    deduplicationId,
    groupId,
    source,
    matchedBy,
    scope: queue.settings.scope,
    ageMs: turn.now - original.acceptedAt,
    expiresAt: original.acceptedAt + queue.settings.windowMs,
    original,
    differed,
  };
  const at = turn.now;
  turn.events.push({ type: 'duplicate', at, queue: queue.name, ...suppressed, content });
  if (isCollision({ source, differed })) {
    turn.events.push({
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
  return { ...sendResult(content, { messageId, sequence, isDuplicate: true }), suppressed };
}

function contentOf(
  entry: SendEntry,
  message: CheckedMessage,
  deduplicationId: string | undefined,
): MessageContent {
  const { body, attributes, traceHeader } = message;
  return {
    body,
    bodyMd5: md5Hex(body),
    attributes,
    attributesMd5: attributesMd5(attributes),
    traceHeader,
    senderId: entry.senderId,
    groupId: deduplicationId === undefined ? entry.groupId : undefined,
    deduplicationId,
  };
}

function sendResult(
  content: MessageContent,
  answer: { messageId: string; sequence: number | undefined; isDuplicate: boolean },
): SendResult {
  const { traceHeader } = content;
  return {
    ok: true,
    messageId: answer.messageId,
    sequence: answer.sequence,
    isDuplicate: answer.isDuplicate,
    bodyMd5: content.bodyMd5,
    attributesMd5: content.attributesMd5,
    systemAttributesMd5:
      traceHeader === undefined
        ? ''
        : attributesMd5([{ name: 'AWSTraceHeader', type: 'String', value: traceHeader }]),
  };
}
