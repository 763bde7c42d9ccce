/**
 * Connections of the fuzz test: one that is kept for complete requests and reopened after the server has closed it, and
 * one for each piece of broken HTTP. An exchange that takes longer than `answerMsMax` counts as hung.
 */

import { connect, type Socket } from 'node:net';
import type { Broken } from './broken-http.ts';
import { AnswerReader, type HttpAnswer } from './http-answer.ts';
import { bytesOf, type WholeRequest } from './whole-request.ts';

/** Far more than any answer takes, on a machine that is busy with other tests too. */
export const answerMsMax = 20_000;

/** Makes a request acceptable to the server: with a signature, if it checks them. */
export type Sign = (request: WholeRequest) => WholeRequest;

export interface Destination {
  readonly port: number;
  readonly sign: Sign;
}

export class KeptConnection {
  readonly #port: number;
  readonly #sign: Sign;
  #socket: Socket | undefined;

  constructor({ port, sign }: Destination) {
    this.#port = port;
    this.#sign = sign;
  }

  async ask(unsigned: WholeRequest): Promise<HttpAnswer> {
    const request = this.#sign(unsigned);
    const socket = this.#socket ?? (await open(this.#port));
    this.#socket = undefined;
    const reader = new AnswerReader();
    const answer = await new Promise<HttpAnswer>((resolve, reject) => {
      const isHead = request.method === 'HEAD';
      const attempt = (hasEnded: boolean): void => {
        try {
          const whole = reader.take({ isHead, hasEnded });
          if (whole !== undefined) resolve(whole);
          else if (hasEnded) reject(new Error('the server closed the connection unanswered'));
        } catch (error) {
          reject(error);
        }
      };
      socket.on('data', (chunk: Buffer) => {
        reader.push(chunk);
        attempt(false);
      });
      socket.on('end', () => attempt(true));
      socket.on('error', reject);
      socket.on('close', () => reject(new Error('the connection was cut off, unanswered')));
      socket.setTimeout(answerMsMax, () => reject(new Error(`no answer in ${answerMsMax} ms`)));
      socket.write(bytesOf(request));
    }).catch((error: unknown) => {
      socket.destroy();
      throw error;
    });
    if (!reader.isEmpty) throw new Error('there are bytes behind the answer');
    socket.removeAllListeners();
    if (answer.headers.get('connection') === 'close') socket.on('error', () => {}).destroy();
    else {
      // Errors between requests: the next request detects a server that closes or sends something unrequested.
      socket.on('error', () => {});
      this.#socket = socket;
    }
    return answer;
  }

  close(): void {
    this.#socket?.destroy();
  }
}

export interface BrokenExchange {
  readonly answers: readonly HttpAnswer[];
  /** The connection, if it stays open to the end of the run. */
  readonly held: Socket | undefined;
}

/** Writes the bytes and reads all that comes back, until the server closes. */
export async function tryBroken(port: number, broken: Broken): Promise<BrokenExchange> {
  const socket = await open(port);
  const reader = new AnswerReader();
  const answers: HttpAnswer[] = [];
  const closed = new Promise<void>((resolve, reject) => {
    const take = (hasEnded: boolean): void => {
      try {
        for (let next = reader.take({ hasEnded }); next; next = reader.take({ hasEnded })) {
          answers.push(next);
        }
        if (broken.ending === 'answer' && answers.length > 0) socket.end();
      } catch (error) {
        reject(error);
      }
    };
    socket.on('data', (chunk: Buffer) => {
      reader.push(chunk);
      take(false);
    });
    socket.on('end', () => take(true));
    // A server that stops reading may reset the connection; its earlier answers are judged.
    socket.on('error', () => {});
    socket.on('close', () => {
      take(true);
      resolve();
    });
    socket.setTimeout(answerMsMax, () => reject(new Error(`not closed in ${answerMsMax} ms`)));
  });
  for (const [index, piece] of broken.pieces.entries()) {
    if (index > 0 && broken.pauseMs > 0) await pause(broken.pauseMs);
    if (socket.writable) socket.write(piece);
  }
  if (broken.ending === 'hold') {
    socket.setTimeout(0);
    closed.catch(() => {});
    return { answers, held: socket };
  }
  if (broken.ending === 'leave') socket.resetAndDestroy();
  if (broken.ending === 'finish') socket.end();
  try {
    await closed;
  } finally {
    socket.destroy();
  }
  const isCutOff = broken.ending === 'leave';
  if (!isCutOff && !reader.isEmpty) throw new Error('the answer is not whole');
  if (broken.ending === 'answer' && answers.length === 0) throw new Error('no answer');
  return { answers, held: undefined };
}

function open(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    socket.once('error', reject);
    socket.once('connect', () => {
      socket.removeListener('error', reject);
      resolve(socket);
    });
  });
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
