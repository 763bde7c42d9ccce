/**
 * Who calls an action, and which actions may be called anonymously. Every key belongs to the server's one account, whose
 * callers may do everything. If signatures are not checked, everybody may, except pages of other sites: a browser would
 * let them send forms to a server on the same machine.
 */

import { type Fault, fault } from '../protocol/error-codes.ts';
import type { NamedAction } from '../protocol/wire-form.ts';
import type { ApiRequest } from '../request.ts';
import type { Authentication } from './authentication.ts';
import type { Credential } from './credential.ts';
import { isFromForeignPage, isOfUnknownPage } from './foreign-page.ts';

export interface Caller {
  readonly ok: true;
  /** Absent if signatures are not checked, or if the request has none. */
  readonly credential?: Credential;
  /** Signatures are checked, and the request has none. */
  readonly isAnonymous?: boolean;
}

const anybody: Caller = { ok: true };
const nobody: Caller = { ok: true, isAnonymous: true };

/** The links that SNS posts call these actions without a signature; the actions themselves limit what that allows. */
const openActions: ReadonlySet<string> = new Set(['ConfirmSubscription', 'Unsubscribe']);

/** The caller if signatures are not checked. */
export function unsignedCallerOf(
  request: ApiRequest,
  { name }: NamedAction,
  publicUrl: string | undefined,
): Caller | Fault {
  const isForeign = isFromForeignPage(request.headers, publicUrl) || isOfUnknownPage(request);
  if (!isForeign || openActions.has(name)) return anybody;
  return fault('access-denied', { resource: request.path });
}

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
