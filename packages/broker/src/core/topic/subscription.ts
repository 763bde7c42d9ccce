/**
 * One subscription, as deliveries use it: what is kept of it, and what its attributes mean, read once.
 *
 * A replaying subscription takes nothing from publishers directly: the archive has it and delivers it in order. One whose
 * replay has reached its set end is paused until another replay policy is set (13.2).
 */

import type { KeptSubscription } from '../changes.ts';
import type { FilterPolicy } from './filter-policy/filter-policy.ts';
import { deadLetterTargetOf, filterOf } from './subscription-attributes.ts';

export class Subscription {
  readonly id: string;
  readonly arn: string;
  readonly kept: KeptSubscription;
  readonly isRaw: boolean;
  readonly filter: FilterPolicy | undefined;
  readonly deadLetterTarget: string | undefined;

  constructor(topicArn: string, id: string, kept: KeptSubscription) {
    this.id = id;
    this.arn = `${topicArn}:${id}`;
    this.kept = kept;
    this.isRaw = kept.attributes['RawMessageDelivery'] === 'true';
    const filter = filterOf(kept.attributes);
    // What is kept was checked when it was set.
    this.filter = filter !== undefined && 'rules' in filter ? filter : undefined;
    this.deadLetterTarget = deadLetterTargetOf(kept.attributes);
  }

  get isReplaying(): boolean {
    return this.kept.replay?.status === 'In progress';
  }

  /** Whether publications go to it as they are published. */
  get isLive(): boolean {
    const { isConfirmed, replay } = this.kept;
    if (!isConfirmed || this.isReplaying) return false;
    return replay === undefined || replay.until === undefined;
  }
}
