/**
 * What a subscriber is sent for a publication: the JSON envelope around the message, in Amazon's order of fields and with
 * its indentation (9.1–9.4), or with raw delivery the message alone. Everything in the envelope except the unsubscribe
 * link is the same for all subscriptions of one protocol, so it is written, and signed, once.
 */

import type { MessageAttribute, Publication } from '../changes.ts';
import { base64 } from '../digest/digests.ts';
import { isoTime } from '../iso-time.ts';
import { sequenceNumber } from '../sequence-number.ts';

/** Signs what standard topics send; made in server/. */
export interface Signer {
  /** The path of the certificate, below the server's own URL. */
  readonly certificatePath: string;
  /** Base64 of an RSA signature: version 1 over SHA-1, 2 over SHA-256. */
  sign(text: string, version: '1' | '2'): string;
}

interface Sender {
  readonly arn: string;
  readonly isFifo: boolean;
  readonly signatureVersion: '1' | '2';
  readonly signer: Signer | undefined;
}

/** The two halves of an envelope, before and after the unsubscribe link. */
export interface Envelope {
  readonly head: string;
  readonly tail: string;
}

export function messageFor(
  publication: Pick<Publication, 'message' | 'messageFor'>,
  protocol: string,
): string {
  return publication.messageFor?.[protocol] ?? publication.message;
}

export function envelopeOf(
  publication: Publication,
  protocol: string,
  sender: Sender,
  isReplayed = false,
): Envelope {
  const message = messageFor(publication, protocol);
  const { messageId, sequence, subject, attributes } = publication;
  const timestamp = isoTime(publication.publishedAt);
  const signed = { Message: message, MessageId: messageId, Subject: subject, Timestamp: timestamp };
  const fields: Fields = {
    Type: 'Notification',
    MessageId: messageId,
    SequenceNumber: sequence === undefined ? undefined : sequenceNumber(sequence),
    TopicArn: sender.arn,
    Subject: subject,
    Message: message,
    Timestamp: timestamp,
    ...signatureFields(
      { ...signed, TopicArn: sender.arn, Type: 'Notification' },
      sender,
      publication,
    ),
  };
  const replayed = isReplayed ? ',\n  "Replayed" : true' : '';
  return {
    head: `{\n${written(fields)}`,
    tail: `${replayed}${writtenAttributes(attributes)}\n}`,
  };
}

export function envelopeText(
  { head, tail }: Envelope,
  baseUrl: string,
  subscriptionArn: string,
): string {
  return `${head}${unsubscribeText(baseUrl, subscriptionArn)}${tail}`;
}

/** What stands between the halves. */
export function unsubscribeText(baseUrl: string, subscriptionArn: string): string {
  const url = `${baseUrl}/?Action=Unsubscribe&SubscriptionArn=${subscriptionArn}`;
  return `,\n${written({ UnsubscribeURL: url })}`;
}

/** The request to confirm a subscription (5.5). */
export function confirmationText(
  {
    messageId,
    token,
    at,
    baseUrl,
  }: { messageId: string; token: string; at: number; baseUrl: string },
  sender: Sender,
): string {
  const url = `${baseUrl}/?Action=ConfirmSubscription&TopicArn=${sender.arn}&Token=${token}`;
  const message = `You have chosen to subscribe to the topic ${sender.arn}.\nTo confirm the subscription, visit the SubscribeURL included in this message.`;
  const fields = {
    Message: message,
    MessageId: messageId,
    SubscribeURL: url,
    Timestamp: isoTime(at),
    Token: token,
    TopicArn: sender.arn,
    Type: 'SubscriptionConfirmation',
  };
  return `{\n${written({
    Type: fields.Type,
    MessageId: messageId,
    Token: token,
    TopicArn: sender.arn,
    Message: message,
    SubscribeURL: url,
    Timestamp: fields.Timestamp,
    ...signatureFields(fields, sender, { baseUrl }),
  })}\n}`;
}

type Fields = Readonly<Record<string, string | undefined>>;

/** FIFO topics do not sign (9.2). The signed text has names and values, one per line, in order of the names (9.4). */
function signatureFields(
  signed: Fields,
  { isFifo, signer, signatureVersion }: Sender,
  { baseUrl }: { readonly baseUrl: string },
): Fields {
  if (isFifo || signer === undefined) return {};
  const lines = Object.entries(signed).map(([name, value]) =>
    value === undefined ? '' : `${name}\n${value}\n`,
  );
  return {
    SignatureVersion: signatureVersion,
    Signature: signer.sign(lines.join(''), signatureVersion),
    SigningCertURL: `${baseUrl}${signer.certificatePath}`,
  };
}

function written(fields: Fields): string {
  return Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `  "${name}" : ${json(value)}`)
    .join(',\n');
}

function writtenAttributes(attributes: readonly MessageAttribute[]): string {
  if (attributes.length === 0) return '';
  const entries = attributes.map(({ name, type, value }) => {
    const pair = { Type: type, Value: typeof value === 'string' ? value : base64(value) };
    return `    ${json(name)} : ${json(pair)}`;
  });
  return `,\n  "MessageAttributes" : {\n${entries.join(',\n')}\n  }`;
}

/** U+FFFE and U+FFFF, which no queue accepts and JSON.stringify leaves as they are, are escaped like control characters. */
function json(value: unknown): string {
  return JSON.stringify(value).replaceAll('\uFFFE', '\\ufffe').replaceAll('\uFFFF', '\\uffff');
}
