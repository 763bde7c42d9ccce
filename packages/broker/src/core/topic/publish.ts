/**
 * Publish and PublishBatch (§6, §7), with the deduplication of FIFO topics (10.5–10.10). Unlike a queue's batch, one bad
 * entry fails the whole request, so all are checked before any is published.
 *
 * A publication whose id the topic's window holds is accepted, answered with the original's ids, and delivered to nobody.
 * The topic remembers an id even if no queue ever saw the message.
 */

import type { DeduplicationSource, KeptWindowEntry, Publication } from '../changes.ts';
import { attributesMd5, md5Hex, sha256Hex } from '../digest/digests.ts';
import { type Refusal, refuse } from '../errors.ts';
import type { Suppressed } from '../events.ts';
import { batchEntriesMax, batchEntryIdLengthMax, topicWindowMs } from '../limits.ts';
import { none } from '../structures/slab.ts';
import { comparedMd5 } from '../trace-context.ts';
import type { Transaction } from '../transaction.ts';
import type { PublishEntry, PublishResult, TopicCommandOf, TopicOutcomes } from './commands.ts';
import { type FanOutContext, fanOut } from './fan-out.ts';
import { fittingInOneTurn, type PlannedFanOut, planFanOut } from './fan-out-plan.ts';
import { Notification } from './notification.ts';
import {
  type CheckedPublication,
  checkIds,
  checkPublication,
  publicationSize,
} from './publication-check.ts';
import type { Subscription } from './subscription.ts';
import type { Topic } from './topic.ts';

export function publish(
  topic: Topic,
  command: TopicCommandOf<'publish'>,
  context: FanOutContext,
  tx: Transaction,
): TopicOutcomes['publish'] | Refusal {
  const { entries, isBatch, baseUrl } = command;
  const refusal = (isBatch ? checkBatch(entries) : undefined) ?? checkSize(topic, command);
  if (refusal !== undefined) return refusal;
  const checked: CheckedPublication[] = [];
  for (const [at, entry] of entries.entries()) {
    const path = isBatch ? `publishBatchRequestEntries.${at + 1}.member.` : '';
    const publication = checkPublication(entry, path);
    if (!publication.ok) return publication;
    checked.push(publication);
  }
  const wrongIds = checkIds(topic, entries);
  if (wrongIds !== undefined) return wrongIds;
  const violation = checkContract(topic, entries, tx);
  if (violation !== undefined) return violation;
  const plan = planFanOut(topic, checked, context.judge !== undefined);
  if ('ok' in plan) return plan;
  const results = entries.slice(0, fittingInOneTurn(plan)).map((entry, at) => {
    const words = checked[at] as CheckedPublication;
    const { filteredOut } = plan[at] as PlannedFanOut;
    return topic.isFifo
      ? publishFifo(topic, { entry, words, filteredOut, baseUrl }, context, tx)
      : publishStandard(topic, { entry, words, filteredOut, baseUrl }, context, tx);
  });
  return { ok: true, results };
}

const entryIdForm = /^[A-Za-z0-9_-]*$/;

/** In the order of 7.2. */
function checkBatch(entries: readonly PublishEntry[]): Refusal | undefined {
  if (entries.length === 0) return refuse('publications-none');
  if (entries.length > batchEntriesMax) return refuse('publications-too-many');
  const ids = entries.map(({ id = '' }) => id);
  if (new Set(ids).size < ids.length) return refuse('publication-entry-repeated');
  for (const id of ids) {
    if (id === '') return refuse('topic-parameter-missing', { name: 'Id' });
    if (id.length > batchEntryIdLengthMax) return refuse('publication-entry-long', { id });
    if (!entryIdForm.test(id)) return refuse('publication-entry-character', { id });
  }
  return undefined;
}

function checkSize(
  { settings }: Topic,
  { entries, isBatch }: TopicCommandOf<'publish'>,
): Refusal | undefined {
  const size = entries.reduce((sum, entry) => sum + publicationSize(entry), 0);
  if (size <= settings.sizeBytesMax) return undefined;
  return refuse(isBatch ? 'publications-too-long' : 'publication-too-long');
}

/** A violation is reported in both modes; only `reject` refuses, and then the whole request. */
function checkContract(
  { name }: Topic,
  entries: readonly PublishEntry[],
  tx: Transaction,
): Refusal | undefined {
  let refusal: Refusal | undefined;
  for (const { violation, groupId, message = '' } of entries) {
    if (violation === undefined) continue;
    const { mode, rule, reason } = violation;
    const about = { at: tx.now, topic: name, groupId, message };
    tx.events.push({ type: 'publication-violation', ...about, mode, rule, reason });
    if (mode === 'reject') refusal ??= refuse('publication-violates-contract', { rule, reason });
  }
  return refusal;
}

interface Words {
  readonly entry: PublishEntry;
  readonly words: CheckedPublication;
  readonly filteredOut: ReadonlySet<Subscription>;
  readonly baseUrl: string;
}

function publishStandard(
  topic: Topic,
  words: Words,
  context: FanOutContext,
  tx: Transaction,
): PublishResult {
  const publication = publicationOf(words, { messageId: tx.ids.uuid(), publishedAt: tx.now });
  tell(topic, publication, tx);
  const notification = new Notification(topic, publication, context.signer);
  fanOut(notification, words.filteredOut, context, tx);
  return { ok: true, messageId: publication.messageId, sequence: undefined, isDuplicate: false };
}

function publishFifo(
  topic: Topic,
  words: Words,
  context: FanOutContext,
  tx: Transaction,
): PublishResult {
  const { entry } = words;
  const { text, attributes } = words.words;
  const groupId = entry.groupId as string;
  const source: DeduplicationSource = entry.deduplicationId === undefined ? 'content' : 'explicit';
  const deduplicationId = entry.deduplicationId ?? sha256Hex(text);
  const md5s = {
    bodyMd5: md5Hex(text),
    attributesMd5: comparedMd5(attributes, attributesMd5(attributes)),
  };
  const digests = topic.window.digester.of({ deduplicationId, groupId, ...md5s });

  const row = topic.window.find(digests, 'id');
  if (row !== none) {
    const match = topic.window.match(row);
    const original = { messageId: topic.idOf(match.sequence), ...match };
    const suppressed: Suppressed = {
      deduplicationId,
      groupId,
      source,
      matchedBy: 'id',
      scope: topic.settings.scope,
      ageMs: tx.now - original.acceptedAt,
      expiresAt: original.acceptedAt + topicWindowMs,
      original,
      differed: topic.window.difference(row, digests),
    };
    const about = { at: tx.now, topic: topic.name, message: text };
    tx.events.push({ type: 'duplicate-publication', ...about, ...suppressed });
    const { messageId, sequence } = original;
    return { ok: true, messageId, sequence, isDuplicate: true, suppressed };
  }

  const sequence = topic.nextStamp(tx);
  const messageId = topic.idOf(sequence);
  const kept: KeptWindowEntry = {
    deduplicationId,
    groupId,
    acceptedAt: tx.now,
    source,
    ...md5s,
  };
  topic.addToWindow(tx, sequence, kept, digests);
  const ids = { messageId, sequence, publishedAt: tx.now, deduplicationId };
  const publication = publicationOf(words, ids);
  tell(topic, publication, tx);
  if (topic.settings.archiveMs !== undefined) topic.addToArchive(tx, sequence, publication);
  const notification = new Notification(topic, publication, context.signer);
  fanOut(notification, words.filteredOut, context, tx);
  return { ok: true, messageId, sequence, isDuplicate: false };
}

function publicationOf(
  { entry, words, baseUrl }: Words,
  ids: Pick<Publication, 'messageId' | 'sequence' | 'publishedAt' | 'deduplicationId'>,
): Publication {
  return {
    ...ids,
    message: words.message,
    messageFor: words.messageFor,
    subject: entry.subject,
    attributes: words.attributes,
    groupId: entry.groupId,
    traceHeader: entry.traceHeader,
    baseUrl,
  };
}

function tell(topic: Topic, publication: Publication, tx: Transaction): void {
  const { messageId, sequence, groupId, deduplicationId } = publication;
  const at = tx.now;
  const ids = { messageId, sequence, groupId, deduplicationId };
  tx.events.push({ type: 'published', at, topic: topic.name, ...ids, publication });
}
