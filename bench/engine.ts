/**
 * How fast is the bare engine, and does it stay fast? Measures sends, receives and deletes per second, with one message
 * per command and then with ten, while 1,000 to 1,000,000 messages wait in 1 to 1,000,000 groups and the window is
 * nearly empty or holds 3,000,000 ids; and how many bytes a waiting message and a window entry take.
 *
 * Everything is in one process on one core, without HTTP or disk; changes and events are produced, as for every server,
 * and discarded. Each scenario has its own process, so that none inherits another's heap; they take turns round by round,
 * each round starting with another one, so that other activity on the machine affects all of them. The floor is what no
 * engine could do without: the digests of a FIFO message's life, and one Map entry that comes and goes.
 */

import { type ChildProcess, fork } from 'node:child_process';
import { hash } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Change } from '#broker/core/changes.js';
import type { Command, SendEntry } from '#broker/core/commands.js';
import { type Applied, Engine } from '#broker/core/engine.js';
import { strictLimits } from '#broker/core/limits.js';
import { turned } from './load/rounds.ts';
import { type Expectation, printExpectations } from './report/results.ts';
import { median } from './report/statistics.ts';
import { atExit } from './servers/at-exit.ts';

interface Scenario {
  readonly waiting: number;
  readonly groups: number;
  readonly windowIds: number;
  readonly batch: number;
}

/** Operations per second, one number per round; an operation is one message sent, received or deleted. */
interface Rates {
  readonly send: number[];
  readonly receive: number[];
  readonly remove: number[];
  readonly all: number[];
}

interface Bytes {
  readonly bytesPerMessage: number;
  readonly bytesPerId: number;
}

interface Measured extends Bytes {
  readonly scenario: Scenario;
  readonly rates: Rates;
}

const queue = 'bench.fifo';
const body = 'x'.repeat(100);
const windowMs = 300_000;
const rounds = 7;
const messagesPerRound = 30_000;

export async function benchEngine(flags: readonly string[]): Promise<void> {
  const rows: Row[] = [];
  for (const scenario of scenarios(flags.includes('--quick'))) rows.push(await Row.open(scenario));
  const floor: number[] = [];
  // The first round is a warm-up and is not counted: code is still being compiled.
  for (let round = -1; round < rounds; round += 1) {
    const atFloor = measureFloor();
    if (round >= 0) floor.push(atFloor);
    for (const row of turned(rows, round + 1)) await row.round(round >= 0);
    if (process.stderr.isTTY) process.stderr.write(`\rround ${round + 1} of ${rounds} `);
  }
  for (const row of rows) row.close();
  const results = rows.map((row) => row.measured());
  process.stdout.write(`\nfloor (digests and one Map entry): ${spread(floor)} ops/s\n\n`);
  process.stdout.write(
    'waiting   groups    window    batch   send/s              receive/s           delete/s            all ops/s           ×floor  B/msg  B/id\n',
  );
  for (const measured of results) process.stdout.write(`${rowText(measured, floor)}\n`);
  printExpectations(judge(results));
  const at = flags.indexOf('--json');
  const file = at < 0 ? undefined : flags[at + 1];
  if (file !== undefined) writeFileSync(file, JSON.stringify({ floor, results }, undefined, 2));
}

function scenarios(isQuick: boolean): Scenario[] {
  const sizes = isQuick ? [1_000, 100_000] : [1_000, 100_000, 1_000_000];
  const list: Scenario[] = [];
  for (const batch of [1, 10]) {
    for (const waiting of sizes) {
      for (const groups of [1, 1_000, 1_000_000]) {
        if (groups > waiting) continue;
        for (const windowIds of [0, isQuick ? 100_000 : 3_000_000]) {
          list.push({ waiting, groups, windowIds, batch });
        }
      }
    }
  }
  return list;
}

/** Milliseconds that the messages of a round took. */
interface Spent {
  readonly send: number;
  readonly receive: number;
  readonly remove: number;
}

/** A scenario in its own process, which runs a round each time it is asked to. */
class Row {
  readonly #scenario: Scenario;
  readonly close: () => void;
  readonly #child: ChildProcess;
  readonly #ended: Promise<never>;
  readonly #rates: Rates = { send: [], receive: [], remove: [], all: [] };
  #bytes: Bytes = { bytesPerMessage: 0, bytesPerId: 0 };

  private constructor(scenario: Scenario) {
    this.#scenario = scenario;
    this.#child = fork(fileURLToPath(import.meta.url), [JSON.stringify(scenario)]);
    this.close = atExit(() => this.#child.kill());
    this.#ended = once(this.#child, 'exit').then(([code]) => {
      throw new Error(`a benchmark process ended with code ${code}`);
    });
    this.#ended.catch(() => {});
  }

  static async open(scenario: Scenario): Promise<Row> {
    const row = new Row(scenario);
    row.#bytes = await row.#next<Bytes>();
    return row;
  }

  async round(isCounted: boolean): Promise<void> {
    this.#child.send('round');
    const { send, receive, remove } = await this.#next<Spent>();
    if (!isCounted) return;
    this.#rates.send.push(perSecond(send));
    this.#rates.receive.push(perSecond(receive));
    this.#rates.remove.push(perSecond(remove));
    this.#rates.all.push(perSecond((send + receive + remove) / 3));
  }

  measured(): Measured {
    return { scenario: this.#scenario, rates: this.#rates, ...this.#bytes };
  }

  async #next<T>(): Promise<T> {
    const [message] = (await Promise.race([once(this.#child, 'message'), this.#ended])) as [T];
    return message;
  }
}

/** The child process: fills an engine, reports the memory that takes, and then runs a round for each message it gets. */
function serve({ waiting, groups, windowIds, batch }: Scenario): void {
  // A window that is not filled is as short as possible, so that the benchmark's own sends soon leave it.
  const intervalSeconds = windowIds === 0 ? 1 : windowMs / 1000;
  const bench = new Bench(groups, intervalSeconds);
  const empty = memoryInUse();
  bench.fill(waiting);
  // The window entries left by filling must not count as part of the messages.
  bench.forgetWindow();
  const filled = memoryInUse();
  bench.fillWindow(windowIds);
  const windowed = memoryInUse();
  process.on('message', () => process.send?.(bench.round(batch)));
  process.send?.({
    bytesPerMessage: (filled - empty) / waiting,
    bytesPerId: windowIds === 0 ? 0 : (windowed - filled) / windowIds,
  } satisfies Bytes);
}

class Bench {
  readonly #engine: Engine = new Engine({ limits: { ...strictLimits, inFlightMax: 10_000_000 } });
  readonly #groups: number;
  #now = 1_800_000_000_000;
  #sent = 0;
  readonly #ids: { uuid(): string };

  constructor(groups: number, intervalSeconds: number) {
    this.#groups = groups;
    let count = 0;
    this.#ids = {
      uuid: () => `00000000-0000-4000-8000-${(count++).toString(16).padStart(12, '0')}`,
    };
    this.#apply({
      type: 'create-queue',
      queue,
      attributes: {
        FifoQueue: 'true',
        DeduplicationIntervalSeconds: String(intervalSeconds),
        MessageRetentionPeriod: '1209600',
      },
    });
  }

  fill(count: number): void {
    for (let left = count; left > 0; left -= 10) this.#send(Math.min(10, left));
  }

  forgetWindow(): void {
    this.#apply({ type: 'forget-window', queue });
  }

  /** Adds entries spread evenly over the window, so that entries keep expiring while the benchmark sends. */
  fillWindow(count: number): void {
    const start = this.#now - windowMs;
    const entries = function* (): Generator<Change> {
      for (let index = 0; index < count; index += 1) {
        yield {
          kind: 'window',
          queue,
          id: index,
          value: {
            deduplicationId: `earlier-${index}`,
            groupId: `group-${index % 1000}`,
            acceptedAt: start + Math.floor((index * windowMs) / count),
            source: 'explicit',
            bodyMd5: '00000000000000000000000000000000',
            attributesMd5: '',
          },
        };
      }
    };
    this.#engine.absorb(entries(), this.#now);
  }

  /** Sends, receives and deletes equally many messages, so that the backlog stays the same. Returns the time of each. */
  round(batch: number): Spent {
    const spent = { send: 0, receive: 0, remove: 0 };
    for (let done = 0; done < messagesPerRound; ) {
      const started = performance.now();
      this.#send(batch);
      const sent = performance.now();
      const { outcome } = this.#apply({ type: 'receive', queue, count: batch });
      const received = performance.now();
      if (!outcome.ok) throw new Error(`a receive was refused: ${outcome.code}`);
      const entries = outcome.messages.map(({ receiptHandle }, index) => ({
        id: String(index),
        receiptHandle,
      }));
      const deleting = performance.now();
      this.#apply({ type: 'delete-messages', queue, isBatch: batch > 1, entries });
      spent.remove += performance.now() - deleting;
      spent.receive += received - sent;
      spent.send += sent - started;
      done += entries.length;
      // One millisecond per ten messages: a window of 300 s then holds 3,000,000.
      if (done % 10 === 0) this.#now += 1;
    }
    return spent;
  }

  #send(count: number): void {
    const entries: SendEntry[] = [];
    for (let index = 0; index < count; index += 1) {
      this.#sent += 1;
      const groupId = `group-${this.#sent % this.#groups}`;
      entries.push({ id: String(index), body, groupId, deduplicationId: `event-${this.#sent}` });
    }
    const { outcome } = this.#apply({ type: 'send', queue, isBatch: count > 1, entries });
    if (!outcome.ok) throw new Error(`a send was refused: ${outcome.code}`);
  }

  #apply<C extends Command>(command: C): Applied<C['type']> {
    return this.#engine.apply(command, { now: this.#now, ids: this.#ids });
  }
}

/** The digests of a message's life (body, id, receipt handle issued and checked) and a Map entry. */
function measureFloor(): number {
  const map = new Map<string, string>();
  const started = performance.now();
  for (let index = 0; index < messagesPerRound; index += 1) {
    const id = hash('sha256', `event-${index}`, 'binary');
    map.set(id, hash('md5', body));
    const handle = hash('sha256', `receipt-${index}`, 'base64url');
    if (handle === hash('sha256', `receipt-${index}`, 'base64url')) map.delete(id);
  }
  return perSecond((performance.now() - started) / 3);
}

function memoryInUse(): number {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  // Array buffers found dead by one collection are only freed by the next.
  for (let times = 0; times < 3; times += 1) collect();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

function perSecond(milliseconds: number): number {
  return Math.round((messagesPerRound / milliseconds) * 1000);
}

function spread(values: readonly number[]): string {
  const thousands = (value: number): string => `${Math.round(value / 1000)}k`;
  return `${thousands(median(values))} (${thousands(Math.min(...values))}–${thousands(Math.max(...values))})`;
}

function rowText(
  { scenario, rates, bytesPerMessage, bytesPerId }: Measured,
  floor: readonly number[],
): string {
  const { waiting, groups, windowIds, batch } = scenario;
  return [
    String(waiting).padEnd(9),
    String(groups).padEnd(9),
    String(windowIds).padEnd(9),
    String(batch).padEnd(7),
    spread(rates.send).padEnd(19),
    spread(rates.receive).padEnd(19),
    spread(rates.remove).padEnd(19),
    spread(rates.all).padEnd(19),
    ratio(rates.all, floor).toFixed(2).padEnd(7),
    bytesPerMessage.toFixed(0).padEnd(6),
    bytesPerId === 0 ? '' : bytesPerId.toFixed(0),
  ].join(' ');
}

/** The median over the rounds of the ratio within each round. */
function ratio(values: readonly number[], others: readonly number[]): number {
  return median(values.map((value, round) => value / (others[round] as number)));
}

/** The promised costs: the rate of the slowest row, each row compared with the smallest scenario, and bytes. */
function judge(results: readonly Measured[]): Expectation[] {
  const expectations = [1, 10].flatMap((batch) => {
    const rows = results
      .filter(({ scenario }) => scenario.batch === batch)
      .map(({ rates }) => rates.all);
    const smallest = rows[0] as number[];
    const slowest = Math.min(...rows.map(median));
    const dearest = Math.max(...rows.map((rates) => ratio(smallest, rates)));
    const what = batch === 1 ? 'one message a command' : 'ten messages a command';
    return [
      {
        text: `${what}: the slowest row ${Math.round(slowest / 1000)}k operations a second, expected 400k`,
        isMet: slowest >= 400_000,
      },
      {
        text: `${what}: the dearest row ${dearest.toFixed(2)} times the smallest, expected 1.5`,
        isMet: dearest <= 1.5,
      },
    ];
  });
  // With a thousand messages, partly filled pages dominate the count.
  const large = results.filter(({ scenario }) => scenario.waiting >= 100_000);
  const perMessage = Math.max(...large.map(({ bytesPerMessage }) => bytesPerMessage));
  const perId = Math.max(...results.map(({ bytesPerId }) => bytesPerId));
  return [
    ...expectations,
    {
      text: `${perMessage.toFixed(0)} bytes a waiting message, expected at most 250`,
      isMet: perMessage <= 250,
    },
    { text: `${perId.toFixed(0)} bytes a window entry, expected at most 120`, isMet: perId <= 120 },
  ];
}

const asked = process.argv[2];
if (process.send !== undefined && asked?.startsWith('{')) serve(JSON.parse(asked) as Scenario);
