/**
 * The NextToken of ListQueues and ListDeadLetterSourceQueues (5.7): the last name of the page, in base64url so that
 * nobody takes it for more. The next page starts behind that name, whether or not its queue is still there.
 */

import { type Fault, fault } from '../../protocol/error-codes.ts';

/** What both lists take. */
export type PageInput = { readonly MaxResults?: number; readonly NextToken?: string };

export function writeToken(last: string | undefined): string | undefined {
  return last === undefined ? undefined : Buffer.from(last, 'utf8').toString('base64url');
}

/** The name behind which the page starts; undefined without a token. */
export function readToken(token: string | undefined): string | undefined | Fault {
  if (token === undefined) return undefined;
  const name = Buffer.from(token, 'base64url').toString('utf8');
  const isOurs = name !== '' && writeToken(name) === token;
  return isOurs ? name : fault('next-token-invalid', { value: token });
}
