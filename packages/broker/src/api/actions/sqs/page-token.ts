/**
 * The NextToken of ListQueues and ListDeadLetterSourceQueues (5.7): the last name of the page, in base64url so that
 * clients treat it as opaque. The next page starts after that name, whether or not its queue still exists.
 */

import { type Fault, fault } from '../../protocol/error-codes.ts';

/** What both lists take. */
export type PageInput = { readonly MaxResults?: number; readonly NextToken?: string };

export function writeToken(last: string | undefined): string | undefined {
  return last === undefined ? undefined : Buffer.from(last, 'utf8').toString('base64url');
}

/** The name after which the page starts; undefined without a token. */
export function readToken(token: string | undefined): string | undefined | Fault {
  if (token === undefined) return undefined;
  const name = Buffer.from(token, 'base64url').toString('utf8');
  const isOurs = name !== '' && writeToken(name) === token;
  return isOurs ? name : fault('next-token-invalid', { value: token });
}
