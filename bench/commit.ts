/**
 * What does it cost to keep messages before they are answered? Groups of messages are sent to the bare store, each group
 * one commit, beside a floor that no durable store can go below: appending the same texts to a file and syncing it.
 *
 * In one process, without HTTP; the engine's work is part of it. Store and floor take turns, round by round.
 */

import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { realClock } from '#broker/server/clock.js';
import type { Backend } from '#broker/storage/backend.js';
import { openDataBackend } from '#broker/storage/lmdb/open.js';
import { commonFlags } from './flags.ts';
import { print, saveJson } from './report/results.ts';
import { median, type Spread, spreadOf, whole } from './report/statistics.ts';
import { DataFolder } from './servers/data-folder.ts';

interface Row {
  /** Messages in a commit. */
  readonly size: number;
  readonly storeMs: Spread;
  readonly floorMs: Spread;
  /** The store's time by the floor's, as the median of the rounds. */
  readonly toFloor: number;
}

interface Message {
  readonly body: string;
  readonly groupId: string;
  readonly deduplicationId: string;
}

const sizes = [1, 32, 320];
const queue = 'commit.fifo';
const body = 'x'.repeat(100);
const groups = 1_000;

export async function benchCommit(flags: readonly string[]): Promise<void> {
  const { values } = parseArgs({ args: [...flags], options: commonFlags });
  const rounds = values.quick ? 3 : 9;
  const commits = values.quick ? 50 : 200;
  const folder = new DataFolder(values.dir);
  const backend = await openDataBackend({ clock: realClock() }, { directory: folder.path });
  await backend.run({ type: 'create-queue', queue, attributes: { FifoQueue: 'true' } });
  const file = await open(join(folder.path, 'floor'), 'a');
  const messages = new Messages();

  const rows: Row[] = [];
  print('\n messages in a commit      store ms                floor ms       ×floor    messages/s');
  for (const size of sizes) {
    const store = (): Promise<unknown> => send(backend, messages.next(size));
    const floor = (): Promise<void> => append(file, messages.next(size));
    // The first round is a warm-up and is not counted.
    await timeOf(store, commits);
    const storeMs: number[] = [];
    const floorMs: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      storeMs.push(await timeOf(store, commits));
      floorMs.push(await timeOf(floor, commits));
    }
    const ratios = storeMs.map((ms, round) => ms / (floorMs[round] as number));
    const toFloor = median(ratios);
    const row = { size, storeMs: spreadOf(storeMs), floorMs: spreadOf(floorMs), toFloor };
    rows.push(row);
    print(lineOf(row));
  }
  await file.close();
  await backend.close();
  folder.remove();
  saveJson('commit.json', { rows }, values.json);
}

/** Every message is new, in one of a thousand groups. */
class Messages {
  #sent = 0;

  next(size: number): Message[] {
    return Array.from({ length: size }, () => {
      this.#sent += 1;
      const deduplicationId = `event-${String(this.#sent).padStart(12, '0')}`;
      return { body, groupId: `group-${this.#sent % groups}`, deduplicationId };
    });
  }
}

/** Each message as a request of its own, as clients send them; those of one turn share a commit. */
function send(backend: Backend, messages: readonly Message[]): Promise<unknown> {
  return Promise.all(
    messages.map((entry) =>
      backend.run({ type: 'send', queue, isBatch: false, entries: [entry] }).then((outcome) => {
        if (!outcome.ok) throw new Error(JSON.stringify(outcome));
      }),
    ),
  );
}

async function append(file: FileHandle, messages: readonly Message[]): Promise<void> {
  await file.appendFile(messages.map((message) => JSON.stringify(message)).join('\n'));
  await file.datasync();
}

/** Milliseconds for one, on average. */
async function timeOf(run: () => Promise<unknown>, count: number): Promise<number> {
  const start = performance.now();
  for (let at = 0; at < count; at += 1) await run();
  return (performance.now() - start) / count;
}

function lineOf({ size, storeMs, floorMs, toFloor }: Row): string {
  const cells = [
    String(size).padStart(21),
    millisecondsText(storeMs).padStart(24),
    millisecondsText(floorMs).padStart(24),
    toFloor.toFixed(2).padStart(9),
    whole((size * 1000) / storeMs.median).padStart(14),
  ];
  return cells.join('');
}

function millisecondsText({ median: middle, min, max }: Spread): string {
  return `${middle.toFixed(2)} (${min.toFixed(2)}–${max.toFixed(2)})`;
}
