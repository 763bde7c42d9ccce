/**
 * A running server, as the command line talks to it: its own endpoints for looking, AWS JSON for what AWS has an action
 * for. A refusal becomes an error with the server's text; no answer, an error that says how to get one.
 */

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
      return await fetch(url, { ...init, signal: AbortSignal.timeout(timeoutMs) });
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
