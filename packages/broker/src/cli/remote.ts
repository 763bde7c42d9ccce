/**
 * The command line's connection to a running server: its own endpoints for inspection, AWS JSON for everything that is an
 * AWS action. Requests are signed if the environment has keys. A refusal becomes an error with the server's text; if there
 * is no answer, or one that is not from OnceMQ, the error says what to do.
 */

import type { Keys, Unsigned } from './signing.ts';
import { UsageError } from './usage.ts';

const timeoutMs = 30_000;
/** Far more than the largest event of OnceMQ has. */
const eventCharsMax = 4 * 1024 * 1024;

const urlDefault = 'http://127.0.0.1:9324';

/** A server-sent event: as it was sent, and its data as an object. */
export interface Followed {
  readonly type: string;
  readonly data: string;
  readonly event: Readonly<Record<string, unknown>>;
}

export class Remote {
  readonly #url: string;

  /** The server at `--url`, at ONCEMQ_URL, or at the default address. */
  constructor({ url = process.env['ONCEMQ_URL'] ?? urlDefault }: { readonly url?: string }) {
    if (!/^https?:\/\//.test(url) || !URL.canParse(url)) {
      throw new UsageError(`The server's URL must look like ${urlDefault}, not ${url}.`);
    }
    this.#url = url.replace(/\/+$/, '');
  }

  /** An answer without the member is not from OnceMQ. */
  async inspect<T extends object>(path: string, member: keyof T & string): Promise<T> {
    const response = await this.#fetch(`/_oncemq/${path}`, { method: 'GET', headers: {} });
    if (!response.ok) throw await this.#refusalOf(response);
    const answer = this.#parsed(await this.#textOf(response), response);
    if (answer[member] === undefined) throw this.#strangerOf(response);
    return answer as T;
  }

  /** Yields server-sent events until the server ends the stream. */
  async *follow(path: string): AsyncGenerator<Followed> {
    const asked = { method: 'GET', headers: {}, body: undefined };
    const response = await this.#fetch(`/_oncemq/${path}`, asked, null);
    if (!response.ok) throw await this.#refusalOf(response);
    if (!response.headers.get('content-type')?.startsWith('text/event-stream')) {
      await response.body?.cancel();
      throw this.#strangerOf(response);
    }
    let type = '';
    for await (const line of this.#linesOf(response)) {
      if (line.startsWith('event: ')) type = line.slice('event: '.length);
      else if (line.startsWith('data: ')) {
        const data = line.slice('data: '.length);
        yield { type, data, event: this.#parsed(data, response) };
      }
    }
  }

  async *#linesOf(response: Response): AsyncGenerator<string> {
    const decoder = new TextDecoder();
    let rest = '';
    try {
      for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
        const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
        rest = lines.pop() as string;
        if (rest.length > eventCharsMax) throw this.#strangerOf(response);
        yield* lines;
      }
    } catch (cause) {
      throw this.#cutOff(cause);
    }
  }

  async #textOf(response: Response): Promise<string> {
    try {
      return await response.text();
    } catch (cause) {
      throw this.#cutOff(cause);
    }
  }

  /** What fetch throws for a connection that ends too early says only "terminated". */
  #cutOff(cause: unknown): unknown {
    if (!(cause instanceof TypeError)) return cause;
    return new Error(`The server at ${this.#url} closed the connection.`, { cause });
  }

  async sqs(action: string, input: object): Promise<Record<string, unknown>> {
    const response = await this.#fetch('/', {
      method: 'POST',
      headers: {
        'content-type': 'application/x-amz-json-1.0',
        'x-amz-target': `AmazonSQS.${action}`,
      },
      body: JSON.stringify(input),
    });
    const text = await this.#textOf(response);
    // Actions without output have empty answers, as another server may send; but every answer to an action has this header.
    if (!response.headers.has('x-amzn-requestid')) throw this.#strangerOf(response);
    const answer = text === '' ? {} : this.#parsed(text, response);
    if (!response.ok) throw new Error(String(answer['message'] ?? `status ${response.status}`));
    return answer;
  }

  #parsed(text: string, response: Response): Record<string, unknown> {
    try {
      const value: unknown = JSON.parse(text);
      if (typeof value === 'object' && value !== null) return value as Record<string, unknown>;
    } catch {
      // Not JSON: like JSON that is not an object, it is not an answer from OnceMQ.
    }
    throw this.#strangerOf(response);
  }

  /** The error text of one of the server's own endpoints. */
  async #refusalOf(response: Response): Promise<Error> {
    const answer = this.#parsed(await this.#textOf(response), response);
    const { message } = (answer['error'] ?? {}) as { message?: unknown };
    return typeof message === 'string' ? new Error(message) : this.#strangerOf(response);
  }

  #strangerOf({ status }: Response): Error {
    return new Error(
      `The server at ${this.#url} is not OnceMQ (it answered with status ${status}). Set another with --url.`,
    );
  }

  async #fetch(
    path: string,
    { method, headers, body }: Omit<Unsigned, 'url'>,
    signal: AbortSignal | null = AbortSignal.timeout(timeoutMs),
  ): Promise<Response> {
    try {
      const url = new URL(this.#url + path);
      const keys = keysOf(process.env);
      const sent =
        keys === undefined ? headers : await signed({ url, method, headers, body }, keys);
      return await fetch(url, {
        method,
        headers: sent,
        ...(body !== undefined && { body }),
        signal,
      });
    } catch (cause) {
      throw new Error(
        `No server answers at ${this.#url}. Start one with oncemq serve, or set its URL with --url.`,
        { cause },
      );
    }
  }
}

/** Reads the variables in which AWS's own tools look for keys. */
function keysOf(environment: NodeJS.ProcessEnv): Keys | undefined {
  const accessKeyId = environment['AWS_ACCESS_KEY_ID'];
  const secretAccessKey = environment['AWS_SECRET_ACCESS_KEY'];
  if (!accessKeyId || !secretAccessKey) return undefined;
  return { accessKeyId, secretAccessKey, region: regionOf(environment) };
}

/** The region to sign for; by default, the one that the server has by default. */
export function regionOf(environment: NodeJS.ProcessEnv): string {
  return environment['AWS_REGION'] || environment['AWS_DEFAULT_REGION'] || 'us-east-1';
}

/** Imported only if there are keys: most servers require none. */
async function signed(request: Unsigned, keys: Keys): Promise<Record<string, string>> {
  const { signedHeaders } = await import('./signing.ts');
  return signedHeaders(request, keys);
}
