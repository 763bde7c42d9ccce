/**
 * What the console's first page shows, in one answer: the server and its time, every queue with its counts and rates,
 * every topic. Queues come in pages, in order of their names. Asking counts as watching, so rates grow from there.
 */

import type { Backend } from '../../storage/backend.ts';
import { failed, type InspectResponse, limitOf, ok, refused, wrongLimit } from './answers.ts';
import type { InspectRequest, Surroundings } from './inspect.ts';
import { topicCounts } from './topics.ts';
import type { Watching } from './watching.ts';

const topicsMax = 1_000;

export async function showOverview(
  { backend, version, clock, watching }: Surroundings,
  { query }: InspectRequest,
): Promise<InspectResponse> {
  const limit = limitOf(query);
  if (limit === undefined) return wrongLimit();
  watching.keepUp();
  const after = query.get('after') || undefined;
  const prefix = query.get('prefix') || undefined;
  const page = await backend.run({ type: 'list-queues', limit, after, prefix });
  if (!page.ok) return refused(page);
  const queues = await Promise.all(page.queues.map((name) => queueCounts(backend, watching, name)));
  return ok({
    now: backend.now(),
    clock,
    version,
    storage: backend.kind,
    ...backend.realm,
    unavailable: backend.unavailable() ?? null,
    queues: queues.filter((row) => row !== undefined),
    next: page.next ?? null,
    // Topics are on the first page of queues alone.
    topics: after === undefined ? await topicCounts(backend, topicsMax) : [],
  });
}

/** One queue, as its page shows it above all else. */
export async function showCounts(
  { backend, clock, watching }: Surroundings,
  _request: unknown,
  name: string,
): Promise<InspectResponse> {
  watching.keepUp();
  const counts = await queueCounts(backend, watching, name);
  if (counts === undefined) return failed(404, 'QueueDoesNotExist', `There is no queue ${name}.`);
  return ok({ now: backend.now(), clock, ...counts });
}

/** Undefined if the queue is gone since it was listed. */
async function queueCounts(
  backend: Backend,
  watching: Watching,
  name: string,
): Promise<object | undefined> {
  const found = await backend.run({ type: 'describe-queue', queue: name });
  if (!found.ok) return undefined;
  const { isFifo, visible, inFlight, delayed, groups, blockedGroups } = found;
  const now = backend.now();
  return {
    name,
    fifo: isFifo,
    visible,
    inFlight,
    delayed,
    groups,
    blockedGroups,
    dedupEntries: found.windowEntries,
    oldestSentAt: found.oldestSentAt ?? null,
    activity: watching.activity(name, now) ?? null,
  };
}
