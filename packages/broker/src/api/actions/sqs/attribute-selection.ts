/**
 * Selects the requested attributes of a received message. System attributes are chosen by name or `All` (7.9, 9.6);
 * message attributes by name, `All`, `*`, `.*` or `prefix.*`, where the prefix does not include the dot (9.7). A name that
 * the message lacks is not an error.
 */

import type { MessageAttribute } from '../../../core/changes.ts';
import { attributesMd5 } from '../../../core/digest/digests.ts';
import { sequenceNumber } from '../../../core/sequence-number.ts';
import type { Delivered } from '../../../storage/backend.ts';
import type { ValueMap } from '../../shapes/shape.ts';

export type SystemAttribute = readonly [
  name: string,
  value: (message: Delivered) => string | undefined,
];

const systemAttributes: readonly SystemAttribute[] = [
  ['SenderId', ({ content }) => content.senderId],
  ['SentTimestamp', ({ sentAt }) => String(sentAt)],
  ['ApproximateReceiveCount', ({ receiveCount }) => String(receiveCount)],
  ['ApproximateFirstReceiveTimestamp', ({ firstReceivedAt }) => textOf(firstReceivedAt)],
  ['MessageGroupId', ({ groupId, content }) => groupId ?? content.groupId],
  [
    'MessageDeduplicationId',
    (message) => (isFifo(message) ? deduplicationIdOf(message) : undefined),
  ],
  ['SequenceNumber', (message) => (isFifo(message) ? sequenceNumber(message.sequence) : undefined)],
  ['AWSTraceHeader', ({ content }) => content.traceHeader],
  ['DeadLetterQueueSourceArn', ({ deadLetterSource }) => deadLetterSource],
];

/** The system attributes that a request asks for; determined once for all its messages. */
export function askedSystemAttributes(names: readonly string[]): readonly SystemAttribute[] {
  if (names.includes('All')) return systemAttributes;
  return systemAttributes.filter(([name]) => names.includes(name));
}

export function selectSystemAttributes(
  message: Delivered,
  asked: readonly SystemAttribute[],
): ValueMap | undefined {
  if (asked.length === 0) return undefined;
  const selected: Record<string, string> = {};
  for (const [name, value] of asked) {
    const text = value(message);
    if (text !== undefined) selected[name] = text;
  }
  return selected;
}

export interface SelectedAttributes {
  readonly attributes: ValueMap | undefined;
  /** Of those returned (7.8). */
  readonly md5: string | undefined;
}

const nothing: SelectedAttributes = { attributes: undefined, md5: undefined };

export function selectMessageAttributes(
  { content }: Delivered,
  asked: readonly string[],
): SelectedAttributes {
  const all = content.attributes;
  if (all.length === 0 || asked.length === 0) return nothing;
  const selected = all.filter(({ name }) => asked.some((pattern) => matches(pattern, name)));
  if (selected.length === 0) return nothing;
  const isWhole = selected.length === all.length;
  return {
    attributes: Object.fromEntries(selected.map(wordsOf)),
    md5: isWhole ? content.attributesMd5 : attributesMd5(selected),
  };
}

function matches(pattern: string, name: string): boolean {
  if (pattern === name || pattern === 'All' || pattern === '*') return true;
  return pattern.endsWith('.*') && name.startsWith(pattern.slice(0, -2));
}

function wordsOf({ name, type, value }: MessageAttribute): [string, ValueMap] {
  return typeof value === 'string'
    ? [name, { StringValue: value, DataType: type }]
    : [name, { BinaryValue: value, DataType: type }];
}

function isFifo({ groupId }: Delivered): boolean {
  return groupId !== undefined;
}

/** The one assigned by a move, or else the one it was sent with. */
function deduplicationIdOf({ deduplicationId, content }: Delivered): string | undefined {
  return deduplicationId ?? content.deduplicationId;
}

function textOf(time: number | undefined): string | undefined {
  return time === undefined ? undefined : String(time);
}
