/**
 * Determines who sent a request: the credential whose secret signed it, or a refusal in Amazon's words. Checks run in this
 * order: the form of the claim, its scope, its age, its signed headers, the key, and last the signature.
 *
 * Time is that of the wall clock, whatever clock the queues use: clients sign with the time of their own machine, even in
 * a test that moves the queues' time by a week.
 */

import { timingSafeEqual } from 'node:crypto';
import { type Fault, fault } from '../protocol/error-codes.ts';
import type { Service } from '../protocol/wire-form.ts';
import type { ApiRequest } from '../request.ts';
import { basicForm, type Claim, readClaim } from './claim.ts';
import type { Credential } from './credential.ts';
import { expectedSignature } from './expected-signature.ts';

/** How far a client's clock may be off, and how old a signature may be. */
const skewMinutes = 15;
const terminator = 'aws4_request';

export interface AuthenticationOptions {
  readonly credentials: readonly Credential[];
  readonly region: string;
  /** Wall time in epoch milliseconds. */
  readonly now: () => number;
}

export interface Signer {
  readonly ok: true;
  readonly credential: Credential;
}

export interface Authentication {
  /** Undefined for a request without a signature; the caller decides whether that is acceptable. */
  signerOf(request: ApiRequest, service: Service): Promise<Signer | Fault | undefined>;
  /** The credential with this id and secret. */
  find(accessKeyId: string, secretAccessKey: string): Credential | undefined;
}

export function createAuthentication(options: AuthenticationOptions): Authentication {
  const byId = new Map(options.credentials.map((each) => [each.accessKeyId, each]));
  return {
    signerOf: async (request, service) => {
      const query = new URLSearchParams(request.query);
      const claim = readClaim(request, query);
      if (claim === undefined || !claim.ok) return claim;
      const problem =
        scopeProblem(claim, service, options.region) ??
        timeProblem(claim, options.now()) ??
        headerProblem(claim, request.headers);
      if (problem !== undefined) return problem;
      const credential = byId.get(claim.accessKeyId);
      // AWS STS issues session tokens, and this server has no STS: a token must come from elsewhere.
      if (credential === undefined || claim.hasSessionToken) return fault('access-key-unknown');
      const expected = await expectedSignature(request, query, claim, credential);
      const isRight = expected !== undefined && isSame(expected, claim.signature);
      return isRight ? { ok: true, credential } : fault('signature-mismatch');
    },
    find: (accessKeyId, secretAccessKey) => {
      const credential = byId.get(accessKeyId);
      const isRight =
        credential !== undefined && isSame(credential.secretAccessKey, secretAccessKey);
      return isRight ? credential : undefined;
    },
  };
}

function scopeProblem(claim: Claim, service: Service, region: string): Fault | undefined {
  const [date, claimedRegion, claimedService, end] = claim.scope;
  if (end !== terminator) return fault('scope-terminator', { terminator: end });
  if (claimedService !== service) return fault('scope-service', { service });
  if (claimedRegion !== region) return fault('scope-region', { region: claimedRegion });
  const day = claim.signedAt.slice(0, 8);
  return date === day ? undefined : fault('scope-date', { date, day, signedAt: claim.signedAt });
}

function timeProblem({ signedAt, signedAtMs, seconds }: Claim, now: number): Fault | undefined {
  const minutes = seconds === undefined ? skewMinutes : seconds / 60;
  const detail = { signedAt, now: basicForm(now) };
  const earliest = now - minutes * 60_000;
  if (signedAtMs < earliest) {
    return fault('signature-expired', { ...detail, earliest: basicForm(earliest), minutes });
  }
  const latest = now + skewMinutes * 60_000;
  if (signedAtMs <= latest) return undefined;
  return fault('signature-early', { ...detail, latest: basicForm(latest), minutes: skewMinutes });
}

/** Headers that decide where a request goes and what it does must be signed, or they could be changed in transit. */
function headerProblem(claim: Claim, headers: ApiRequest['headers']): Fault | undefined {
  if (!claim.signedHeaders.includes('host')) {
    return fault('header-unsigned', { header: "'Host' or ':authority'" });
  }
  const unsigned = Object.keys(headers).find(
    (name) => name.startsWith('x-amz-') && !claim.signedHeaders.includes(name),
  );
  return unsigned === undefined ? undefined : fault('header-unsigned', { header: `'${unsigned}'` });
}

/** Compares in constant time, so that timing does not reveal how much of a guess is right. */
function isSame(expected: string, given: string): boolean {
  const [left, right] = [Buffer.from(expected), Buffer.from(given)];
  return left.length === right.length && timingSafeEqual(left, right);
}
