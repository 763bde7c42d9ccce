/**
 * An SQS client for a server that dies: AWS JSON over keep-alive connections, and for each request the two moments between
 * which the server must have executed it, if it did. It waits while the server is down, and leaves to its caller what to
 * do about a request that got no answer.
 */

import { Agent, request as startRequest } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { type Result as HistoryResult, now, type Refused, type Timed } from './history.ts';

type Answer<Output> = { readonly outcome: 'done'; readonly output: Output } | Refused;
export type Result<Output> = Answer<Output> | { readonly outcome: 'unanswered' };
export type Reply = Timed & Result<Output>;

/** The parts of answers that these tests look at. */
export interface Output extends SentOutput {
  readonly Attributes?: Readonly<Record<string, string>>;
  readonly Messages?: readonly ReceivedOutput[];
  readonly Successful?: readonly (SentOutput & { readonly Id: string })[];
  readonly Failed?: readonly { readonly Id: string; readonly Code: string }[];
}

export interface SentOutput {
  readonly MessageId?: string;
  readonly SequenceNumber?: string;
}

export interface ReceivedOutput {
  readonly MessageId: string;
  readonly ReceiptHandle: string;
  readonly Body: string;
  readonly Attributes: Readonly<Record<string, string>>;
}

/** Far more than any answer takes; a server that is up and takes longer hangs. */
const answerMsMax = 20_000;
/** With several servers, one may be frozen: what it does not answer is asked of the next one. */
const patienceMs = 5_000;
/** How long the server may be down before its client gives up. */
const absenceMsMax = 60_000;
const connectPauseMs = 15;
const unavailable = 'UNAVAILABLE';

interface Asked {
  readonly type: string;
  /** Names the action, unless the body does. */
  readonly target?: string;
  readonly body: string;
}

export class CrashClient {
  readonly #ports: readonly number[];
  readonly #lateMs: number;
  #calls = 0;
  readonly #agent: Agent = new Agent({ keepAlive: true });
  #atOutage: (() => void)[] = [];

  /**
   * Every request goes to the next of these ports; what one refuses to take goes to the one after it. Servers that are frozen
   * or cut off may do what they have not answered until `lateMs` after it was given up; then 503 is no answer either.
   */
  constructor(ports: readonly number[], lateMs = 0) {
    this.#ports = ports;
    this.#lateMs = lateMs;
  }

  call(action: string, input: object): Promise<Reply> {
    return this.#call(action, {
      type: 'application/x-amz-json-1.0',
      target: `AmazonSQS.${action}`,
      body: JSON.stringify(input),
    });
  }

  /** An action of topics, as a form that asks for JSON. */
  async callTopic(action: string, input: Readonly<Record<string, string>>): Promise<Reply> {
    const body = new URLSearchParams({ Action: action, Version: '2010-03-31', ...input });
    const type = 'application/x-www-form-urlencoded';
    const reply = await this.#call(action, { type, body: body.toString() });
    if (reply.outcome !== 'done') return reply;
    const whole = reply.output as Record<string, Record<string, Output>>;
    return { ...reply, output: whole[`${action}Response`]?.[`${action}Result`] ?? {} };
  }

  async #call(action: string, request: Asked): Promise<Reply> {
    const givingUpAt = now() + absenceMsMax;
    for (;;) {
      const from = now();
      const answer = await this.#ask(request).catch(reasonOf);
      const times = { from, to: now() };
      if (typeof answer !== 'string') return { ...times, ...answer };
      for (const tell of this.#atOutage.splice(0)) tell();
      if (answer === 'ETIMEDOUT' && this.#lateMs === 0) {
        throw new Error(`${action}: no answer in ${answerMsMax} ms`);
      }
      // A request whose connection was refused was never sent, so there is nothing to record about it.
      if (answer !== 'ECONNREFUSED') {
        if (answer === unavailable) await pause(connectPauseMs);
        return { from, to: times.to + this.#lateMs, outcome: 'unanswered' };
      }
      if (from > givingUpAt) throw new Error(`the server was away for ${absenceMsMax} ms`);
      await pause(connectPauseMs);
    }
  }

  /** The next time that some request finds the server dead. */
  nextOutage(): Promise<void> {
    return new Promise((resolve) => {
      this.#atOutage.push(resolve);
    });
  }

  close(): void {
    this.#agent.destroy();
  }

  #ask({ type, target, body }: Asked): Promise<Answer<Output>> {
    this.#calls += 1;
    return new Promise((resolve, reject) => {
      const request = startRequest(
        {
          port: this.#ports[this.#calls % this.#ports.length],
          host: '127.0.0.1',
          agent: this.#agent,
          method: 'POST',
          headers: {
            'Content-Type': type,
            ...(target === undefined ? {} : { 'X-Amz-Target': target }),
            'Content-Length': Buffer.byteLength(body),
            Accept: 'application/json',
          },
          timeout: this.#lateMs === 0 ? answerMsMax : patienceMs,
        },
        (response) => {
          let text = '';
          response.setEncoding('utf8');
          response.on('data', (chunk: string) => {
            text += chunk;
          });
          response.on('error', reject);
          response.on('end', () => {
            if (response.statusCode === 503 && this.#lateMs > 0) {
              reject(Object.assign(new Error(), { code: unavailable }));
              return;
            }
            const output = text === '' ? {} : (JSON.parse(text) as Output & { __type?: string });
            if (response.statusCode === 200) resolve({ outcome: 'done', output });
            else {
              const code = output.__type?.replace(/^.*#/, '') ?? `status ${response.statusCode}`;
              resolve({ outcome: 'refused', code });
            }
          });
        },
      );
      request.on('error', reject);
      request.on('timeout', () =>
        request.destroy(Object.assign(new Error(), { code: 'ETIMEDOUT' })),
      );
      request.end(body);
    });
  }
}

/** What a reply says about one entry of a batch; a reply to a single request is about that one. */
export function resultOf(reply: Reply, id: string): Result<SentOutput> {
  if (reply.outcome !== 'done') return reply;
  const { Successful: successful, Failed: failed } = reply.output;
  if (successful === undefined && failed === undefined) return reply;
  const output = successful?.find(({ Id }) => Id === id);
  if (output !== undefined) return { outcome: 'done', output };
  const code = failed?.find(({ Id }) => Id === id)?.Code ?? 'no entry in the answer';
  return { outcome: 'refused', code };
}

/** A result without what came with it, for the history. */
export function outcomeOf(result: Result<unknown>): HistoryResult {
  const { outcome } = result;
  return outcome === 'refused' ? { outcome, code: result.code } : { outcome };
}

function reasonOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? String(error);
}
