/**
 * ListQueueTags (5.12): all tags of a queue. If there are none, the wire form leaves the member out, like every empty
 * map (2.4).
 */

import type { Fault } from '../../protocol/error-codes.ts';
import type { Answer, Call } from '../action.ts';
import { type QueueInput, queueOf } from './queue-url.ts';

export async function listQueueTags(input: QueueInput, { backend }: Call): Promise<Answer | Fault> {
  const queue = queueOf(input, backend);
  const outcome = await backend.run({ type: 'list-tags', queue });
  return outcome.ok ? { ok: true, output: { Tags: outcome.tags } } : outcome;
}
