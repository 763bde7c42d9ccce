/**
 * The `/_oncemq/` endpoints about queues: the list of queues, the counts of one, its messages, its contract violations,
 * and its deduplication window by id. The console's own view of a window is in window.ts.
 */

import type { QueueDescription } from '../../core/commands.ts';
import { sequenceNumber } from '../../core/sequence-number.ts';
import type { Backend } from '../../storage/backend.ts';
import { failed, type InspectResponse } from '../inspect-response.ts';
import {
  limitOf,
  listLimit,
  numberOf,
  ok,
  refused,
  wholeList,
  wrongAfter,
  wrongLimit,
} from './answers.ts';
import { askTogether } from './ask-together.ts';
import { shownAttributes } from './contents.ts';
import { describing } from './describing.ts';
import { explained } from './explained.ts';
import type { InspectOptions, InspectRequest } from './inspect.ts';
import { entryWithBodyOf } from './window-entry.ts';

export async function listQueues({ backend }: InspectOptions): Promise<InspectResponse> {
  const queues: object[] = [];
  let after: string | undefined;
  do {
    const page = await backend.run({ type: 'list-queues', limit: listLimit.max, after });
    if (!page.ok) return refused(page);
    const describe = await describing(backend, page.queues);
    queues.push(
      ...(await askTogether(page.queues, async (name) => {
        const found = await describe(name);
        return found.ok ? shownQueue(backend, name, found) : undefined;
      })),
    );
    after = page.next;
  } while (after !== undefined);
  return wholeList('queues', queues);
}

export async function showQueue(
  { backend }: InspectOptions,
  _request: unknown,
  name: string,
): Promise<InspectResponse> {
  const found = await backend.run({ type: 'describe-queue', queue: name });
  return found.ok ? ok(shownQueue(backend, name, found)) : refused(found);
}

function shownQueue(backend: Backend, name: string, found: QueueDescription): object {
  const { oldestSentAt } = found;
  return {
    ...queueCounts(name, found),
    oldestAgeSeconds:
      oldestSentAt === undefined ? null : Math.floor((backend.now() - oldestSentAt) / 1000),
  };
}

/** The fields that every answer about a queue starts with. */
export function queueCounts(name: string, found: QueueDescription): object {
  const { isFifo, visible, inFlight, delayed, groups, windowEntries } = found;
  return { name, fifo: isFifo, visible, inFlight, delayed, groups, dedupEntries: windowEntries };
}

export async function listMessages(
  { backend }: InspectOptions,
  { query }: InspectRequest,
  name: string,
): Promise<InspectResponse> {
  const limit = limitOf(query);
  if (limit === undefined) return wrongLimit();
  const after = numberOf(query.get('after'));
  if (after === null) return wrongAfter();
  const bodyChars = numberOf(query.get('bodyChars'));
  if (bodyChars === null) return failed(400, 'InvalidRequest', 'bodyChars must be a number.');
  const groupId = query.get('group') || undefined;
  const found = await backend.peek({ type: 'peek-messages', queue: name, groupId, after, limit });
  if (!found.ok) return refused(found);
  const isFifo = name.endsWith('.fifo');
  const messages = found.messages.map(({ content, state, visibleAt, ...message }) => ({
    messageId: message.messageId,
    state,
    visibleAt: visibleAt ?? null,
    groupId: message.groupId ?? content.groupId ?? null,
    deduplicationId: message.deduplicationId ?? content.deduplicationId ?? null,
    sequence: message.sequence,
    sequenceNumber: isFifo ? sequenceNumber(message.sequence) : null,
    sentAt: message.sentAt,
    receiveCount: message.receiveCount,
    firstReceivedAt: message.firstReceivedAt ?? null,
    deadLetterSource: message.deadLetterSource ?? null,
    body: content.body.slice(0, bodyChars),
    bodyLength: content.body.length,
    attributes: shownAttributes(content.attributes),
  }));
  return ok({ messages, next: found.next ?? null });
}

export async function listViolations(
  { backend, violations }: InspectOptions,
  { query }: InspectRequest,
  name: string,
): Promise<InspectResponse> {
  const limit = limitOf(query);
  if (limit === undefined) return wrongLimit();
  const found = await backend.run({ type: 'describe-queue', queue: name });
  if (!found.ok) return refused(found);
  if (violations === undefined) {
    return failed(409, 'NoContract', 'The server has no contract. Start it with --contract.');
  }
  return ok({ violations: violations(name).slice(-limit) });
}

export async function explainQueue(
  { backend }: InspectOptions,
  { query }: InspectRequest,
  name: string,
): Promise<InspectResponse> {
  return explained(backend, query, {
    name,
    read: (asked) => backend.explain({ type: 'explain', queue: name, ...asked }),
    isScopedByGroup: () => isScopedByGroup(backend, name),
    readOther: (id, groupId) => entryWithBodyOf(backend, name, id, groupId),
  });
}

export async function isScopedByGroup(backend: Backend, queue: string): Promise<boolean> {
  const names = ['DeduplicationScope'];
  const found = await backend.run({ type: 'get-attributes', queue, names });
  return found.ok && found.attributes['DeduplicationScope'] === 'messageGroup';
}

export async function forgetWindow(
  { backend }: InspectOptions,
  _request: unknown,
  name: string,
): Promise<InspectResponse> {
  const found = await backend.run({ type: 'forget-window', queue: name });
  return found.ok ? ok({ forgotten: found.entries }) : refused(found);
}
