/**
 * GetDataProtectionPolicy (SNS 4.4): returns the text that PutDataProtectionPolicy stored, or an empty one if the topic
 * has none.
 */

import type { Fault } from '../../protocol/error-codes.ts';
import type { Answer, Call } from '../action.ts';

type Input = { readonly ResourceArn?: string };

export async function getDataProtectionPolicy(
  input: Input,
  { backend }: Call,
): Promise<Answer | Fault> {
  const resourceArn = input.ResourceArn;
  const outcome = await backend.run({ type: 'get-data-protection', resourceArn });
  return outcome.ok ? { ok: true, output: { DataProtectionPolicy: outcome.policy } } : outcome;
}
