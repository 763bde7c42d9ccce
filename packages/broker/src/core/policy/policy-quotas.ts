/**
 * Amazon's quotas on the policies of queues and topics (SQS "Amazon SQS policy quotas", SNS "Policy quotas"). A policy is
 * asked for every delivery, so its size is what a delivery may cost.
 *
 * Bytes and statements count for the whole policy; actions, principals and conditions for each statement, the reading
 * under which policies that Amazon is known to accept pass. What was stored before there were quotas stays, and allows
 * nothing (`isOversized`).
 */

import { utf8Length } from '../digest/digests.ts';
import type { Policy } from './policy.ts';

export interface PolicyQuotas {
  readonly bytes: number;
  readonly statements: number;
  readonly principals: number;
  readonly actions: number;
  readonly conditions: number;
}

export const queuePolicyQuotas: PolicyQuotas = {
  bytes: 8_192,
  statements: 20,
  principals: 50,
  actions: 7,
  conditions: 10,
};

/** Amazon names no quota for actions and conditions of a topic's policy; its bytes bound them. */
export const topicPolicyQuotas: PolicyQuotas = {
  bytes: 30_720,
  statements: 100,
  principals: 200,
  actions: Number.POSITIVE_INFINITY,
  conditions: Number.POSITIVE_INFINITY,
};

/** The quota that a policy exceeds. */
export interface Excess {
  readonly what: keyof PolicyQuotas;
  readonly count: number;
  readonly limit: number;
}

/** `policy` is what was read from the `text`. */
export function excessOf(
  text: string,
  { statements }: Policy,
  quotas: PolicyQuotas,
): Excess | undefined {
  const excess =
    beyond('bytes', utf8Length(text), quotas) ?? beyond('statements', statements.length, quotas);
  if (excess !== undefined) return excess;
  for (const { actions, principals, conditions } of statements) {
    const found =
      beyond('actions', actions.values.length, quotas) ??
      beyond('principals', principals.values.length, quotas) ??
      beyond('conditions', conditions.length, quotas);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Whether a stored policy is longer than any that is accepted. A character takes a byte or more. */
export function isOversized(text: string, { bytes }: PolicyQuotas): boolean {
  return text.length > bytes;
}

function beyond(what: keyof PolicyQuotas, count: number, quotas: PolicyQuotas): Excess | undefined {
  const limit = quotas[what];
  return count > limit ? { what, count, limit } : undefined;
}
