/**
 * Whether a request was made by a page of somebody else's that is open in the same browser. Such a page cannot read our
 * answers, but a request that it makes is carried out; so those that change something are refused. Programs send none of
 * these headers and are let through.
 */

import { failed, type InspectResponse } from '../inspect/answers.ts';

type Headers = Readonly<Record<string, string | undefined>>;

/** Undefined if the request is none of those. */
export function foreignPageRejection(
  headers: Headers,
  publicUrl: string | undefined,
): InspectResponse | undefined {
  if (!isFromForeignPage(headers, publicUrl)) return undefined;
  return failed(403, 'ForeignPage', 'Pages of other servers may not use this one.');
}

export function isFromForeignPage(headers: Headers, publicUrl: string | undefined): boolean {
  // Told by browsers themselves, to servers on this machine and on HTTPS.
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site !== 'same-origin' && site !== 'none';
  const { origin } = headers;
  if (origin === undefined) return false;
  const page = hostOf(origin);
  // Pages without a host (`null`, files) are nobody's we know.
  if (page === undefined) return true;
  // A proxy may change the Host that the browser named; then the public URL is what pages come from.
  return ![headers['host'], headers['x-forwarded-host'], hostOf(publicUrl)].includes(page);
}

function hostOf(url: string | undefined): string | undefined {
  return url !== undefined && URL.canParse(url) ? new URL(url).host || undefined : undefined;
}
