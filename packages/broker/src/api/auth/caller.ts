/**
 * Who calls an action, and which actions may be called anonymously. Every key belongs to the server's one account, whose
 * callers may do everything. If signatures are not checked, everybody may, except pages of other sites: a browser would
 * let them send forms to a server on the same machine.
 */

import { isJsonRequest } from '../protocol/body-size.ts';
import { type Fault, fault } from '../protocol/error-codes.ts';
import type { Glimpse, NamedAction, Service } from '../protocol/wire-form.ts';
import type { ApiRequest } from '../request.ts';
import type { Authentication } from './authentication.ts';
import type { Credential } from './credential.ts';
import { isFromForeignPage, isOfUnknownPage } from './foreign-page.ts';

export interface Caller {
  readonly ok: true;
  /** Absent if signatures are not checked, or if the request has none. */
  readonly credential?: Credential;
  /** The service that the signature is for. */
  readonly service?: Service;
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

/** The links that SNS posts are short, and so is all that a browser or a subscriber sends with them. */
const openBodyBytesMax = 64 * 1024;

/**
 * Who sent a request, judged by its bytes alone: its body is not parsed before. `glimpse` is what it seems to ask for; once it
 * is parsed, `callProblem` has the last word.
 */
export async function callerOf(
  request: ApiRequest,
  glimpse: Pick<Glimpse<NamedAction>, 'service'>,
  authentication: Authentication,
  resource: string,
): Promise<Caller | Fault> {
  const signer = await authentication.signerOf(request, glimpse.service);
  if (signer !== undefined) return signer.ok ? { ...signer, service: glimpse.service } : signer;
  const mayBeOpen = !isJsonRequest(request.headers) && request.body.length <= openBodyBytesMax;
  return mayBeOpen ? nobody : unsigned(glimpse.service, resource);
}

/** Why the caller may not call this action; undefined if it may. */
export function callProblem(
  caller: Caller,
  { name, service }: NamedAction,
  resource: string,
): Fault | undefined {
  if (caller.isAnonymous === true) {
    return openActions.has(name) ? undefined : unsigned(service, resource);
  }
  return caller.service === service ? undefined : fault('scope-service', { service });
}

function unsigned(service: Service, resource: string): Fault {
  return service === 'sns' ? fault('signature-missing') : fault('access-denied', { resource });
}
