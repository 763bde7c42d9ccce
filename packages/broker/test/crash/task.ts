/**
 * What a supervisor and the client processes of its run say to each other: a task at the start, as an argument, and
 * later single words. A client whose supervisor is gone ends too.
 */

import { setMaxListeners } from 'node:events';

export interface Task {
  /** The name of the client, and so of its history. */
  readonly name: string;
  /** Of the servers: each request goes to the next one. */
  readonly ports: readonly number[];
  /** For how long servers may still do what they have not answered. */
  readonly lateMs: number;
  /** The longest pause of a producer between two requests of a lane. */
  readonly pauseMsMax: number;
  /** Where histories are written. */
  readonly directory: string;
  /** Seeds the client's random choices; different for each client. */
  readonly seed: number;
  /** Distinguishes the messages of this run from those of another on the same data. */
  readonly round: number;
}

/** `finish`: no new messages. `drain`: take everything out. `stop`: end. */
export type Word = 'finish' | 'drain' | 'stop';

export function taskOfProcess(): Task {
  process.once('disconnect', () => process.exit());
  return JSON.parse(process.argv[2] as string) as Task;
}

/** More than ever wait for a word at the same time. */
const listenersMax = 100;

/** Aborted once the word has come. */
export function whenTold(word: Word): AbortSignal {
  const told = new AbortController();
  setMaxListeners(listenersMax, told.signal);
  process.on('message', (said) => {
    if (said === word) told.abort();
  });
  return told.signal;
}
