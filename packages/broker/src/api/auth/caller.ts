/**
 * Who is behind a call of an action, and which actions may be called by nobody in particular. Every key belongs to the
 * server's one account, whose callers may do everything.
 */

import { type Fault, fault } from '../protocol/error-codes.ts';
import type { NamedAction } from '../protocol/wire-form.ts';
import type { ApiRequest } from '../request.ts';
import type { Authentication } from './authentication.ts';
import type { Credential } from './credential.ts';

export interface Caller {
  readonly ok: true;
  /** Absent where signatures are not checked, and for a request without one. */
  readonly credential?: Credential;
  /** Signatures are checked, and the request has none. */
  readonly isAnonymous?: boolean;
}

/** Where signatures are not checked. */
export const anybody: Caller = { ok: true };
const nobody: Caller = { ok: true, isAnonymous: true };

/** The links in what SNS posts are these actions without a signature; the actions themselves say how far that goes. */
const openActions: ReadonlySet<string> = new Set(['ConfirmSubscription', 'Unsubscribe']);

export async function callerOf(
  request: ApiRequest,
  { name, service }: NamedAction,
  authentication: Authentication,
  baseUrl: string,
): Promise<Caller | Fault> {
  const signer = await authentication.signerOf(request, service);
  if (signer !== undefined) return signer;
  if (openActions.has(name)) return nobody;
  if (service === 'sns') return fault('signature-missing');
  return fault('access-denied', { resource: baseUrl + request.path });
}
