/**
 * Replays (13.2, 13.3): a subscription is sent what its topic archived from a given time on, in order, and then what is
 * published. During the replay nothing goes to it directly: what is published is archived too, and the replay gets to it.
 *
 * The engine does not hold the publications, so a tick says which are next, and a command brings them. After a replay with
 * an end the subscription is paused until another replay policy is set.
 */

import type { KeptReplay, ReplayStatus } from '../changes.ts';
import { deliveryBytes, fanOutBytesMax, filterWorkMax, replayedPerCommandMax } from '../limits.ts';
import type { Transaction } from '../transaction.ts';
import type { DueReplay, TopicCommandOf, TopicOutcomes } from './commands.ts';
import { deliver, type FanOutContext, fail, leaveOut } from './fan-out.ts';
import { filteredOut, judgedBytes } from './fan-out-plan.ts';
import { FilterWork } from './filter-policy/filter-work.ts';
import { Notification } from './notification.ts';
import type { Subscription } from './subscription.ts';
import { replayPolicyOf } from './subscription-attributes.ts';
import type { Topic } from './topic.ts';

/** The replay that a newly set policy begins; undefined without a policy. */
export function begunReplay(
  topic: Topic,
  attributes: Readonly<Record<string, string>>,
  tx: Transaction,
): KeptReplay | undefined {
  const policy = replayPolicyOf(attributes);
  if (policy === undefined) return undefined;
  return { stamp: topic.nextStamp(tx), ...policy, after: 0, status: 'In progress' };
}

/** When a replay next needs publications, or is over. */
export function nextReplayAt(topic: Topic): number {
  if (topic.subscriptions.replaying === 0) return Number.POSITIVE_INFINITY;
  const replaying = topic.subscriptions.inOrder().filter(({ isReplaying }) => isReplaying);
  return Math.min(...replaying.map((subscription) => dueAt(topic, subscription)));
}

/** A replay that has caught up is over, but not before its end: until then it is sent what is published. */
function dueAt(topic: Topic, subscription: Subscription): number {
  if (sequencesLeft(topic, subscription, 1).length > 0) return 0;
  const { until } = subscription.kept.replay as KeptReplay;
  return until === undefined ? 0 : until + 1;
}

/** What each replay needs next; replays that are over are ended. */
export function dueReplays(topic: Topic, tx: Transaction): DueReplay[] {
  if (topic.subscriptions.replaying === 0) return [];
  return topic.subscriptions.inOrder().flatMap((subscription): DueReplay[] => {
    if (!subscription.isReplaying) return [];
    const sequences = sequencesLeft(topic, subscription, replayedPerCommandMax);
    if (sequences.length === 0) {
      if (dueAt(topic, subscription) > tx.now) return [];
      end(topic, subscription, 'Completed', tx);
      return [];
    }
    return [{ topic: topic.name, subscription: subscription.id, sequences }];
  });
}

/** How many publications are still to come. */
export function replayLeft(topic: Topic, subscription: Subscription): number {
  return sequencesLeft(topic, subscription, Number.POSITIVE_INFINITY).length;
}

export function replay(
  topic: Topic,
  { subscription: id, publications }: TopicCommandOf<'replay'>,
  context: FanOutContext,
  tx: Transaction,
): TopicOutcomes['replay'] {
  const subscription = topic.subscriptions.get(id);
  const progress = subscription?.kept.replay;
  if (subscription === undefined || progress === undefined || !subscription.isReplaying) {
    return { ok: true };
  }
  let { after } = progress;
  let bytes = 0;
  let units = 0;
  for (const publication of publications) {
    const { sequence = 0 } = publication;
    if (sequence <= after) continue;
    // What is left is due at once, in another transaction.
    if (bytes > fanOutBytesMax || units > filterWorkMax) break;
    const notification = new Notification(topic, publication, context.signer, progress.stamp);
    const work = new FilterWork();
    const isOut = filteredOut([subscription], publication, work).has(subscription);
    if (work.isExceeded) fail(notification, subscription, tooComplex, context, tx);
    else if (isOut) leaveOut(notification, subscription, tx);
    else deliver(notification, subscription, context, tx);
    after = sequence;
    bytes += deliveryBytes + publication.message.length;
    if (context.judge !== undefined) bytes += judgedBytes(publication, 1);
    units += work.spent;
  }
  topic.setSubscription(tx, id, { ...subscription.kept, replay: { ...progress, after } });
  return { ok: true };
}

/** A policy that was set after the publication may ask too much of it. */
const tooComplex = 'matching it with the filter policy takes too many comparisons';

/** Ends replays as failed, because their archive is gone. */
export function endReplays(topic: Topic, tx: Transaction): void {
  for (const subscription of topic.subscriptions.inOrder()) {
    if (subscription.isReplaying) end(topic, subscription, 'Failed', tx);
  }
}

function sequencesLeft(topic: Topic, { kept }: Subscription, limit: number): number[] {
  if (kept.replay === undefined) return [];
  const { after, from, until } = kept.replay;
  return topic.archive.between({ after, from, until, limit });
}

function end(
  topic: Topic,
  { id, kept }: Subscription,
  status: ReplayStatus,
  tx: Transaction,
): void {
  const progress = kept.replay as KeptReplay;
  topic.setSubscription(tx, id, { ...kept, replay: { ...progress, status } });
  const name = { at: tx.now, topic: topic.name, subscription: id };
  tx.events.push({ type: 'replay', ...name, status });
}
