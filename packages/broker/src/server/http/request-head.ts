/**
 * Parses the head of a request if it has the plain form that nearly all requests of AWS clients have: a POST with a
 * Content-Length, each header once, only ASCII without tabs, and well within the bounds of node:http. A request of any
 * other form is not judged here: node:http parses it, and reports what is wrong with it.
 */

import { detached } from '../../core/detached.ts';

export interface RequestHead {
  readonly path: string;
  /** The part after the question mark; empty if there is none. */
  readonly query: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly bodyBytes: number;
}

/** node:http refuses heads of more than 16 KiB. */
const plainHeadBytesMax = 8 * 1024;
/** node:http drops headers beyond the thousandth. */
const plainHeadersMax = 100;

const plainHead = /^POST \/[!-~]* HTTP\/1\.1(?:\r\n[A-Za-z0-9-]+:[ -~]*)+$/;
const methodLength = 'POST '.length;
const versionLength = ' HTTP/1.1'.length;
const plainLength = /^\d{1,9}$/;

/** Headers that change how a request is read or answered, or show that a web page sent it. */
const unusualHeaders: ReadonlySet<string> = new Set([
  'expect',
  'origin',
  'sec-fetch-site',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** `text` is everything before the empty line. Undefined if the head does not have the plain form. */
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
    const name = usualNameOf(text.slice(begin, colon));
    // This also refuses names that every object inherits (`constructor`), which no client uses for a header.
    if (name === undefined || headers[name] !== undefined) return undefined;
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

/**
 * Usual names in lower case, by the form in which clients wrote them. Clients send the same few with every request, and one that
 * is known takes half the time: it is no new text, which would have to be made, and searched among all property names. Cleared
 * when full; long names, which nobody uses, are not remembered.
 */
const namesMax = 200;
const rememberedLengthMax = 64;
const names: Map<string, string> = new Map();

/** In lower case; undefined for one of the unusual headers. */
function usualNameOf(name: string): string | undefined {
  const known = names.get(name);
  if (known !== undefined) return known;
  const copy = detached(name);
  const lowerCase = copy.toLowerCase();
  if (unusualHeaders.has(lowerCase)) return undefined;
  if (name.length > rememberedLengthMax) return lowerCase;
  if (names.size === namesMax) names.clear();
  names.set(copy, lowerCase);
  return lowerCase;
}

export function partsOf(target: string): Pick<RequestHead, 'path' | 'query'> {
  const mark = target.indexOf('?');
  return mark < 0
    ? { path: target, query: '' }
    : { path: target.slice(0, mark), query: target.slice(mark + 1) };
}
