/**
 * Detects requests made by a page of another site that is open in the user's browser. Such a page cannot read our answers,
 * but its requests would still be carried out, so those that change something are refused. Programs do not send the
 * headers that browsers send, and are let through.
 */

import { failed, type InspectResponse } from '../inspect-response.ts';
import type { ApiRequest } from '../request.ts';

type Asking = Pick<ApiRequest, 'method' | 'headers'>;
type Headers = ApiRequest['headers'];

/** Undefined if the request does not come from such a page. */
export function foreignPageRejection(
  headers: Headers,
  publicUrl: string | undefined,
): InspectResponse | undefined {
  if (!isFromForeignPage(headers, publicUrl)) return undefined;
  return failed(403, 'ForeignPage', 'Web pages of other sites may not use this server.');
}

export function isFromForeignPage(headers: Headers, publicUrl: string | undefined): boolean {
  // Browsers send it to servers on the same machine and to those with HTTPS.
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site !== 'same-origin' && site !== 'none';
  const { origin } = headers;
  if (origin === undefined) return false;
  const page = hostOf(origin);
  // The origin of pages without a host (`null`, files) is unknown.
  if (page === undefined) return true;
  // A proxy may replace the Host header of the browser; then our pages come from the public URL.
  return ![headers['host'], headers['x-forwarded-host'], hostOf(publicUrl)].includes(page);
}

export interface BrowserNames {
  /** In lower case, without a port. */
  readonly browserHosts: readonly string[];
  readonly publicUrl?: string | undefined;
}

/**
 * A page can reach a server that the user's machine reaches through a name of its own that resolves to it (DNS rebinding). It
 * is then of the same origin and could read everything. So browsers are accepted only under a local name, that of the
 * public URL, or one that the configuration names.
 */
export function foreignNameRejection(
  request: Asking,
  { browserHosts, publicUrl }: BrowserNames,
): InspectResponse | undefined {
  if (!isOfBrowser(request)) return undefined;
  const host = (request.headers['host'] ?? '').toLowerCase();
  const name = host.replace(/:\d+$/, '');
  if (host === hostOf(publicUrl) || isLocalName(name) || browserHosts.includes(name)) {
    return undefined;
  }
  const message =
    'Browsers can use this server only as localhost, or under the names that --allow-host and --public-url give it.';
  return failed(403, 'ForeignName', message);
}

/**
 * Whether a browser sent the request without saying for which page: with GET and HEAD, it sends neither Sec-Fetch-Site nor
 * Origin to a server that has no HTTPS and is on another machine or addressed by another name.
 */
export function isOfUnknownPage(request: Asking): boolean {
  return !isPageTold(request.headers) && isOfBrowser(request);
}

/**
 * Browsers always send Accept-Language, and no page can prevent it. Node's `fetch` sends it too, but with Sec-Fetch-Mode. A
 * program that sends Accept-Language alone cannot be distinguished from a browser; it can use POST.
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

function isLocalName(host: string): boolean {
  return localName.test(host);
}

function hostOf(url: string | undefined): string | undefined {
  return url !== undefined && URL.canParse(url) ? new URL(url).host || undefined : undefined;
}
