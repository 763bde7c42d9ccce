/**
 * Everything on the console's first page in one answer: the server and its time, every queue with its counts and rates,
 * every topic. Queues come in pages, sorted by name. A request counts as watching, so rates are measured from then on.
 */

import { filledText } from '../../core/errors.ts';
import { failed, type InspectResponse } from '../inspect-response.ts';
import { limitOf, ok, refused, wrongLimit } from './answers.ts';
import { askTogether } from './ask-together.ts';
import { type Describe, describing } from './describing.ts';
import type { InspectContext, InspectRequest } from './inspect.ts';
import { queueCounts } from './queues.ts';
import { topicCounts } from './topics.ts';

const topicsMax = 1_000;

export async function showOverview(
  options: InspectContext,
  { query }: InspectRequest,
): Promise<InspectResponse> {
  const { backend, version, clock, watching } = options;
  const limit = limitOf(query);
  if (limit === undefined) return wrongLimit();
  watching.keepUp();
  const after = query.get('after') || undefined;
  const prefix = query.get('prefix') || undefined;
  const page = await backend.run({ type: 'list-queues', limit, after, prefix });
  if (!page.ok) return refused(page);
  const describe = await describing(backend, page.queues);
  // Only the first page of queues includes topics.
  const topics = after === undefined ? await topicCounts(backend, topicsMax + 1) : [];
  return ok({
    now: backend.now(),
    watchedSince: watching.since,
    clock,
    version,
    storage: backend.kind,
    servers: backend.cluster()?.nodes.filter(({ isRunning }) => isRunning).length ?? null,
    ...backend.realm,
    unavailable: backend.unavailable() ?? null,
    queues: await askTogether(page.queues, (name) => watchedQueue(options, name, describe)),
    next: page.next ?? null,
    topics: topics.slice(0, topicsMax),
    hasMoreTopics: topics.length > topicsMax,
  });
}

/** One queue, for the head of its page. */
export async function showCounts(
  options: InspectContext,
  _request: unknown,
  name: string,
): Promise<InspectResponse> {
  const { backend, clock, watching } = options;
  watching.keepUp();
  const counts = await watchedQueue(options, name, await describing(backend, []));
  if (counts === undefined) {
    return failed(404, 'QueueDoesNotExist', filledText('There is no queue {name}.', { name }));
  }
  return ok({ now: backend.now(), clock, ...counts });
}

/** Undefined if the queue was deleted after it was listed. */
async function watchedQueue(
  { backend, watching }: InspectContext,
  name: string,
  describe: Describe,
): Promise<object | undefined> {
  const found = await describe(name);
  if (!found.ok) return undefined;
  return {
    ...queueCounts(name, found),
    blockedGroups: found.blockedGroups,
    oldestSentAt: found.oldestSentAt ?? null,
    activity: watching.activity(name, backend.now()) ?? null,
  };
}
