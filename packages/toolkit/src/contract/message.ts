/**
 * Whether a message may go to a FIFO queue, judged by its body, attributes and deduplication id together. The producer,
 * the guard, `oncemq verify` and the server all call this, so that the forbidden pattern (uniqueness in attributes, which
 * no content hash covers) is defined once.
 */

import { isCriticalName, namesAttempt, namesKey } from './attribute-names.ts';
import { exceededBound } from './body-bounds.ts';
import { sha256 } from './canonical.ts';
import { type ContractOptions, contractOf } from './contract.ts';
import { type Envelope, type ReadEnvelope, readEnvelope } from './envelope.ts';
import { type Refusal, refuse } from './refusals.ts';
import { comparedAttributes } from './trace-context.ts';

export interface MessageParts {
  readonly body: string;
  /** Names and values; the caller leaves out values that are not strings. */
  readonly attributes?: Readonly<Record<string, string>> | undefined;
  readonly deduplicationId?: string | undefined;
}

export interface MessageRules extends ContractOptions {
  /** Attributes whose value must also be in the body: exactly these. Default: those that the contract calls critical. */
  readonly critical?: readonly string[] | undefined;
  /** Body and attributes together; default 1 MiB, which is Amazon's limit. */
  readonly sizeBytesMax?: number | undefined;
}

export function checkMessage(
  { body, attributes = {}, deduplicationId }: MessageParts,
  rules: MessageRules = {},
): ReadEnvelope {
  const exceeded = exceededBound({ body, attributes }, rules.sizeBytesMax);
  if (exceeded !== undefined) return exceeded;
  const read = readEnvelope(body, rules);
  if (!read.ok) return keyInAttributes(read, attributes);
  const { envelope } = read;
  return (
    valueInAttributes(body, envelope, attributes, rules) ??
    contradiction(deduplicationId, envelope.dedupe_key, body) ??
    read
  );
}

/** The attributes in which two messages with one body may be two events, in a stable order. */
export function tellingAttributes(
  attributes: Readonly<Record<string, string>>,
  rules: MessageRules,
): [name: string, value: string][] {
  const { critical } = rules;
  const lists = contractOf(rules);
  return comparedAttributes(attributes).filter(([name]) =>
    critical === undefined ? !namesAttempt(name, lists) : critical.includes(name),
  );
}

/** The recommended explicit MessageDeduplicationId: a hash fits, however long the key is. */
export function deduplicationIdOf(dedupeKey: string): string {
  return sha256(dedupeKey);
}

function keyInAttributes(refusal: Refusal, attributes: Readonly<Record<string, string>>): Refusal {
  const lacksKey = refusal.code === 'key-missing' || refusal.code === 'body-not-envelope';
  const name = Object.keys(attributes).find(namesKey);
  return lacksKey && name !== undefined ? refuse('key-only-in-attributes', { name }) : refusal;
}

function valueInAttributes(
  body: string,
  envelope: Envelope,
  attributes: Readonly<Record<string, string>>,
  rules: MessageRules,
): Refusal | undefined {
  const { critical } = rules;
  const lists = contractOf(rules);
  const suspects = Object.entries(attributes).filter(([name]) =>
    critical === undefined ? isCriticalName(name, lists) : critical.includes(name),
  );
  if (suspects.length === 0) return undefined;
  const known = leavesOf(JSON.parse(body));
  const missing = suspects.find(
    ([, value]) => !known.has(value) && !holds(envelope.dedupe_key, value),
  );
  return missing && refuse('value-only-in-attributes', { name: missing[0], value: missing[1] });
}

/** Whether the key contains the value as a whole token: "2" is in "order-v2", but not in "p32r29". */
function holds(key: string, value: string): boolean {
  if (value === '') return true;
  for (let at = key.indexOf(value); at >= 0; at = key.indexOf(value, at + 1)) {
    const end = at + value.length;
    if (!isWithin(key, at) && !isWithin(key, end)) return true;
  }
  return false;
}

/** Whether the position is inside a number or a word. */
function isWithin(key: string, at: number): boolean {
  return /^(\d\d|[A-Za-z]{2})$/.test(key.slice(Math.max(0, at - 1), at + 1));
}

/** Not recursive: an untrusted body may be nested as deeply as it is long. */
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
