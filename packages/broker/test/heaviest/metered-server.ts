/**
 * `oncemq serve` in a process of its own that tells how long the longest turn of its event loop was while a request ran.
 * Requests go over one keep-alive connection in the wire form that costs the server most: AWS JSON for queues, AWS Query
 * for topics.
 */

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { fileURLToPath } from 'node:url';

export interface Answer {
  readonly status: number;
  readonly text: string;
}

export class MeteredServer {
  readonly url: string;
  readonly #child: ChildProcess;
  readonly #agent: Agent = new Agent({ keepAlive: true, maxSockets: 16 });

  private constructor(child: ChildProcess, url: string) {
    this.#child = child;
    this.url = url;
  }

  static async start(...args: readonly string[]): Promise<MeteredServer> {
    const child = fork(
      fileURLToPath(new URL('../../src/cli/main.js', import.meta.url)),
      ['serve', '--port', '0', '--log', 'json', ...args],
      {
        execArgv: ['--import', new URL('turn-meter.js', import.meta.url).href],
        stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
      },
    );
    const ready = await new Promise<string>((resolve, reject) => {
      child.stdout?.setEncoding('utf8').once('data', resolve);
      child.once('exit', (code) => reject(new Error(`the server did not start, code ${code}`)));
    });
    return new MeteredServer(child, /http:\S+/.exec(ready)?.[0] ?? '');
  }

  /** The longest turn while `work` ran, in milliseconds of processor time. */
  async longestTurn(work: () => Promise<unknown>): Promise<number> {
    await this.#tell('measure');
    await work();
    return this.#tell('stop');
  }

  async stop(): Promise<void> {
    this.#agent.destroy();
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await ended;
  }

  sqs(action: string, input: object): Promise<Answer> {
    return this.fetch('POST', '/', JSON.stringify(input), {
      'Content-Type': 'application/x-amz-json-1.0',
      'X-Amz-Target': `AmazonSQS.${action}`,
    });
  }

  sns(action: string, input: Readonly<Record<string, string>>): Promise<Answer> {
    const body = new URLSearchParams({ Action: action, Version: '2010-03-31', ...input });
    return this.fetch('POST', '/', body.toString(), {
      'Content-Type': 'application/x-www-form-urlencoded',
    });
  }

  inspect(path: string, method = 'GET', body = ''): Promise<Answer> {
    return this.fetch(method, `/_oncemq/${path}`, body);
  }

  /** Reads an answer that has no end; returns how to leave it. */
  follow(path: string): () => void {
    const sent = request(`${this.url}${path}`, (response) => response.resume());
    sent.on('error', () => {});
    sent.end();
    return () => sent.destroy();
  }

  fetch(
    method: string,
    path: string,
    body: string,
    headers: Record<string, string> = {},
  ): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const length = { 'Content-Length': String(Buffer.byteLength(body)) };
      const options = { agent: this.#agent, method, headers: { ...headers, ...length } };
      const sent = request(`${this.url}${path}`, options, (response) => {
        const parts: string[] = [];
        response.setEncoding('utf8');
        response.on('data', (part: string) => parts.push(part));
        response.on('error', reject);
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, text: parts.join('') }),
        );
      });
      sent.on('error', reject);
      sent.end(body);
    });
  }

  async #tell(what: 'measure' | 'stop'): Promise<number> {
    const told = once(this.#child, 'message') as Promise<[number]>;
    this.#child.send(what);
    const [longest] = await told;
    return longest;
  }
}
