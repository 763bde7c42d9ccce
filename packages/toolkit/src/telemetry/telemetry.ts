/**
 * What the toolkit tells, and to whom: the port between sending and handling on one side and OpenTelemetry, or anything
 * else that wants to know, on the other. `openTelemetry` makes one.
 */

import type { SqsMessage } from '../consumer/received.ts';
import type { Report } from './record.ts';

export interface Telemetry {
  /** Takes a record into the metric of its name; for the `report` of the guard. */
  readonly report: Report;

  /** The message with the trace that is under way, for an outbox: what is kept with it goes with every send. */
  carry<Message extends Traceable>(message: Message): Message;

  /** Follows one request; the send gets the messages as they are to be sent, and may say more of the span. */
  sending<Message extends Traceable, Result>(
    request: { readonly queueUrl: string; readonly messages: readonly Message[] },
    send: (messages: readonly Message[], span: NotedSpan) => Promise<Result>,
  ): Promise<Result>;

  /** Follows the handling of one message; `queue` is its URL or ARN, if that is known. */
  processing<Result>(
    message: SqsMessage,
    queue: string | undefined,
    handle: (span: NotedSpan) => Promise<Result>,
  ): Promise<Result>;
}

/** As much of a message as a trace needs. */
export interface Traceable {
  readonly body: string;
  readonly attributes?: Readonly<Record<string, string>>;
}

export interface NotedSpan {
  setAttribute(name: string, value: string | number | boolean): void;
}

/** The last part of a queue's URL, or of an ARN. */
export function nameOf(target: string): string {
  return target.slice(Math.max(target.lastIndexOf('/'), target.lastIndexOf(':')) + 1);
}
