/**
 * RedrivePolicy and RedriveAllowPolicy: reading their JSON (rules 12.1–12.3). Whether the queue that a policy names
 * exists and agrees is checked in queues.ts, which knows the other queues.
 */

import { isArn } from '../arn.ts';
import { type ErrorCode, type Refusal, refuse } from '../errors.ts';
import { parseObject } from '../json-object.ts';
import { receiveCountMax, redriveSourcesMax } from '../limits.ts';

export interface DeadLetter {
  readonly targetArn: string;
  readonly receiveCountMax: number;
}

/** `text` is the form in which Amazon returns the policy: the count as a number, nothing else in it. */
type RedriveRead = { ok: true; text: string; deadLetter: DeadLetter | undefined } | Refusal;

export function readRedrivePolicy(value: string): RedriveRead {
  if (value === '') return { ok: true, text: '', deadLetter: undefined };
  const policy = parseObject(value);
  if (policy === undefined) return refuse('redrive-policy-not-json');
  const invalid = (code: ErrorCode): Refusal => refuse(code, { value });
  const { maxReceiveCount: count, deadLetterTargetArn: targetArn, ...others } = policy;
  if (count === undefined) return invalid('redrive-count-missing');
  if (targetArn === undefined) return invalid('redrive-target-missing');
  if (Object.keys(others).length > 0) return invalid('redrive-members-unknown');
  const isDecimal = typeof count === 'number' || (typeof count === 'string' && /^\d+$/.test(count));
  const times = isDecimal ? Number(count) : Number.NaN;
  if (!Number.isInteger(times) || times < 1 || times > receiveCountMax) {
    const shown = typeof count === 'object' ? JSON.stringify(count) : String(count);
    return refuse('redrive-count-invalid', { value, count: shown });
  }
  if (typeof targetArn !== 'string' || !isArn(targetArn)) return invalid('redrive-target-invalid');
  return {
    ok: true,
    text: JSON.stringify({ deadLetterTargetArn: targetArn, maxReceiveCount: times }),
    deadLetter: { targetArn, receiveCountMax: times },
  };
}

/** `sources` are the only ones allowed; undefined allows all. */
type AllowRead = { ok: true; sources: readonly string[] | undefined } | Refusal;

export function readRedriveAllowPolicy(value: string): AllowRead {
  if (value === '') return { ok: true, sources: undefined };
  const policy = parseObject(value);
  if (policy === undefined) return refuse('redrive-allow-not-json');
  const { redrivePermission: permission, sourceQueueArns: sources } = policy;
  if (permission !== 'allowAll' && permission !== 'denyAll' && permission !== 'byQueue') {
    return refuse('redrive-allow-permission', { value });
  }
  if (permission !== 'byQueue') {
    if (sources !== undefined) return refuse('redrive-allow-sources', { value });
    return { ok: true, sources: permission === 'denyAll' ? [] : undefined };
  }
  const isList =
    Array.isArray(sources) &&
    sources.length >= 1 &&
    sources.length <= redriveSourcesMax &&
    sources.every((source) => typeof source === 'string');
  return isList ? { ok: true, sources } : refuse('redrive-allow-sources', { value });
}
