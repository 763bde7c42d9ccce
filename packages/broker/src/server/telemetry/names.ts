/**
 * Which queues and topics there are: to give those that were kept their counts at the start, and to find out which are gone.
 */

import type { Backend } from '../../storage/backend.ts';

const queuesAtOnce = 1_000;

/** All of them, or the first so many. */
export async function queueNames(backend: Backend, wanted: number = Infinity): Promise<string[]> {
  const names: string[] = [];
  let after: string | undefined;
  do {
    const page = await backend.run({ type: 'list-queues', limit: queuesAtOnce, after });
    if (!page.ok) break;
    names.push(...page.queues);
    after = page.next;
  } while (after !== undefined && names.length < wanted);
  return names.slice(0, wanted);
}

/** The first so many. */
export async function topicNames(backend: Backend, wanted: number): Promise<string[]> {
  const names: string[] = [];
  let after: string | undefined;
  do {
    const page = await backend.run({ type: 'list-topics', after });
    if (!page.ok) break;
    names.push(...page.topics.map(({ name }) => name));
    after = page.next;
  } while (after !== undefined && names.length < wanted);
  return names.slice(0, wanted);
}

/** Those of them that there still are: there can be many more, and listing them would take long. */
export async function topicsLeft(backend: Backend, names: readonly string[]): Promise<string[]> {
  const found = await Promise.all(
    names.map((topic) => backend.run({ type: 'describe-topic', topic })),
  );
  return names.filter((_, at) => found[at]?.ok === true);
}
