/**
 * Whether a request was made by a page of somebody else's that is open in the same browser. Such a page cannot read our
 * answers, but a request that it makes is carried out; so those that change something are refused. Programs, which do not
 * send what browsers send, are let through.
 */

import { failed, type InspectResponse } from '../inspect/answers.ts';
import type { ApiRequest } from '../request.ts';

type Asking = Pick<ApiRequest, 'method' | 'headers'>;
type Headers = ApiRequest['headers'];

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

/**
 * A page can come to a server on its reader's own machine by a name of its own that leads there (DNS rebinding), and is of
 * the same site then, so that it could read everything. So a server that listens for this machine alone takes pages by the
 * names of this machine, or the one that it is configured to have.
 */
export function foreignNameRejection(
  request: Asking,
  { isLocal, publicUrl }: { readonly isLocal: boolean; readonly publicUrl?: string | undefined },
): InspectResponse | undefined {
  if (!isLocal || !isOfBrowser(request)) return undefined;
  const { host = '' } = request.headers;
  if (host === hostOf(publicUrl) || isLocalName(host.replace(/:\d+$/, ''))) return undefined;
  const message = 'Pages come to this server by the name localhost, or by its --public-url.';
  return failed(403, 'ForeignName', message);
}

/**
 * Whether a browser asks without telling for which page: to a server that is on another machine, or comes by another name,
 * and has no HTTPS, it says neither site nor origin with GET and HEAD.
 */
export function isOfUnknownPage(request: Asking): boolean {
  return !isPageTold(request.headers) && isOfBrowser(request);
}

/**
 * Browsers always say their reader's language, which no page can keep them from. Of programs Node's `fetch` does so too, and
 * says its mode; one that says its language alone cannot be told from a browser, and has POST.
 */
function isOfBrowser({ method, headers }: Asking): boolean {
  const isReading = method === 'GET' || method === 'HEAD';
  const isFetchOfNode = headers['sec-fetch-mode'] !== undefined;
  const hasLanguage = headers['accept-language'] !== undefined;
  return isPageTold(headers) || (isReading && hasLanguage && !isFetchOfNode);
}

function isPageTold(headers: Headers): boolean {
  return headers['sec-fetch-site'] !== undefined || headers['origin'] !== undefined;
}

const localName = /^(127(\.\d{1,3}){3}|\[?::1\]?|([a-z0-9-]+\.)*localhost)$/i;

export function isLocalName(host: string): boolean {
  return localName.test(host);
}

function hostOf(url: string | undefined): string | undefined {
  return url !== undefined && URL.canParse(url) ? new URL(url).host || undefined : undefined;
}
