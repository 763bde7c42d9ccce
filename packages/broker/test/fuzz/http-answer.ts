/**
 * Reads HTTP answers off a socket, strictly: what a client library would tolerate is a fault here. It does not use Node's
 * own client, which hides what was on the wire.
 */

export interface HttpAnswer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Buffer;
}

export interface Taking {
  /** The answer to HEAD has no body, whatever its headers say. */
  readonly isHead?: boolean;
  /** No more bytes will follow, which ends an answer without a length. */
  readonly hasEnded?: boolean;
}

const headEnd = Buffer.from('\r\n\r\n');

/** Takes bytes as they arrive and returns each answer once it is complete. */
export class AnswerReader {
  #bytes: Buffer = Buffer.alloc(0);

  push(chunk: Buffer): void {
    this.#bytes = this.#bytes.length === 0 ? chunk : Buffer.concat([this.#bytes, chunk]);
  }

  get isEmpty(): boolean {
    return this.#bytes.length === 0;
  }

  /** The next complete answer; undefined until there is one. */
  take({ isHead = false, hasEnded = false }: Taking = {}): HttpAnswer | undefined {
    for (;;) {
      const end = this.#bytes.indexOf(headEnd);
      if (end < 0) return undefined;
      const { status, headers } = readHead(this.#bytes.toString('latin1', 0, end));
      const start = end + headEnd.length;
      if (status >= 100 && status < 200) {
        this.#bytes = this.#bytes.subarray(start);
        continue;
      }
      const framed = isHead
        ? { body: Buffer.alloc(0), end: start }
        : frame(headers, this.#bytes, start, hasEnded);
      if (framed === undefined) return undefined;
      this.#bytes = this.#bytes.subarray(framed.end);
      return { status, headers, body: framed.body };
    }
  }
}

type Framed = { readonly body: Buffer; readonly end: number };

/** The body that starts there, and where it ends; undefined while it is incomplete. */
function frame(
  headers: HttpAnswer['headers'],
  bytes: Buffer,
  start: number,
  hasEnded: boolean,
): Framed | undefined {
  const length = headers.get('content-length');
  const encoding = headers.get('transfer-encoding');
  if (length !== undefined && encoding !== undefined) throw new Error('two lengths');
  if (encoding !== undefined) {
    if (encoding !== 'chunked') throw new Error(`Transfer-Encoding is ${encoding}`);
    return frameChunks(bytes, start);
  }
  if (length !== undefined) {
    if (!/^\d+$/.test(length)) throw new Error(`Content-Length is ${length}`);
    const end = start + Number(length);
    return bytes.length < end ? undefined : { body: bytes.subarray(start, end), end };
  }
  if (headers.get('connection') !== 'close') throw new Error('no length, and not closed either');
  return hasEnded ? { body: bytes.subarray(start), end: bytes.length } : undefined;
}

function frameChunks(bytes: Buffer, start: number): Framed | undefined {
  const chunks: Buffer[] = [];
  for (let at = start; ; ) {
    const lineEnd = bytes.indexOf('\r\n', at);
    if (lineEnd < 0) return undefined;
    const size = bytes.toString('latin1', at, lineEnd);
    if (!/^[0-9a-f]{1,7}$/i.test(size)) throw new Error(`a chunk of ${JSON.stringify(size)} bytes`);
    const length = Number.parseInt(size, 16);
    const end = lineEnd + 2 + length;
    if (bytes.length < end + 2) return undefined;
    if (bytes.toString('latin1', end, end + 2) !== '\r\n') throw new Error('a chunk too long');
    chunks.push(bytes.subarray(lineEnd + 2, end));
    at = end + 2;
    if (length === 0) return { body: Buffer.concat(chunks), end: at };
  }
}

function readHead(text: string): { status: number; headers: Map<string, string> } {
  const [first = '', ...lines] = text.split('\r\n');
  const found = /^HTTP\/1\.1 ([1-5]\d\d) [ -~]+$/.exec(first);
  if (found === null) throw new Error(`no status line: ${JSON.stringify(first.slice(0, 200))}`);
  const headers = new Map<string, string>();
  for (const line of lines) {
    const parts = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+): ?([\t -~\x80-\xff]*)$/.exec(line);
    if (parts === null) throw new Error(`no header: ${JSON.stringify(line.slice(0, 200))}`);
    const name = (parts[1] as string).toLowerCase();
    if (headers.has(name)) throw new Error(`the header ${name} comes twice`);
    headers.set(name, parts[2] as string);
  }
  return { status: Number(found[1]), headers };
}
