/**
 * A producer: how one kind of event becomes a message, said once. Everything that a message consists of is a pure
 * function of the event, so that the same event is the same bytes today, in a replay and in a backfill.
 *
 * What the contract forbids is refused before anything is sent: `check` answers with the refusal, `envelope`, `message`
 * and the sends throw it as a ContractError. Sending itself is in send.ts.
 */

import { types } from 'node:util';
import { checkAttributes } from '../contract/attributes.ts';
import { canonicalText } from '../contract/canonical.ts';
import { checkEnvelope, defaultNamespace, type Envelope, epochMsOf } from '../contract/envelope.ts';
import { derivedEventId, randomEventId } from '../contract/event-id.ts';
import { checkMessage } from '../contract/message.ts';
import { ContractError, type Refusal, refuse } from '../contract/refusals.ts';
import {
  compileSchema,
  type JsonSchema,
  type SchemaCheck,
  schemaReason,
} from '../contract/schemas.ts';
import { aboutRefusal } from '../telemetry/record.ts';
import { type Destination, type ProducerMessage, type Sent, sendMessages } from './send.ts';

export interface ProducerOptions<Event, Payload extends object = Event & object> {
  /** `<namespace>.<domain>.<pipeline>` */
  readonly source: string;
  /** Default kfm. */
  readonly namespace?: string;
  /** What identifies the event: a pure function of it. `key(…)` builds one from parts. */
  readonly dedupeKey: (event: Event) => string;
  /** When the event happened: an RFC 3339 text, a Date or epoch milliseconds. Not the time of sending. */
  readonly eventTime: (event: Event) => string | Date | number;
  /** What the message says of the event; default: the event itself. */
  readonly payload?: (event: Event) => Payload;
  /** JSON Schema of the payload. */
  readonly schema?: JsonSchema;
  /** MessageGroupId; messages of one group stay in order. Default: the source. */
  readonly groupId?: (event: Event) => string;
  /** Message attributes, for routing and filtering only. */
  readonly attributes?: (event: Event) => Readonly<Record<string, string>>;
  /** Attributes whose value must be in the body too; default: those named like ids, keys and versions. */
  readonly critical?: readonly string[];
  /** `random` is for producers that keep their messages (an outbox) and replay what they kept. Default derived. */
  readonly eventId?: 'derived' | 'random';
  /** Body and attributes together; default 1 MiB. */
  readonly sizeBytesMax?: number;
  /** Events to try the producer with: the tests that `oncemq verify` runs, two different ones at least. */
  readonly samples?: readonly Event[];
}

export interface Producer<Event, Payload extends object = Event & object> {
  readonly source: string;
  readonly options: ProducerOptions<Event, Payload>;
  /** The message of the event, or why there is none. */
  check(event: Event): CheckedEvent<Payload> | Refusal;
  envelope(event: Event): Envelope<Payload>;
  message(event: Event): ProducerMessage;
  send(event: Event, destination: Destination): Promise<Sent>;
  /** In order, ten to a request; the answers have the events' order. */
  sendBatch(events: readonly Event[], destination: Destination): Promise<Sent[]>;
}

export interface CheckedEvent<Payload> {
  readonly ok: true;
  readonly envelope: Envelope<Payload>;
  readonly message: ProducerMessage;
}

/** A producer of events that its holder knows nothing about, and only hands back to it. */
// biome-ignore lint/suspicious/noExplicitAny: events go in and payloads come out, so unknown fits neither
export type AnyProducer = Producer<any, any>;

/** Marks producers, so that one made by another copy of this package is recognised too. */
const mark = Symbol.for('oncemq.producer');

export function isProducer(value: unknown): value is AnyProducer {
  return typeof value === 'object' && value !== null && mark in value;
}

export function defineProducer<Event, Payload extends object = Event & object>(
  options: ProducerOptions<Event, Payload>,
): Producer<Event, Payload> {
  const { source, namespace = defaultNamespace } = options;
  const wrongSource = checkEnvelope({ ...wellFormed, event_source: source }, namespace);
  if (wrongSource !== undefined) throw new ContractError(wrongSource);
  const findPayloadError = options.schema === undefined ? undefined : compileSchema(options.schema);
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
    // All are made before the first is sent: a refused one stops the whole call, and nothing is half done.
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

/** An envelope with nothing wrong, to look at one member of another. */
const wellFormed = {
  event_id: '00000000-0000-7000-8000-000000000000',
  event_time: '1970-01-01T00:00:00Z',
  dedupe_key: 'any',
  payload: {},
};

function checkEvent<Event, Payload extends object>(
  event: Event,
  options: ProducerOptions<Event, Payload>,
  findPayloadError: SchemaCheck | undefined,
): CheckedEvent<Payload> | Refusal {
  const { source, namespace } = options;
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
  // What a function does not give is refused below: the event itself is not what it was to say.
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
  // The payload as it will be read: a Date is a text by then.
  const wrong = findPayloadError?.((JSON.parse(body) as Envelope).payload);
  if (wrong !== undefined) return refuse('payload-invalid', { reason: schemaReason(wrong) });
  const groupId: unknown = options.groupId === undefined ? source : options.groupId(event);
  if (typeof groupId !== 'string' || !/^[!-~]{1,128}$/.test(groupId)) {
    return refuse('group-invalid', { group: String(groupId) });
  }
  const attributes = options.attributes?.(event);
  const wrongAttributes = attributes === undefined ? undefined : checkAttributes(attributes);
  if (wrongAttributes !== undefined) return wrongAttributes;
  const message = attributes === undefined ? { body, groupId } : { body, groupId, attributes };
  const { critical, sizeBytesMax } = options;
  const allowed = checkMessage(message, { namespace, critical, sizeBytesMax });
  return allowed.ok ? { ok: true, envelope, message } : allowed;
}

/** What a function that is typed to give a text gives when nothing checks its types. */
function checkKey(key: unknown): Refusal | undefined {
  if (key === undefined || key === null) return refuse('key-missing');
  if (key instanceof Promise) {
    // Nobody will wait for it, so nobody would hear of its failure.
    key.catch(() => {});
    return refuse('key-invalid', {
      reason: 'is a promise: derive it from the event alone, at once, not with an async function',
    });
  }
  if (typeof key !== 'string')
    return refuse('key-invalid', { reason: `is a ${typeof key}, no text` });
  return key.trim() === '' ? refuse('key-missing') : undefined;
}

/** What is refused here is never sent, and no guard gets to see it. */
function reportRefusal(refusal: Refusal, { queueUrl, telemetry }: Destination): void {
  telemetry?.report({
    time: new Date().toISOString(),
    metric: 'sqs_fifo.producer.violations',
    value: 1,
    target: queueUrl,
    mode: 'reject',
    ...aboutRefusal(refusal),
  });
}

/**
 * The schema's format takes an offset of hours alone, which RFC 3339 does not know. Whoever reads is lenient: such messages
 * were sent, by databases' writing of times say.
 */
const wholeOffset = /(?:z|[+-]\d{2}:\d{2})$/i;

function timeOf(time: unknown): string | undefined {
  if (typeof time === 'string') {
    const envelope = { ...wellFormed, event_source: 'a.b.c', event_time: time };
    return checkEnvelope(envelope, 'a') === undefined && wholeOffset.test(time) ? time : undefined;
  }
  // Of null a Date would be made, too: the first of January 1970. A Date may be of another realm, in Jest say.
  if (typeof time !== 'number' && !types.isDate(time)) return undefined;
  const date = new Date(time);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}
