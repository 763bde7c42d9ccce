/**
 * A complete HTTP request, which must get one answer, and its bytes. Headers are written as given, so that bad ones are
 * possible.
 */

export interface WholeRequest {
  readonly method: string;
  readonly target: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: Buffer;
  readonly framing: 'length' | 'chunked';
}

export const jsonType = 'application/x-amz-json-1.0';
export const formType = 'application/x-www-form-urlencoded';

export function jsonRequest(action: string, body: string | Buffer): WholeRequest {
  return {
    method: 'POST',
    target: '/',
    headers: [
      ['Content-Type', jsonType],
      ['X-Amz-Target', `AmazonSQS.${action}`],
    ],
    body: Buffer.from(body),
    framing: 'length',
  };
}

export function formRequest(body: string | Buffer, target = '/'): WholeRequest {
  return {
    method: 'POST',
    target,
    headers: [['Content-Type', formType]],
    body: Buffer.from(body),
    framing: 'length',
  };
}

export function getRequest(target: string, method = 'GET'): WholeRequest {
  return { method, target, headers: [], body: Buffer.alloc(0), framing: 'length' };
}

export function bytesOf({ method, target, headers, body, framing }: WholeRequest): Buffer {
  const hasHost = headers.some(([name]) => name.toLowerCase() === 'host');
  const lines = [
    `${method} ${target} HTTP/1.1`,
    ...(hasHost ? [] : ['Host: localhost']),
    ...headers.map(([name, value]) => `${name}: ${value}`),
    framing === 'chunked' ? 'Transfer-Encoding: chunked' : `Content-Length: ${body.length}`,
  ];
  // Header values beyond ASCII are written as single bytes, as old clients do.
  const head = Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
  return Buffer.concat(framing === 'chunked' ? [head, chunked(body)] : [head, body]);
}

/** In chunks of growing size, with an extension and a trailer, which the server must accept. */
function chunked(body: Buffer): Buffer {
  const parts: Buffer[] = [];
  for (let start = 0, size = 1; start < body.length; start += size, size *= 3) {
    const chunk = body.subarray(start, start + size);
    parts.push(Buffer.from(`${chunk.length.toString(16)};ext="a"\r\n`), chunk, Buffer.from('\r\n'));
  }
  return Buffer.concat([...parts, Buffer.from('0\r\nX-Trailer: t\r\n\r\n')]);
}

/** Percent-encodes like encodeURIComponent, and lone surrogates as bytes that are invalid in UTF-8. */
export function encodeForm(text: string): string {
  try {
    return encodeURIComponent(text);
  } catch {
    return [...text]
      .map((character) => {
        const unit = character.length === 1 ? character.charCodeAt(0) : 0;
        if (unit < 0xd800 || unit > 0xdfff) return encodeURIComponent(character);
        const bytes = [0xe0 | (unit >> 12), 0x80 | ((unit >> 6) & 0x3f), 0x80 | (unit & 0x3f)];
        return bytes.map((byte) => `%${byte.toString(16)}`).join('');
      })
      .join('');
  }
}
