/**
 * The trace that a message carries: W3C's `traceparent` and `tracestate` as message attributes, or X-Ray's format in the
 * AWSTraceHeader. A topic without raw message delivery puts the attributes into the notification around the body.
 *
 * Sends add the W3C form if there is room: Amazon allows ten attributes and a mebibyte per message.
 */

import { notificationIn, type SqsMessage } from '../consumer/received.ts';
import { messageBytes, messageBytesMax } from '../contract/body-bounds.ts';
import type { Traceable } from './telemetry.ts';

export interface CarriedTrace {
  readonly traceId: string;
  readonly spanId: string;
  readonly flags: number;
  readonly state: string | undefined;
}

const attributesMax = 10;

const w3cForm = /^(?!ff)[\da-f]{2}-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-([\da-f]{2})(-|$)/;
const xrayRoot = /(?:^|;)\s*Root=1-([\da-f]{8})-([\da-f]{24})/;
const xrayParent = /(?:^|;)\s*Parent=([\da-f]{16})/;
const xraySampled = /(?:^|;)\s*Sampled=1/;

export function traceIn(message: SqsMessage): CarriedTrace | undefined {
  const { MessageAttributes = {}, Attributes, Body = '' } = message;
  const own = (name: string): string | undefined => MessageAttributes[name]?.StringValue;
  const wrapped = notificationIn(Body)?.attributes ?? {};
  return (
    fromW3c(own('traceparent'), own('tracestate')) ??
    fromW3c(wrapped['traceparent'], wrapped['tracestate']) ??
    fromXray(Attributes?.['AWSTraceHeader'])
  );
}

/** The trace that a message already carries before it is sent. */
export function traceOf({ attributes = {} }: Traceable): CarriedTrace | undefined {
  return fromW3c(attributes['traceparent'], attributes['tracestate']);
}

/** Adds the trace to each message that has none, if there is room for it in the message and in the request. */
export function withTrace<Message extends Traceable>(
  messages: readonly Message[],
  { traceId, spanId, flags, state }: CarriedTrace,
): Message[] {
  const traceparent = `00-${traceId}-${spanId}-${flags.toString(16).padStart(2, '0')}`;
  const added = state === undefined ? { traceparent } : { traceparent, tracestate: state };
  const addedBytes = messageBytes('', added);
  let bytes = messages.reduce(
    (sum, each) => sum + messageBytes(each.body, each.attributes ?? {}),
    0,
  );
  return messages.map((message) => {
    const attributes = { ...added, ...message.attributes };
    const hasRoom =
      Object.keys(attributes).length <= attributesMax && bytes + addedBytes <= messageBytesMax;
    if (message.attributes?.['traceparent'] !== undefined || !hasRoom) return message;
    bytes += addedBytes;
    return { ...message, attributes };
  });
}

function fromW3c(
  traceparent: string | undefined,
  state: string | undefined,
): CarriedTrace | undefined {
  const [, traceId, spanId, flags] = w3cForm.exec(traceparent ?? '') ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined;
  return { traceId, spanId, flags: Number.parseInt(flags, 16), state };
}

function fromXray(header = ''): CarriedTrace | undefined {
  const [, time, rest] = xrayRoot.exec(header) ?? [];
  const [, spanId] = xrayParent.exec(header) ?? [];
  if (time === undefined || rest === undefined || spanId === undefined) return undefined;
  const flags = xraySampled.test(header) ? 1 : 0;
  return { traceId: time + rest, spanId, flags, state: undefined };
}
