/**
 * The head of a request, if it has the plain form that AWS clients give to nearly all of theirs: a POST with a length that it
 * tells, each header once, nothing but ASCII without tabs, and well within the bounds of node:http. Whatever has another form
 * is not judged here: node:http reads it, and knows what is wrong with it.
 */

export interface RequestHead {
  readonly path: string;
  /** What stands behind the question mark; empty if there is nothing. */
  readonly query: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly bodyBytes: number;
}

/** node:http refuses a head of over 16 KiB. */
const plainHeadBytesMax = 8 * 1024;
/** node:http leaves headers away beyond its thousandth. */
const plainHeadersMax = 100;

const plainHead = /^POST \/[!-~]* HTTP\/1\.1(?:\r\n[A-Za-z0-9-]+:[ -~]*)+$/;
const methodLength = 'POST '.length;
const versionLength = ' HTTP/1.1'.length;
const plainLength = /^\d{1,9}$/;

/** What changes how a request is read or answered; or tells that a page of a browser's makes it. */
const unusualHeaders: ReadonlySet<string> = new Set([
  'expect',
  'origin',
  'sec-fetch-site',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** `text` is all before the empty line. Undefined if its form is not the plain one. */
export function readPlainHead(text: string): RequestHead | undefined {
  if (text.length > plainHeadBytesMax || !plainHead.test(text)) return undefined;
  const headers: Record<string, string> = {};
  let count = 0;
  let end = text.indexOf('\r\n');
  const target = text.slice(methodLength, end - versionLength);
  while (end !== text.length) {
    const begin = end + 2;
    const colon = text.indexOf(':', begin);
    end = text.indexOf('\r\n', colon);
    if (end < 0) end = text.length;
    const name = text.slice(begin, colon).toLowerCase();
    // Also true of what every object has (`constructor`), which is no header of anybody's.
    if (unusualHeaders.has(name) || headers[name] !== undefined) return undefined;
    headers[name] = text.slice(colon + 1, end).trim();
    count += 1;
    if (count > plainHeadersMax) return undefined;
  }
  const { host, connection, 'content-length': length } = headers;
  if (host === undefined || length === undefined || !plainLength.test(length)) return undefined;
  if (connection !== undefined && connection.toLowerCase() !== 'keep-alive') return undefined;
  const { path, query } = partsOf(target);
  return { path, query, headers, bodyBytes: Number(length) };
}

export function partsOf(target: string): Pick<RequestHead, 'path' | 'query'> {
  const mark = target.indexOf('?');
  return mark < 0
    ? { path: target, query: '' }
    : { path: target.slice(0, mark), query: target.slice(mark + 1) };
}
