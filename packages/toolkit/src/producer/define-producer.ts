/**
 * A producer defines once how one kind of event becomes a message. Every part of a message is a pure function of the
 * event, so that the same event gives the same bytes today, in a replay and in a backfill.
 *
 * What the contract forbids is refused before anything is sent: `check` returns the refusal; `envelope`, `message` and
 * the sends throw it as a ContractError. Sending itself is in send.ts.
 */

import { types } from 'node:util';
import { checkAttributes } from '../contract/attributes.ts';
import { canonicalText } from '../contract/canonical.ts';
import type { Contract } from '../contract/contract.ts';
import { checkEnvelope, type Envelope } from '../contract/envelope.ts';
import { derivedEventId, randomEventId } from '../contract/event-id.ts';
import { checkMessage } from '../contract/message.ts';
import {
  type PayloadCheck,
  payloadCheck,
  type StandardSchema,
} from '../contract/payload-schema.ts';
import { ContractError, type Refusal, refuse } from '../contract/refusals.ts';
import { epochMsOf, isRfc3339 } from '../contract/rfc3339.ts';
import type { JsonSchema } from '../contract/schemas.ts';
import { aboutRefusal } from '../telemetry/record.ts';
import {
  type Destination,
  type ProducerMessage,
  type Sent,
  sendMessages,
  targetOf,
} from './send.ts';

export interface ProducerOptions<Event, Payload extends object = Event & object> {
  /** `<namespace>.<domain>.<pipeline>` */
  readonly source: string;
  /** The contract that the messages keep, as `loadContract` returns it; default: the default contract. */
  readonly contract?: Contract;
  /** Default: the contract's, which is kfm by default. */
  readonly namespace?: string;
  /** What identifies the event: a pure function of it. `key(…)` builds one from parts. */
  readonly dedupeKey: (event: Event) => string;
  /** When the event happened: an RFC 3339 text, a Date or epoch milliseconds. Not the time of sending. */
  readonly eventTime: (event: Event) => string | Date | number;
  /** What the message says about the event; default: the event itself. */
  readonly payload?: (event: Event) => Payload;
  /** The payload's schema: a JSON Schema, or one with the Standard Schema interface (Zod, Valibot, ArkType, …). */
  readonly schema?: JsonSchema | StandardSchema;
  /** MessageGroupId; messages of one group stay in order. Default: the source. */
  readonly groupId?: (event: Event) => string;
  /** Message attributes, for routing and filtering only. */
  readonly attributes?: (event: Event) => Readonly<Record<string, string>>;
  /** Attributes whose value must be in the body too: exactly these. Default: those that the contract calls critical. */
  readonly critical?: readonly string[];
  /** `random` is for producers that keep their messages (an outbox) and replay what they kept. Default derived. */
  readonly eventId?: 'derived' | 'random';
  /** Body and attributes together; default 1 MiB. */
  readonly sizeBytesMax?: number;
  /** Example events for `oncemq verify`, which needs at least two different ones. */
  readonly samples?: readonly Event[];
}

export interface Producer<Event, Payload extends object = Event & object> {
  readonly source: string;
  readonly options: ProducerOptions<Event, Payload>;
  /** Builds the message of the event, or returns why the contract forbids it. */
  check(event: Event): CheckedEvent<Payload> | Refusal;
  envelope(event: Event): Envelope<Payload>;
  message(event: Event): ProducerMessage;
  send(event: Event, destination: Destination): Promise<Sent>;
  /** Sends in order, at most ten per request; the results are in the order of the events. */
  sendBatch(events: readonly Event[], destination: Destination): Promise<Sent[]>;
}

export interface CheckedEvent<Payload> {
  readonly ok: true;
  readonly envelope: Envelope<Payload>;
  readonly message: ProducerMessage;
}

/** A producer whose event type is unknown to the code that holds it and only hands events back to it. */
// biome-ignore lint/suspicious/noExplicitAny: events go in and payloads come out, so unknown fits neither
export type AnyProducer = Producer<any, any>;

/** Marks producers, so that one defined by another copy of this package is recognized too. */
const mark = Symbol.for('oncemq.producer');

export function isProducer(value: unknown): value is AnyProducer {
  return typeof value === 'object' && value !== null && mark in value;
}

export function defineProducer<Event, Payload extends object = Event & object>(
  options: ProducerOptions<Event, Payload>,
): Producer<Event, Payload> {
  const { source } = options;
  const wrongSource = checkEnvelope({ ...wellFormed, event_source: source }, options);
  if (wrongSource !== undefined) throw new ContractError(wrongSource);
  const findPayloadError = options.schema === undefined ? undefined : payloadCheck(options.schema);
  const check = (event: Event): CheckedEvent<Payload> | Refusal => {
    try {
      return checkEvent(event, options, findPayloadError);
    } catch (error) {
      // `key` throws its refusals.
      if (error instanceof ContractError) return error.refusal;
      throw error;
    }
  };
  const checked = (event: Event, destination?: Destination): CheckedEvent<Payload> => {
    const result = check(event);
    if (result.ok) return result;
    if (destination !== undefined) reportRefusal(result, destination);
    throw new ContractError(result, `${source}: `);
  };
  const sendBatch = async (events: readonly Event[], destination: Destination): Promise<Sent[]> =>
    // All messages are built before the first is sent: one refusal fails the whole call with nothing sent.
    sendMessages(
      events.map((event) => checked(event, destination).message),
      destination,
    );
  return Object.freeze({
    [mark]: true,
    source,
    options,
    check,
    envelope: (event: Event) => checked(event).envelope,
    message: (event: Event) => checked(event).message,
    send: async (event: Event, destination: Destination) =>
      (await sendBatch([event], destination))[0] as Sent,
    sendBatch,
  });
}

/** The rest of a valid envelope, for checking a single member. */
const wellFormed = {
  event_id: '00000000-0000-7000-8000-000000000000',
  event_time: '1970-01-01T00:00:00Z',
  dedupe_key: 'any',
  payload: {},
};

function checkEvent<Event, Payload extends object>(
  event: Event,
  options: ProducerOptions<Event, Payload>,
  findPayloadError: PayloadCheck | undefined,
): CheckedEvent<Payload> | Refusal {
  const { source } = options;
  if (event === undefined || event === null)
    return refuse('event-missing', { given: String(event) });
  const dedupeKey = options.dedupeKey(event);
  const wrongKey = checkKey(dedupeKey);
  if (wrongKey !== undefined) return wrongKey;
  const again = options.dedupeKey(event);
  if (dedupeKey !== again) {
    return refuse('key-not-deterministic', { first: String(dedupeKey), second: String(again) });
  }
  const time = timeOf(options.eventTime(event));
  if (time === undefined) return refuse('time-invalid', { time: String(options.eventTime(event)) });
  // If `payload` returns nothing, that is refused below; falling back to the event would send what was not meant.
  const payload =
    options.payload === undefined ? (event as unknown as Payload) : options.payload(event);
  const eventId =
    options.eventId === 'random'
      ? randomEventId()
      : derivedEventId({ source, key: dedupeKey, timeMs: epochMsOf(time) });
  const envelope: Envelope<Payload> = {
    event_id: eventId,
    event_source: source,
    event_time: time,
    dedupe_key: dedupeKey,
    payload,
  };
  const canonical = canonicalText(envelope);
  if (!canonical.ok) return canonical;
  const body = canonical.text;
  // Checks the payload as consumers will read it: a Date has become a string.
  const wrong = findPayloadError?.((JSON.parse(body) as Envelope).payload);
  if (wrong !== undefined) return refuse('payload-invalid', { reason: wrong });
  const groupId: unknown = options.groupId === undefined ? source : options.groupId(event);
  if (typeof groupId !== 'string' || !/^[!-~]{1,128}$/.test(groupId)) {
    return refuse('group-invalid', { group: String(groupId) });
  }
  const attributes = options.attributes?.(event);
  const wrongAttributes = attributes === undefined ? undefined : checkAttributes(attributes);
  if (wrongAttributes !== undefined) return wrongAttributes;
  const message = attributes === undefined ? { body, groupId } : { body, groupId, attributes };
  const allowed = checkMessage(message, options);
  return allowed.ok ? { ok: true, envelope, message } : allowed;
}

/** `dedupeKey` is typed to return a string, but plain JavaScript can return anything. */
function checkKey(key: unknown): Refusal | undefined {
  if (key === undefined || key === null) return refuse('key-missing');
  if (key instanceof Promise) {
    // Nothing awaits it, so a rejection would go unhandled.
    key.catch(() => {});
    return refuse('key-invalid', {
      reason: 'is a promise; derive it from the event without an async function',
    });
  }
  if (typeof key !== 'string')
    return refuse('key-invalid', { reason: `is a ${typeof key}, not a string` });
  return key.trim() === '' ? refuse('key-missing') : undefined;
}

/** A message refused here is never sent, so no guard would report it. */
function reportRefusal(refusal: Refusal, destination: Destination): void {
  destination.telemetry?.report({
    time: new Date().toISOString(),
    metric: 'sqs_fifo.producer.violations',
    value: 1,
    target: targetOf(destination),
    mode: 'reject',
    ...aboutRefusal(refusal),
  });
}

function timeOf(time: unknown): string | undefined {
  if (typeof time === 'string') return isRfc3339(time) ? time : undefined;
  // new Date(null) would be the first of January 1970. A Date may come from another realm, for example in Jest.
  if (typeof time !== 'number' && !types.isDate(time)) return undefined;
  const date = new Date(time);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}
