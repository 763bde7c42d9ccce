/**
 * Everything that a server counts while it works, whether or not anybody reads it: plain numbers, no OpenTelemetry. What
 * can be looked up on request is not counted here (measure.ts).
 */

import type { Commit } from '../../storage/backend.ts';
import { EventCounts } from './event-counts.ts';
import { Histogram } from './histogram.ts';
import { RequestCounts } from './request-counts.ts';

/** Why the server closed a connection. */
type ClosedCause = 'unread' | 'pipelined' | 'event-reader';

export class Counts {
  readonly since: number = Date.now();
  readonly events: EventCounts = new EventCounts();
  readonly requests: RequestCounts = new RequestCounts();
  readonly commits: {
    readonly seconds: Histogram;
    readonly records: Histogram;
    readonly bytes: Histogram;
  } = {
    seconds: new Histogram('oncemq.commit.duration'),
    records: new Histogram('oncemq.commit.records'),
    bytes: new Histogram('oncemq.commit.size'),
  };

  readonly lockSeconds: Histogram = new Histogram('oncemq.lock.duration');

  readonly closedConnections: Record<ClosedCause, number> = {
    unread: 0,
    pipelined: 0,
    'event-reader': 0,
  };

  closed(cause: ClosedCause): void {
    this.closedConnections[cause] += 1;
  }

  committed({ records, bytes, ms, lockMs }: Commit): void {
    this.commits.seconds.record(ms / 1000);
    this.commits.records.record(records);
    this.commits.bytes.record(bytes);
    if (lockMs !== undefined) this.lockSeconds.record(lockMs / 1000);
  }
}
