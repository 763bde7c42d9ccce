/**
 * PutDataProtectionPolicy (SNS 4.4): stores a text that GetDataProtectionPolicy returns. It has no other effect, as the
 * reference says.
 */

import type { Fault } from '../../protocol/error-codes.ts';
import { type Answer, type Call, doneUnlessRefused } from '../action.ts';

type Input = {
  readonly ResourceArn?: string;
  readonly DataProtectionPolicy?: string;
};

export async function putDataProtectionPolicy(
  input: Input,
  { backend }: Call,
): Promise<Answer | Fault> {
  return doneUnlessRefused(
    await backend.run({
      type: 'put-data-protection',
      resourceArn: input.ResourceArn,
      policy: input.DataProtectionPolicy,
    }),
  );
}
