/**
 * What queues hold. Where the store says it of many at once, none of them is looked into; the others are asked one by one, by
 * whoever calls the function that this returns.
 */

import type { Outcome } from '../../core/commands.ts';
import type { Backend } from '../../storage/backend.ts';

export type Describe = (queue: string) => Promise<Outcome<'describe-queue'>>;

export async function describing(backend: Backend, queues: readonly string[]): Promise<Describe> {
  const held = await backend.held(queues);
  return async (queue) => held.get(queue) ?? backend.run({ type: 'describe-queue', queue });
}
