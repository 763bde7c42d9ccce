/**
 * The interface between sending and handling on one side and OpenTelemetry, or any other telemetry, on the other.
 * `openTelemetry` returns an implementation.
 */

import type { SqsMessage } from '../consumer/received.ts';
import type { RelayStatus } from '../outbox/relay-loop.ts';
import type { Report } from './record.ts';

export interface Telemetry {
  /** Adds a record to the metric of its name; also fits as the `report` of the guard. */
  readonly report: Report;

  /** Returns the message with the active trace, for an outbox: a trace kept with the message goes with every send. */
  carry<Message extends Traceable>(message: Message): Message;

  /** Traces one request to a queue (its URL) or a topic (its ARN); `send` gets the messages as they are to be sent, and may set attributes of the span. */
  sending<Message extends Traceable, Result>(
    request: { readonly target: string; readonly messages: readonly Message[] },
    send: (messages: readonly Message[], span: NotedSpan) => Promise<Result>,
  ): Promise<Result>;

  /** Traces the handling of one message; `queue` is its URL or ARN, if known. */
  processing<Result>(
    message: SqsMessage,
    queue: string | undefined,
    handle: (span: NotedSpan) => Promise<Result>,
  ): Promise<Result>;

  /** Records how far the relay to a queue (its URL) or a topic (its ARN) is behind. */
  relaying?(target: string, status: RelayStatus): void;
}

/** The part of a message that a trace needs. */
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
