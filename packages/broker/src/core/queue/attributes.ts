/**
 * Queue attributes: the table of every name with its default and its range, and the two checks over it (rules 5.2,
 * 5.5, 5.10, §6). Names and values have Amazon's spelling here, although core otherwise uses its own terms: which names
 * exist, how a value reads back, and which differ, are themselves the rules.
 *
 * Only what was set is stored; defaults fill in the rest. `settingsOf` turns the result into what the rest of core
 * works with.
 */

import type { Attributes } from '../commands.ts';
import type { DeduplicationScope } from '../deduplication/window.ts';
import { type Refusal, refuse } from '../errors.ts';
import {
  deduplicationSecondsDefault,
  deduplicationSecondsMax,
  delaySecondsMax,
  messageSizeBytesMax,
  messageSizeBytesMin,
  retentionSecondsMax,
  retentionSecondsMin,
  visibilitySecondsMax,
  waitSecondsMax,
} from '../limits.ts';
import { type Policy, parsePolicy } from '../policy/policy.ts';
import { type Excess, excessOf, isOversized, queuePolicyQuotas } from '../policy/policy-quotas.ts';
import { readRedriveAllowPolicy, readRedrivePolicy } from './redrive-policy.ts';

export type Profile = 'aws' | 'yandex';

/** The attributes as the engine uses them. */
export interface QueueSettings {
  readonly visibilityMs: number;
  readonly delayMs: number;
  readonly sizeBytesMax: number;
  readonly retentionMs: number;
  readonly waitMs: number;
  readonly isContentBased: boolean;
  readonly scope: DeduplicationScope;
  readonly windowMs: number;
  readonly profile: Profile;
  readonly deadLetter: { readonly targetArn: string; readonly receiveCountMax: number } | undefined;
  /** Undefined also if it cannot be read, or exceeds the quotas. */
  readonly policy: Policy | undefined;
}

type Kind =
  | { readonly type: 'integer'; readonly min: number; readonly max: number }
  | { readonly type: 'boolean' }
  | { readonly type: 'choice'; readonly values: readonly string[] }
  | { readonly type: 'text' | 'policy' | 'redrive-policy' | 'redrive-allow-policy' };

interface AttributeRow {
  readonly kind: Kind;
  readonly default?: string;
  /** Set for attributes of FIFO queues only: how they are refused on a standard queue, which differs by name (6.2). */
  readonly fifo?: 'attribute-unknown' | 'attribute-fifo-only';
  /** Not among Amazon's attributes: shown when it is asked for by name or differs from its default. */
  readonly isOurs?: boolean;
}

function integer(min: number, max: number): Kind {
  return { type: 'integer', min, max };
}

const table: Readonly<Record<string, AttributeRow>> = {
  VisibilityTimeout: { kind: integer(0, visibilitySecondsMax), default: '30' },
  DelaySeconds: { kind: integer(0, delaySecondsMax), default: '0' },
  MaximumMessageSize: {
    kind: integer(messageSizeBytesMin, messageSizeBytesMax),
    default: String(messageSizeBytesMax),
  },
  MessageRetentionPeriod: {
    kind: integer(retentionSecondsMin, retentionSecondsMax),
    default: '345600',
  },
  ReceiveMessageWaitTimeSeconds: { kind: integer(0, waitSecondsMax), default: '0' },
  SqsManagedSseEnabled: { kind: { type: 'boolean' }, default: 'true' },
  KmsMasterKeyId: { kind: { type: 'text' } },
  KmsDataKeyReusePeriodSeconds: { kind: integer(60, 86_400) },
  Policy: { kind: { type: 'policy' } },
  RedrivePolicy: { kind: { type: 'redrive-policy' } },
  RedriveAllowPolicy: { kind: { type: 'redrive-allow-policy' } },
  FifoQueue: { kind: { type: 'boolean' }, fifo: 'attribute-unknown' },
  ContentBasedDeduplication: {
    kind: { type: 'boolean' },
    default: 'false',
    fifo: 'attribute-unknown',
  },
  DeduplicationScope: {
    kind: { type: 'choice', values: ['queue', 'messageGroup'] },
    default: 'queue',
    fifo: 'attribute-fifo-only',
  },
  FifoThroughputLimit: {
    kind: { type: 'choice', values: ['perQueue', 'perMessageGroupId'] },
    default: 'perQueue',
    fifo: 'attribute-fifo-only',
  },
  DeduplicationIntervalSeconds: {
    kind: integer(1, deduplicationSecondsMax),
    default: String(deduplicationSecondsDefault),
    fifo: 'attribute-fifo-only',
    isOurs: true,
  },
  Profile: {
    kind: { type: 'choice', values: ['aws', 'yandex'] },
    default: 'aws',
    fifo: 'attribute-fifo-only',
    isOurs: true,
  },
};

export const settableAttributes: readonly string[] = Object.keys(table);

/** Attributes that can be read and not set. */
const readOnlyAttributes: readonly string[] = [
  'QueueArn',
  'CreatedTimestamp',
  'LastModifiedTimestamp',
  'ApproximateNumberOfMessages',
  'ApproximateNumberOfMessagesNotVisible',
  'ApproximateNumberOfMessagesDelayed',
];

export function isAttributeName(name: string): boolean {
  return name === 'All' || rowOf(name) !== undefined || readOnlyAttributes.includes(name);
}

/** Defaults overlaid with what was set. `asked` are names that are shown even if they are ours and at their default. */
export function shownAttributes(
  isFifo: boolean,
  stored: Attributes,
  asked: readonly string[] = [],
): Record<string, string> {
  const shown: Record<string, string> = {};
  for (const [name, row] of Object.entries(table)) {
    if (row.fifo !== undefined && !isFifo) continue;
    const value = stored[name] ?? row.default;
    if (value === undefined) continue;
    if (row.isOurs && value === row.default && !asked.includes(name)) continue;
    shown[name] = value;
  }
  return shown;
}

/** An attribute as it was given, in the form in which it is stored; empty text removes it. */
export interface GivenAttribute {
  readonly name: string;
  readonly text: string;
  /** The dead-letter queue that a RedrivePolicy names. */
  readonly targetArn?: string | undefined;
}

/** Checks each name and value on its own: does this kind of queue have the attribute, and is the value allowed? */
export function readAttributes(
  isFifo: boolean,
  given: Attributes,
): { ok: true; values: readonly GivenAttribute[] } | Refusal {
  const values: GivenAttribute[] = [];
  for (const [name, value] of Object.entries(given)) {
    const row = rowOf(name);
    if (row === undefined) return refuse('attribute-unknown', { attribute: name });
    if (row.fifo !== undefined && !isFifo) return refuse(row.fifo, { attribute: name });
    const read = readValue(name, row, String(value));
    if (!read.ok) return read;
    if (name === 'FifoQueue' && read.text !== 'true') return refuse('queue-type-fixed');
    values.push({ name, text: read.text, targetArn: read.targetArn });
  }
  return { ok: true, values };
}

/** The stored attributes with the given ones applied, or why they do not go together. All or nothing. */
export function changedAttributes(
  stored: Attributes,
  given: readonly GivenAttribute[],
): { ok: true; stored: Record<string, string> } | Refusal {
  const changed: Record<string, string> = { ...stored };
  for (const { name, text } of given) {
    if (text === '') delete changed[name];
    else changed[name] = text;
  }
  return checkTogether(changed, given);
}

/** The first given attribute that setting would change. */
export function firstDifference(
  isFifo: boolean,
  stored: Attributes,
  given: readonly GivenAttribute[],
): string | undefined {
  const names = given.map(({ name }) => name);
  const current = shownAttributes(isFifo, stored, names);
  const set = changedAttributes(stored, given);
  // Values that cannot be set together are not the queue's either.
  if (!set.ok) return given.find(({ name, text }) => text !== (current[name] ?? ''))?.name;
  const wanted = shownAttributes(isFifo, set.stored, names);
  return names.find((name) => wanted[name] !== current[name]);
}

export function settingsOf(isFifo: boolean, stored: Attributes): QueueSettings {
  const shown = shownAttributes(isFifo, stored, Object.keys(table));
  const ms = (name: string): number => Number(shown[name]) * 1000;
  const redrive = readRedrivePolicy(shown['RedrivePolicy'] ?? '');
  return {
    visibilityMs: ms('VisibilityTimeout'),
    delayMs: ms('DelaySeconds'),
    sizeBytesMax: Number(shown['MaximumMessageSize']),
    retentionMs: ms('MessageRetentionPeriod'),
    waitMs: ms('ReceiveMessageWaitTimeSeconds'),
    isContentBased: shown['ContentBasedDeduplication'] === 'true',
    scope: shown['DeduplicationScope'] === 'messageGroup' ? 'messageGroup' : 'queue',
    windowMs: isFifo ? ms('DeduplicationIntervalSeconds') : 0,
    profile: shown['Profile'] === 'yandex' ? 'yandex' : 'aws',
    deadLetter: redrive.ok ? redrive.deadLetter : undefined,
    policy: usablePolicy(shown['Policy'] ?? ''),
  };
}

function rowOf(name: string): AttributeRow | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}

type Read = { ok: true; text: string; targetArn?: string | undefined } | Refusal;

/** A value in the form in which it is stored; empty to remove the attribute. */
function readValue(name: string, row: AttributeRow, value: string): Read {
  const { kind } = row;
  const invalid = refuse('attribute-value-invalid', { attribute: name });
  switch (kind.type) {
    case 'integer': {
      const isInRange =
        /^\d{1,9}$/.test(value) && Number(value) >= kind.min && Number(value) <= kind.max;
      return isInRange ? { ok: true, text: String(Number(value)) } : invalid;
    }
    case 'boolean': {
      const text = value.toLowerCase();
      return text === 'true' || text === 'false' ? { ok: true, text } : invalid;
    }
    case 'choice':
      return kind.values.includes(value) ? { ok: true, text: value } : invalid;
    case 'text':
      return { ok: true, text: value };
    case 'policy': {
      if (value === '') return { ok: true, text: value };
      const read = parsePolicy(value);
      if (!read.ok) return invalid;
      return (
        refusalOfExcess(excessOf(value, read.policy, queuePolicyQuotas)) ?? {
          ok: true,
          text: value,
        }
      );
    }
    case 'redrive-policy': {
      const read = readRedrivePolicy(value);
      return read.ok ? { ok: true, text: read.text, targetArn: read.deadLetter?.targetArn } : read;
    }
    case 'redrive-allow-policy': {
      const read = readRedriveAllowPolicy(value);
      return read.ok ? { ok: true, text: value } : read;
    }
  }
}

/** A stored policy that is not read, or longer than any that is accepted, allows nothing. */
export function usablePolicy(text: string): Policy | undefined {
  if (text === '' || isOversized(text, queuePolicyQuotas)) return undefined;
  const read = parsePolicy(text);
  return read.ok ? read.policy : undefined;
}

function refusalOfExcess(excess: Excess | undefined): Refusal | undefined {
  if (excess === undefined) return undefined;
  const { what, count, limit } = excess;
  return refuse(`policy-${what}`, { count, limit });
}

/** The rules that involve two attributes, applied to what would be in effect (6.4, 6.5 and the notes of the table in §6). */
function checkTogether(
  stored: Record<string, string>,
  given: readonly GivenAttribute[],
): { ok: true; stored: Record<string, string> } | Refusal {
  const isGrouped = stored['DeduplicationScope'] === 'messageGroup';
  if (stored['FifoThroughputLimit'] === 'perMessageGroupId' && !isGrouped) {
    return refuse('throughput-needs-group-scope');
  }
  if (stored['KmsMasterKeyId'] !== undefined) {
    const asksForBoth = given.some(
      ({ name, text }) => name === 'SqsManagedSseEnabled' && text === 'true',
    );
    if (asksForBoth) return refuse('encryption-twice');
    stored['SqsManagedSseEnabled'] = 'false';
  } else if (stored['KmsDataKeyReusePeriodSeconds'] === '300') {
    delete stored['KmsDataKeyReusePeriodSeconds'];
  }
  return { ok: true, stored };
}
