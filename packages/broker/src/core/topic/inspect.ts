/**
 * Looking at a topic without touching it: its subscriptions with what waits for them, and its deduplication window. No
 * AWS action asks for these; people, tests and the console do.
 */

import type { ExplainedEntry } from '../commands.ts';
import type { WindowMatch } from '../deduplication/window.ts';
import { type Refusal, refuse } from '../errors.ts';
import { topicWindowMs } from '../limits.ts';
import { none } from '../structures/slab.ts';
import type { Transaction } from '../transaction.ts';
import type {
  SubscriptionView,
  TopicCommandOf,
  TopicDescription,
  TopicOutcomes,
} from './commands.ts';
import { matches, readFilterPolicy } from './filter-policy/filter-policy.ts';
import { PublicationValues } from './filter-policy/publication-values.ts';
import { replayLeft } from './replay.ts';
import { listedEndpoint } from './shown-endpoint.ts';
import { shownSubscriptionAttributes } from './subscribe.ts';
import type { Subscription } from './subscription.ts';
import type { Topic } from './topic.ts';

export function viewOf(topic: Topic, { arn, kept }: Subscription): SubscriptionView {
  const { isConfirmed, protocol, stamp } = kept;
  const position = { topic: topic.name, stamp };
  const endpoint = listedEndpoint(kept.endpoint);
  return { subscriptionArn: arn, isConfirmed, topicArn: topic.arn, protocol, endpoint, position };
}

/** Of one subscription; an endpoint that is down for a while may have many thousands. */
const postsDescribedMax = 100;
/** Of one topic; describing these takes some 20 ms. */
const subscriptionsDescribedMax = 1_000;

export function describeTopic(
  topic: Topic,
  { limit = subscriptionsDescribedMax }: TopicCommandOf<'describe-topic'>,
): TopicDescription {
  const subscriptions = topic.subscriptions.inOrder();
  const described = subscriptions.slice(0, Math.min(limit, subscriptionsDescribedMax));
  return {
    ok: true,
    topicArn: topic.arn,
    isFifo: topic.isFifo,
    windowEntries: topic.window.size,
    archived: topic.archive.size,
    subscriptionCount: subscriptions.length,
    subscriptions: described.map((subscription) => {
      const { replay } = subscription.kept;
      return {
        ...viewOf(topic, subscription),
        attributes: shownSubscriptionAttributes(topic, subscription),
        replay:
          replay === undefined
            ? undefined
            : { status: replay.status, left: replayLeft(topic, subscription) },
        postCount: topic.posts.countOf(subscription.id),
        posts: topic.posts
          .of(subscription.id, postsDescribedMax)
          .map(([id, { attempt }]) => ({ id, ...attempt })),
      };
    }),
  };
}

/** The entry that a publication with this id would match, or the newest entries, newest first. */
export function explainTopic(
  topic: Topic,
  { deduplicationId, groupId = '', limit }: TopicCommandOf<'explain-topic'>,
): TopicOutcomes['explain-topic'] {
  const explained = (match: WindowMatch): ExplainedEntry => ({
    ...match,
    messageId: topic.idOf(match.sequence),
    expiresAt: match.acceptedAt + topicWindowMs,
  });
  if (deduplicationId !== undefined) {
    const row = topic.window.findText(deduplicationId, groupId, 'id');
    return { ok: true, entries: row === none ? [] : [explained(topic.window.match(row))] };
  }
  return { ok: true, entries: topic.window.newest(limit).map(explained) };
}

/** By the same rules as a publish, except that the message itself is not checked. */
export function matchFilters(
  topic: Topic,
  { message, attributes, policy }: TopicCommandOf<'match-filters'>,
): TopicOutcomes['match-filters'] | Refusal {
  const values = new PublicationValues(message, attributes);
  const read = policy === undefined ? undefined : readFilterPolicy(policy.text, policy.scope);
  const subscriptions = topic.subscriptions.inOrder().map(({ arn, filter }) => ({
    subscriptionArn: arn,
    isMatch: filter === undefined || matches(filter, values),
  }));
  const own = read === undefined || 'wrong' in read ? read : { isMatch: matches(read, values) };
  if (values.work.isExceeded) return refuse('publication-too-complex');
  return { ok: true, subscriptions, policy: own };
}

export function forgetTopicWindow(
  topic: Topic,
  tx: Transaction,
): TopicOutcomes['forget-topic-window'] {
  const entries = topic.window.size;
  topic.clear(tx, 'window');
  const at = tx.now;
  tx.events.push({ type: 'topic-window-forgotten', at, topic: topic.name, entries });
  return { ok: true, entries };
}
