/**
 * A running server, as the command line talks to it: its own endpoints for looking, AWS JSON for what AWS has an action
 * for. A refusal becomes an error with the server's text; no answer, an error that says how to get one.
 */

import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import type { ReadableStream as WebStream } from 'node:stream/web';

const timeoutMs = 30_000;

export class Remote {
  readonly #url: string;

  constructor(url: string) {
    this.#url = url.replace(/\/+$/, '');
  }

  async inspect<T>(path: string): Promise<T> {
    const response = await this.#fetch(`${this.#url}/_oncemq/${path}`, {});
    const answer = (await response.json()) as T & { error?: { message: string } };
    if (!response.ok) throw new Error(answer.error?.message ?? `status ${response.status}`);
    return answer;
  }

  /** Server-sent events, until the server ends them. */
  async *follow(path: string): AsyncGenerator<{ readonly type: string; readonly data: string }> {
    const response = await this.#fetch(`${this.#url}/_oncemq/${path}`, { signal: null });
    if (!response.ok) {
      const answer = (await response.json()) as { error?: { message: string } };
      throw new Error(answer.error?.message ?? `status ${response.status}`);
    }
    let type = '';
    const lines = createInterface({ input: Readable.fromWeb(response.body as WebStream) });
    for await (const line of lines) {
      if (line.startsWith('event: ')) type = line.slice('event: '.length);
      else if (line.startsWith('data: ')) yield { type, data: line.slice('data: '.length) };
    }
  }

  async sqs(action: string, input: object): Promise<Record<string, unknown>> {
    const response = await this.#fetch(`${this.#url}/`, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/x-amz-json-1.0',
        'X-Amz-Target': `AmazonSQS.${action}`,
      },
      body: JSON.stringify(input),
    });
    const text = await response.text();
    const answer = (text === '' ? {} : JSON.parse(text)) as Record<string, unknown>;
    if (!response.ok) throw new Error(String(answer['message'] ?? `status ${response.status}`));
    return answer;
  }

  async #fetch(url: string, init: RequestInit): Promise<Response> {
    try {
      return await fetch(url, { signal: AbortSignal.timeout(timeoutMs), ...init });
    } catch (cause) {
      throw new Error(
        `No server answers at ${this.#url}; start one with oncemq serve, or name it with --url.`,
        {
          cause,
        },
      );
    }
  }
}
