/**
 * Lists the queues and topics that exist: to start counts for those already there, and to find out which are gone.
 */

import type { Backend } from '../../storage/backend.ts';

const queuesAtOnce = 1_000;

/** All of them, or the first `wanted`. */
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

/** The first `wanted`. */
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

/** Which of these topics still exist. It asks for each, because listing all topics, of which there can be many, takes long. */
export async function topicsLeft(backend: Backend, names: readonly string[]): Promise<string[]> {
  const found = await Promise.all(
    names.map((topic) => backend.run({ type: 'describe-topic', topic, limit: 0 })),
  );
  return names.filter((_, at) => found[at]?.ok === true);
}
