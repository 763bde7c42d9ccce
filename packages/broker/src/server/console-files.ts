/**
 * The files of the web console: the page at `/_oncemq/`, its modules and styles below `/_oncemq/console/`. They are read
 * into memory at the first request. Only those files are ever served, so no path can lead elsewhere.
 *
 * The page may load from this server only and runs no inline code: it shows the content of messages, none of which may
 * become part of the page.
 */

import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { extname, sep } from 'node:path';
import { gzipSync } from 'node:zlib';

export interface FileResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Buffer;
}

interface ConsoleFile {
  readonly type: string;
  readonly tag: string;
  readonly plain: Buffer;
  readonly zipped: Buffer;
}

const folder: URL = new URL('../console/', import.meta.url);
const pagePath = 'index.html';
const filesPrefix = 'console/';

const types: ReadonlyMap<string, string> = new Map([
  ['.html', 'text/html; charset=utf-8'],
  ['.js', 'text/javascript; charset=utf-8'],
  ['.css', 'text/css; charset=utf-8'],
  ['.svg', 'image/svg+xml'],
]);

const policy: string = [
  "default-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "object-src 'none'",
].join('; ');

let files: ReadonlyMap<string, ConsoleFile> | undefined;

/** `path` is the part after `/_oncemq/`. Undefined if the path does not belong to the console. */
export function consoleFile(
  path: string,
  { method, headers }: { readonly method: string; readonly headers: Headers },
): FileResponse | undefined {
  const isPage = path === '';
  if (!isPage && !path.startsWith(filesPrefix)) return undefined;
  if (method !== 'GET' && method !== 'HEAD') {
    return refusal(405, 'MethodNotAllowed', 'The console accepts only GET and HEAD.', {
      Allow: 'GET, HEAD',
    });
  }
  files ??= readFiles();
  const file = files.get(isPage ? pagePath : path.slice(filesPrefix.length));
  if (file === undefined) {
    const isBuilt = files.has(pagePath);
    const reason = isBuilt
      ? 'There is no such file.'
      : 'The console is not built. Build it with npm run build.';
    return refusal(404, 'NotFound', reason);
  }
  const shared = {
    ETag: file.tag,
    // The browser revalidates each time and downloads only what changed, so a new version shows immediately.
    'Cache-Control': 'no-cache',
    'Content-Security-Policy': policy,
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
    Vary: 'Accept-Encoding',
  };
  if (headers['if-none-match'] === file.tag) return { status: 304, headers: shared, body: '' };
  const isZipped = /\bgzip\b/.test(headers['accept-encoding'] ?? '');
  return {
    status: 200,
    headers: {
      ...shared,
      'Content-Type': file.type,
      ...(isZipped ? { 'Content-Encoding': 'gzip' } : {}),
    },
    body: isZipped ? file.zipped : file.plain,
  };
}

type Headers = Readonly<Record<string, string | undefined>>;

function readFiles(): Map<string, ConsoleFile> {
  const found = new Map<string, ConsoleFile>();
  for (const path of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    const name = path.replaceAll(sep, '/');
    const type = types.get(extname(name));
    if (type === undefined) continue;
    const plain = readFileSync(new URL(name, folder));
    const tag = `"${createHash('sha256').update(plain).digest('base64url').slice(0, 22)}"`;
    found.set(name, { type, tag, plain, zipped: gzipSync(plain) });
  }
  return found;
}

/** In the same form as all other errors below `/_oncemq/`. */
function refusal(
  status: number,
  code: string,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): FileResponse {
  return {
    status,
    headers: { 'Content-Type': 'application/json', ...headers },
    body: `${JSON.stringify({ error: { code, message } })}\n`,
  };
}
