/**
 * Whether a whole message may go to a FIFO queue: its body, its attributes and its deduplication id together. The
 * producer, the guard, `oncemq verify` and the server ask here, so that the forbidden pattern (uniqueness in attributes,
 * which no content hash sees) is one rule.
 */

import { sha256 } from './canonical.ts';
import { type Envelope, readEnvelope } from './envelope.ts';
import { type Refusal, refuse } from './refusals.ts';

export interface MessageParts {
  readonly body: string;
  /** Names and values; values that are no text are left out by the caller. */
  readonly attributes?: Readonly<Record<string, string>> | undefined;
  readonly deduplicationId?: string | undefined;
}

export interface MessageRules {
  /** First part of every event_source; default kfm. */
  readonly namespace?: string | undefined;
  /** Attributes whose value must also be in the body; default: those named like ids, keys and versions. */
  readonly critical?: readonly string[] | undefined;
  /** Body and attributes together; default 1 MiB, which is Amazon's limit. */
  readonly sizeBytesMax?: number | undefined;
}

export const messageBytesMax = 1_048_576;

const keyName = /^(dedup(e|lication)?|idempotency|idempotence|unique(ness)?)([_.-]?(key|id))$/i;
const criticalName =
  /(^|[_.-])(id|uuid|guid|key|version|sequence|seq|hash|checksum)$|[a-z](Id|Key|Version)$/;
/** They tell attempts or conversations apart, not events. */
export const tracingName: RegExp =
  /(trace|span|correlation|causation|request|session|parent|tenant|schema)/i;

export function checkMessage(
  { body, attributes = {}, deduplicationId }: MessageParts,
  { namespace, critical, sizeBytesMax = messageBytesMax }: MessageRules = {},
): { readonly ok: true; readonly envelope: Envelope } | Refusal {
  const size = messageBytes(body, attributes);
  if (size > sizeBytesMax) return refuse('body-too-large', { size, limit: sizeBytesMax });
  const read = readEnvelope(body, namespace);
  if (!read.ok) return keyInAttributes(read, attributes);
  const { envelope } = read;
  return (
    valueInAttributes(body, envelope, attributes, critical) ??
    contradiction(deduplicationId, envelope.dedupe_key, body) ??
    read
  );
}

export function messageBytes(body: string, attributes: Readonly<Record<string, string>>): number {
  return Object.entries(attributes).reduce(
    // The data type counts too; "String" is the longest of the usual ones.
    (sum, [name, value]) => sum + Buffer.byteLength(name) + Buffer.byteLength(value) + 6,
    Buffer.byteLength(body),
  );
}

/** What an explicit MessageDeduplicationId should be: it fits however long the key is. */
export function deduplicationIdOf(dedupeKey: string): string {
  return sha256(dedupeKey);
}

function keyInAttributes(refusal: Refusal, attributes: Readonly<Record<string, string>>): Refusal {
  const lacksKey = refusal.code === 'key-missing' || refusal.code === 'body-not-envelope';
  const name = Object.keys(attributes).find((each) => keyName.test(each));
  return lacksKey && name !== undefined ? refuse('key-only-in-attributes', { name }) : refusal;
}

function valueInAttributes(
  body: string,
  envelope: Envelope,
  attributes: Readonly<Record<string, string>>,
  critical: readonly string[] | undefined,
): Refusal | undefined {
  const suspects = Object.entries(attributes).filter(([name]) =>
    critical === undefined
      ? keyName.test(name) || (criticalName.test(name) && !tracingName.test(name))
      : critical.includes(name),
  );
  if (suspects.length === 0) return undefined;
  const known = leavesOf(JSON.parse(body));
  const missing = suspects.find(
    ([, value]) => !known.has(value) && !holds(envelope.dedupe_key, value),
  );
  return missing && refuse('value-only-in-attributes', { name: missing[0], value: missing[1] });
}

/** Whether the value stands in the key as a whole: "2" is in "order-v2", and not in "p32r29". */
function holds(key: string, value: string): boolean {
  if (value === '') return true;
  for (let at = key.indexOf(value); at >= 0; at = key.indexOf(value, at + 1)) {
    const end = at + value.length;
    if (!isWithin(key, at) && !isWithin(key, end)) return true;
  }
  return false;
}

/** Whether a number or a word goes on across the place. */
function isWithin(key: string, at: number): boolean {
  return /^(\d\d|[A-Za-z]{2})$/.test(key.slice(Math.max(0, at - 1), at + 1));
}

/** Not by recursion: a stranger's body may be nested as deeply as it is long. */
function leavesOf(value: unknown): Set<string> {
  const leaves = new Set<string>();
  const open: unknown[] = [value];
  while (open.length > 0) {
    const next = open.pop();
    if (typeof next !== 'object' || next === null) leaves.add(String(next));
    else for (const member of Object.values(next)) open.push(member);
  }
  return leaves;
}

function contradiction(
  id: string | undefined,
  dedupeKey: string,
  body: string,
): Refusal | undefined {
  if (id === undefined) return undefined;
  const agrees = [dedupeKey, deduplicationIdOf(dedupeKey), sha256(body)].includes(id);
  return agrees ? undefined : refuse('deduplication-id-contradicts', { id, key: dedupeKey });
}
