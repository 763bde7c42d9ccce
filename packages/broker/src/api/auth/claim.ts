/**
 * Parses what a request claims about who signed it, without verifying it: from the Authorization header or, in a presigned
 * URL, from the query string. Error texts are Amazon's; like Amazon, they quote the header only as a hash, so that an
 * answer does not repeat what a stranger wrote.
 *
 * AWS: "Authenticating requests" in the IAM guide, on Signature Version 4.
 */

import { createHash } from 'node:crypto';
import { type Fault, fault } from '../protocol/error-codes.ts';
import type { ApiRequest } from '../request.ts';

const algorithm = 'AWS4-HMAC-SHA256';
const partNames = ['Credential', 'Signature', 'SignedHeaders'];
const presignedSecondsMax = 7 * 86_400;

export interface Claim {
  readonly ok: true;
  readonly accessKeyId: string;
  /** Date, region, service and terminator of the credential scope. */
  readonly scope: readonly [date: string, region: string, service: string, terminator: string];
  /** `20260102T030405Z`, and the same in epoch milliseconds. */
  readonly signedAt: string;
  readonly signedAtMs: number;
  /** How long a presigned URL is valid after `signedAt`; absent for a header, or if the URL does not say. */
  readonly seconds?: number | undefined;
  /** In lower case, sorted, each once. */
  readonly signedHeaders: readonly string[];
  readonly signature: string;
  readonly hasSessionToken: boolean;
}

/** Undefined if the request makes no claim. */
export function readClaim(request: ApiRequest, query: URLSearchParams): Claim | Fault | undefined {
  const header = request.headers['authorization'];
  if (header !== undefined) return readHeader(header, request.headers);
  const isPresigned = query.has('X-Amz-Algorithm') || query.has('X-Amz-Signature');
  return isPresigned ? readPresigned(query) : undefined;
}

function readHeader(header: string, headers: ApiRequest['headers']): Claim | Fault {
  const space = header.indexOf(' ');
  const [kind, rest] =
    space < 0 ? [header, ''] : [header.slice(0, space), header.slice(space + 1).trim()];
  if (kind !== algorithm) return incomplete(`Unsupported AWS 'algorithm': ${hashOf(kind)}.`);
  const parts = new Map<string, string>();
  for (const part of rest === '' ? [] : rest.split(',')) {
    const equals = part.indexOf('=');
    if (equals < 0) {
      const where = 'Invalid key=value pair (missing equal-sign) in Authorization header';
      return incomplete(`${where} ${hashOf(header)}.`);
    }
    const name = part.slice(0, equals).trim();
    if (!partNames.includes(name) || parts.has(name)) {
      return incomplete(`Authorization header must have ${partNames.join(', ')}, each once.`);
    }
    parts.set(name, part.slice(equals + 1).trim());
  }
  const date = headers['x-amz-date'] ?? isoDate(headers['date']);
  const problems = partNames
    .filter((name) => !parts.get(name))
    .map((name) => `Authorization header requires '${name}' parameter.`);
  if (date === undefined) {
    problems.push(
      "Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' header.",
    );
  }
  if (problems.length > 0) return incomplete(`${problems.join(' ')} ${hashOf(header)}`);
  return claimOf({
    credential: parts.get('Credential') ?? '',
    signedAt: date ?? '',
    signedHeaders: parts.get('SignedHeaders') ?? '',
    signature: parts.get('Signature') ?? '',
    hasSessionToken: headers['x-amz-security-token'] !== undefined,
  });
}

function readPresigned(query: URLSearchParams): Claim | Fault {
  const names = ['Algorithm', 'Credential', 'Date', 'SignedHeaders', 'Signature'];
  const missing = names.map((name) => `X-Amz-${name}`).find((name) => !query.get(name));
  if (missing !== undefined) {
    const text = `AWS query-string parameters must include '${missing}'.`;
    return incomplete(`${text} Re-examine the query-string parameters.`);
  }
  const value = (name: string): string => query.get(`X-Amz-${name}`) ?? '';
  if (value('Algorithm') !== algorithm) {
    return incomplete(`Unsupported AWS 'algorithm': ${hashOf(value('Algorithm'))}.`);
  }
  const expires = query.get('X-Amz-Expires');
  const seconds = expires === null ? undefined : Number(expires);
  if (
    seconds !== undefined &&
    !(/^\d{1,6}$/.test(expires ?? '') && seconds <= presignedSecondsMax)
  ) {
    return incomplete(`X-Amz-Expires must be a number from 0 to ${presignedSecondsMax}.`);
  }
  return claimOf({
    credential: value('Credential'),
    signedAt: value('Date'),
    seconds,
    signedHeaders: value('SignedHeaders'),
    signature: value('Signature'),
    hasSessionToken: query.has('X-Amz-Security-Token'),
  });
}

interface Parts extends Pick<Claim, 'signedAt' | 'seconds' | 'signature' | 'hasSessionToken'> {
  readonly credential: string;
  readonly signedHeaders: string;
}

function claimOf({ credential, signedHeaders, ...others }: Parts): Claim | Fault {
  const elements = credential.split('/');
  if (elements.length !== 5) {
    const text = 'Credential must have exactly 5 slash-delimited elements, e.g.';
    return incomplete(`${text} keyid/date/region/service/term, got ${elements.length}.`);
  }
  const signedAtMs = timeOf(others.signedAt);
  if (signedAtMs === undefined) {
    return incomplete("Date must be in ISO-8601 'basic format', like 20260102T030405Z.");
  }
  const names = signedHeaders.split(';');
  const inOrder = [...new Set(names)].sort().join(';');
  if (signedHeaders !== inOrder || signedHeaders !== signedHeaders.toLowerCase()) {
    return incomplete('SignedHeaders must be in lower case and in order, each once.');
  }
  const [accessKeyId, date, region, service, terminator] = elements as [
    string,
    string,
    string,
    string,
    string,
  ];
  return {
    ok: true,
    accessKeyId,
    scope: [date, region, service, terminator],
    signedAtMs,
    signedHeaders: names,
    ...others,
  };
}

/** Converts a Date header to the form of X-Amz-Date, unless it already has it; undefined if it is not a date. */
function isoDate(text = ''): string | undefined {
  if (timeOf(text) !== undefined) return text;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : basicForm(at);
}

/** Undefined if it is not a valid time, such as the 32nd of a month. */
function timeOf(text: string): number | undefined {
  const at = Date.parse(text.replace(/^(....)(..)(..T..)(..)(..Z)$/, '$1-$2-$3:$4:$5'));
  return !Number.isNaN(at) && basicForm(at) === text ? at : undefined;
}

/** Formats epoch milliseconds as `20260102T030405Z`. */
export function basicForm(at: number): string {
  return new Date(at).toISOString().replace(/[-:]|\.\d{3}/g, '');
}

function hashOf(text: string): string {
  const hash = createHash('sha256').update(text).digest('base64');
  return `(hashed with SHA-256 and encoded with Base64): '${hash}'`;
}

function incomplete(reason: string): Fault {
  return fault('signature-incomplete', { reason });
}
