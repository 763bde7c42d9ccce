/**
 * One publication with everything that is derived from it for its subscribers, each made once: the envelope, and for queues
 * the digests and checks of SendMessage. Only the unsubscribe link differs from one subscription to the next, so a
 * publication to many queues costs little more than writing it for each.
 */

import type { Publication } from '../changes.ts';
import type { AttributeInput, SendEntry } from '../commands.ts';
import { attributesMd5, md5After, md5Hex, sha256Hex, utf8Length } from '../digest/digests.ts';
import { single } from '../queue/batch.ts';
import { checkMessage, messageSize, type PreparedMessage } from '../queue/message-check.ts';
import type { Queue } from '../queue/queue.ts';
import { type Envelope, envelopeOf, messageFor, type Signer, unsubscribeText } from './envelope.ts';
import type { Subscription } from './subscription.ts';
import type { Topic } from './topic.ts';

/** Who sends what topics deliver, in SenderId and to policies. */
export const senderPrincipal = 'sns.amazonaws.com';

export const queueProtocol = 'sqs';

/** A shorter head is read again sooner than its digest is copied. */
const sharedHeadLengthMin = 8_192;

/** What all envelopes of the publication have in common. */
interface SharedEnvelope extends Envelope {
  readonly sizeBytes: number;
  /** Of head and rest. */
  readonly md5: (rest: string) => string;
}

/** For queues, without an envelope. */
export interface PublishedMessage {
  readonly body: string;
  readonly attributes: readonly AttributeInput[];
}

export class Notification {
  readonly topic: Topic;
  readonly publication: Publication;
  /** The replay that it is part of; undefined for a first delivery. */
  readonly replayStamp: number | undefined;
  readonly #signer: Signer | undefined;
  #envelope: SharedEnvelope | undefined;
  #raw: SendEntry | undefined;
  #checked: PreparedMessage['checked'] | undefined;
  #published: PublishedMessage | undefined;
  readonly #systemAttributes: SendEntry['systemAttributes'];

  constructor(
    topic: Topic,
    publication: Publication,
    signer: Signer | undefined,
    replayStamp?: number,
  ) {
    this.topic = topic;
    this.publication = publication;
    this.replayStamp = replayStamp;
    this.#signer = signer;
    const { traceHeader } = publication;
    this.#systemAttributes =
      traceHeader === undefined
        ? undefined
        : [{ name: 'AWSTraceHeader', type: 'String', stringValue: traceHeader }];
  }

  /** What queues are told was published: the same object for all of them. */
  get published(): PublishedMessage {
    this.#published ??= {
      body: messageFor(this.publication, queueProtocol),
      attributes: this.publication.attributes.map(asInput),
    };
    return this.#published;
  }

  /** The message as the queue gets it: ids by 9.6, attributes only with a raw body (9.3, 9.5). */
  entryFor(queue: Queue, subscription: Subscription, isRaw: boolean): SendEntry {
    const { groupId } = this.publication;
    const message = isRaw ? this.#rawMessage() : this.#enveloped(subscription.arn);
    return queue.isFifo
      ? { ...message, groupId, deduplicationId: this.#deduplicationId() }
      : { ...message, groupId: this.topic.isFifo ? undefined : groupId };
  }

  #rawMessage(): SendEntry {
    if (this.#raw !== undefined) return this.#raw;
    const { body } = this.published;
    const entry = { ...this.published, ...this.#common() };
    const prepared = {
      checked: checkMessage(entry, Number.POSITIVE_INFINITY, single),
      sizeBytes: messageSize(entry),
      bodyMd5: md5Hex(body),
      attributesMd5: attributesMd5(this.publication.attributes),
    };
    this.#raw = { ...entry, prepared };
    return this.#raw;
  }

  #enveloped(subscriptionArn: string): SendEntry {
    this.#envelope ??= this.#newEnvelope();
    const { head, tail, sizeBytes, md5 } = this.#envelope;
    const link = unsubscribeText(this.publication.baseUrl, subscriptionArn);
    const prepared = {
      checked: this.#checkedEnvelope(),
      sizeBytes: sizeBytes + utf8Length(link),
      bodyMd5: md5(`${link}${tail}`),
      attributesMd5: '',
    };
    return { body: `${head}${link}${tail}`, ...this.#common(), prepared };
  }

  #newEnvelope(): SharedEnvelope {
    const { topic, publication } = this;
    const { arn, isFifo, settings } = topic;
    const { signatureVersion } = settings;
    const sender = { arn, isFifo, signatureVersion, signer: this.#signer };
    const isReplayed = this.replayStamp !== undefined;
    const { head, tail } = envelopeOf(publication, queueProtocol, sender, isReplayed);
    const md5 =
      head.length < sharedHeadLengthMin
        ? (rest: string): string => md5Hex(`${head}${rest}`)
        : md5After(head);
    return { head, tail, md5, sizeBytes: utf8Length(head) + utf8Length(tail) };
  }

  /** JSON escapes what no queue accepts, so an envelope always passes; its trace header may not. */
  #checkedEnvelope(): PreparedMessage['checked'] {
    this.#checked ??= checkMessage(
      { body: '{}', ...this.#common() },
      Number.POSITIVE_INFINITY,
      single,
    );
    return this.#checked;
  }

  #common(): Pick<SendEntry, 'systemAttributes' | 'senderId'> {
    return { systemAttributes: this.#systemAttributes, senderId: senderPrincipal };
  }

  /**
   * The published id; a replay has one of its own, since the queue's window may still hold the first delivery's (ours:
   * rule 13.3 leaves it open).
   */
  #deduplicationId(): string | undefined {
    const { deduplicationId, messageId } = this.publication;
    return this.replayStamp === undefined
      ? deduplicationId
      : sha256Hex(`${messageId} replayed ${this.replayStamp}`);
  }
}

export function asInput({ name, type, value }: Publication['attributes'][number]): AttributeInput {
  return typeof value === 'string'
    ? { name, type, stringValue: value }
    : { name, type, binaryValue: value };
}
