/**
 * Requests to the server that the page came from. Reads go to `/_oncemq/`; changes to a queue are ordinary SQS actions,
 * which `/_oncemq/sqs` accepts like the server's root, so the console can do nothing that a client could not do. URLs are
 * relative to the page, which may be behind a proxy. An unreachable server and a refusal are different errors.
 */

/** The server did not answer. */
export class Unreachable extends Error {}

/** The server refused the request; the message says why. */
export class Refused extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

const answerMsMax = 30_000;

/** `path` is relative to `/_oncemq/`. */
export function look<T>(path: string): Promise<T> {
  return call<T>(path, {});
}

export function ask<T>(path: string, input: object): Promise<T> {
  return call<T>(path, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(input),
  });
}

export interface Done<T> {
  readonly output: T;
  /** The message that a send was a duplicate of. */
  readonly duplicateOf: string | null;
}

export async function sqs<T>(action: string, input: object): Promise<Done<T>> {
  const response = await request('sqs', {
    method: 'POST',
    headers: {
      'Content-Type': 'application/x-amz-json-1.0',
      'X-Amz-Target': `AmazonSQS.${action}`,
    },
    body: JSON.stringify(input),
  });
  const output = (await answerOf(response)) as T;
  return { output, duplicateOf: response.headers.get('x-oncemq-duplicate-of') };
}

/** The path of a queue or topic, with its name encoded. */
export function resourcePath(kind: 'queues' | 'topics', name: string, rest = ''): string {
  return `${kind}/${encodeURIComponent(name)}${rest === '' ? '' : `/${rest}`}`;
}

async function call<T>(path: string, init: RequestInit): Promise<T> {
  return (await answerOf(await request(path, init))) as T;
}

async function request(path: string, init: RequestInit): Promise<Response> {
  try {
    const signal = AbortSignal.timeout(answerMsMax);
    return await fetch(new URL(path, document.baseURI), { ...init, signal });
  } catch (cause) {
    throw new Unreachable('The server does not answer.', { cause });
  }
}

async function answerOf(response: Response): Promise<unknown> {
  const text = await response.text();
  const body = text === '' ? {} : parsed(text);
  if (response.ok && body !== undefined) return body;
  throw new Refused(
    response.status,
    reasonIn(body) ?? `The server answered with status ${response.status}.`,
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** `/_oncemq/` puts the message under `error`; SQS puts it at the top level. */
function reasonIn(body: unknown): string | undefined {
  const { error, message } = (body ?? {}) as { error?: { message?: unknown }; message?: unknown };
  const reason = error?.message ?? message;
  return typeof reason === 'string' ? reason : undefined;
}
