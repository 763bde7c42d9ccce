/**
 * The message groups of a FIFO queue, page by page: how many messages each has, and which message blocks it until when. A
 * group delivers messages up to the first that is in flight or delayed, so its oldest message decides.
 */

import type { GroupView } from '../../core/commands.ts';
import { failed, type InspectResponse } from '../inspect-response.ts';
import { limitOf, numberOf, ok, refused, wrongAfter, wrongLimit } from './answers.ts';
import type { InspectOptions, InspectRequest } from './inspect.ts';

export async function listGroups(
  { backend }: InspectOptions,
  { query }: InspectRequest,
  name: string,
): Promise<InspectResponse> {
  const limit = limitOf(query);
  if (limit === undefined) return wrongLimit();
  const after = numberOf(query.get('after'));
  if (after === null) return wrongAfter();
  const state = query.get('state') ?? '';
  if (state !== '' && state !== 'blocked') {
    return failed(400, 'InvalidRequest', 'state must be blocked or absent.');
  }
  const isBlocked = state === 'blocked';
  const found = await backend.run({ type: 'list-groups', queue: name, isBlocked, after, limit });
  if (!found.ok) return refused(found);
  const { groups, next } = found;
  return ok({ now: backend.now(), groups: groups.map(shown), next: next ?? null });
}

function shown({ groupId, messages, inFlight, head }: GroupView): object {
  const isBlocked = head.state !== 'visible';
  return {
    groupId,
    messages,
    inFlight,
    state: isBlocked ? 'blocked' : 'ready',
    oldestSentAt: head.sentAt,
    blockedBy: isBlocked
      ? {
          messageId: head.messageId,
          state: head.state,
          receiveCount: head.receiveCount,
          until: head.visibleAt,
        }
      : null,
  };
}
