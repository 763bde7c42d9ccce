/**
 * Drives an engine and the reference model through the same steps at the same times and throws at the first difference:
 * in an outcome, in what is reported about a duplicate, or in anything that can be seen of a queue.
 *
 * Three kinds of name are each side's own: sequences, message ids and receipt handles. They are paired where they first
 * appear together and must stay paired; later sequences must be larger. Besides the comparison, every command is held to
 * three rules of the engine: a refusal changes nothing beyond what time alone changes; a tick before `nextDueAt()`
 * changes nothing; and `nextDueAt()` is never later than what a tick would change.
 */

import type { Change } from '../../src/core/changes.ts';
import type { Command, SendEntry } from '../../src/core/commands.ts';
import { type Applied, Engine } from '../../src/core/engine.ts';
import { type Limits, strictLimits } from '../../src/core/limits.ts';
import { CountedIds } from '../support/counted-ids.ts';
import { arnOf, hash, Model, windowMs } from './model.ts';
import { answer, deadlines } from './model-views.ts';
import { describeStep, prologue, queueNames, References, type Step } from './steps.ts';

const startedAt = 1_800_000_000_000;

/** What each side names in its own way, or what only the engine knows. */
const leftOut = new Set(['attributesMd5', 'systemAttributesMd5', 'suppressed', 'isUnfinished']);

/** So few that many ticks leave a part of what has expired, which nothing that can be seen may depend on. */
const expiredPerTickMax = 2;

export function limitsOf({ inFlightMax }: { readonly inFlightMax: number }): Limits {
  return { ...strictLimits, inFlightMax, expiredPerTickMax };
}

const attributesCompared = [
  'ApproximateNumberOfMessages',
  'ApproximateNumberOfMessagesNotVisible',
  'ApproximateNumberOfMessagesDelayed',
  'QueueArn',
  'VisibilityTimeout',
  'DelaySeconds',
  'MessageRetentionPeriod',
];

/** Watches while an engine is driven, for tests that compare it with other engines. */
export interface Witness {
  /** A command is about to be applied; `ids` gives the ids that the engine will get. */
  before(command: Command, moment: Moment): void;
  after(command: Command, applied: Applied<Command['type']>): void;
}

export interface Moment {
  readonly now: number;
  readonly ids: CountedIds;
  readonly engine: Engine;
}

export class Simulation {
  /** Commands of the scenario so far; those that only compare are not counted. */
  applied = 0;
  readonly #past: Happening[] = [];
  #latest: Happening | undefined;
  #now = startedAt;
  readonly #witness: Witness | undefined;
  readonly #engine: Engine;
  readonly #model: Model;
  readonly #ids = new CountedIds();
  readonly #references = new References();
  readonly #pairs = new Pairs();

  constructor(inFlightMax: number, witness?: Witness) {
    this.#witness = witness;
    const limits = limitsOf({ inFlightMax });
    const modelIds = new CountedIds();
    this.#engine = new Engine({ limits });
    this.#model = new Model(() => modelIds.uuid(), limits);
  }

  run(steps: readonly Step[]): void {
    for (const command of prologue) this.#apply(command);
    for (const step of steps) {
      if (step.type === 'clock') {
        this.#moveClock(step);
      } else if (step.type === 'look') {
        this.#lookAtAll();
      } else {
        this.applied += 1;
        const command = this.#references.resolve(step);
        this.#past.push({ at: this.#now, step: command });
        // The model's tick does the work of all tasks; the engine's leaves those whose queue has more to remove. So nothing has.
        if (step.type === 'tick' && this.#isTaskRunning()) this.#lookAtAll();
        this.#apply(command);
        this.#checkDueAt();
        if ('queue' in step && step.queue !== undefined) this.#lookAt(step.queue);
      }
    }
    this.#lookAtAll();
  }

  /** What happened, one line per step: the time since the start, what was asked, and the engine's outcome. */
  story(): string {
    const isTold = this.#latest === undefined || this.#latest.step === this.#past.at(-1)?.step;
    const all = isTold ? this.#past : [...this.#past, this.#latest as Happening];
    return all.map(lineOf).join('\n');
  }

  #isTaskRunning(): boolean {
    return this.#model.queues.some(({ tasks }) => tasks.some((task) => task.status === 'RUNNING'));
  }

  #moveClock(step: Extract<Step, { type: 'clock' }>): void {
    if ('addMs' in step) {
      this.#now += step.addMs;
    } else {
      const ahead = deadlines(this.#model).filter(({ kind }) => kind === step.until);
      const times = [...new Set(ahead.map(({ at }) => at))];
      const at = times.at(step.nth % Math.max(times.length, 1)) ?? this.#now;
      this.#now = Math.max(this.#now, at + step.offsetMs);
    }
    this.#past.push({ at: this.#now, step });
  }

  /** Everything that can be seen of a queue without changing it. */
  #lookAt(queue: string): void {
    this.#apply({ type: 'describe-queue', queue });
    this.#apply({ type: 'peek-messages', queue, limit: 1000 });
    this.#apply({ type: 'explain', queue, limit: 1000 });
  }

  #lookAtAll(): void {
    for (const queue of queueNames) {
      this.#lookAt(queue);
      this.#apply({ type: 'peek-messages', queue, groupId: 'g2', limit: 2 });
      this.#apply({ type: 'explain', queue, deduplicationId: 'a', limit: 2 });
      this.#apply({ type: 'explain', queue, deduplicationId: 'b', groupId: 'g1', limit: 2 });
      this.#apply({ type: 'list-move-tasks', sourceArn: arnOf(queue), limit: 10 });
      this.#apply({ type: 'get-attributes', queue, names: attributesCompared });
    }
  }

  #apply(command: Command): void {
    const wasDueAt = this.#engine.nextDueAt();
    const now = this.#now;
    this.#latest = { at: now, step: command };
    this.#witness?.before(command, { now, ids: this.#ids.fork(), engine: this.#engine });
    const context = { now, ids: this.#ids };
    const applied: Applied<Command['type']> = this.#engine.apply(command, context);
    this.#latest = { at: now, step: command, outcome: applied.outcome };
    if (this.#past.at(-1)?.step === command) this.#past[this.#past.length - 1] = this.#latest;
    this.#witness?.after(command, applied);
    const expected = answer(this.#model, this.#translate(command), this.#now);

    const queue = 'queue' in command ? (command.queue ?? '') : '';
    this.#compare(command.type, { queue, expected, actual: applied.outcome });
    this.#compareDuplicates(command, applied);
    this.#checkRefusal(applied);
    this.#checkTick(command, applied, wasDueAt);
    this.#references.learn(command, applied.outcome);
    if (command.type === 'delete-queue' && applied.outcome.ok) this.#pairs.forget(queue);
  }

  /** The command with the model's names for receipts. */
  #translate(command: Command): Command {
    if (command.type !== 'delete-messages' && command.type !== 'change-visibility') return command;
    const entries = command.entries.map(({ receiptHandle, ...rest }) => ({
      ...rest,
      receiptHandle: receiptHandle && this.#pairs.expectedOf(receiptHandle),
    }));
    return { ...command, entries } as Command;
  }

  #compare(path: string, { queue, expected, actual }: Compared): void {
    if (Array.isArray(actual)) {
      const [wanted, got] = [(expected as unknown[]).length, actual.length];
      if (wanted !== got) differ(`${path}.length`, expected, actual);
      for (const [index, item] of actual.entries()) {
        const other = (expected as unknown[])[index];
        this.#compare(`${path}[${index}]`, { queue, expected: other, actual: item });
      }
      return;
    }
    if (typeof actual !== 'object' || actual === null) {
      // A dead letter's deduplication id is its message id.
      const wanted = typeof expected === 'string' ? this.#pairs.actualOf(expected) : expected;
      if (!Object.is(wanted, actual)) differ(path, wanted, actual);
      return;
    }
    if (typeof expected !== 'object' || expected === null) differ(path, expected, actual);
    const [wanted, got] = [expected as Record<string, unknown>, actual as Record<string, unknown>];
    if (wanted['ok'] !== got['ok'] || wanted['code'] !== got['code'])
      differ(path, expected, actual);
    if (got['ok'] === false) return;
    for (const [key, value] of Object.entries(got)) {
      if (leftOut.has(key)) continue;
      const at = `${path}.${key}`;
      if (key === 'sequence' && value !== undefined) {
        this.#pairs.pairSequences(at, queue, { expected: wanted[key], actual: value });
      } else if (key === 'receiptHandle' || key === 'messageId') {
        this.#pairs.pairNames(at, { expected: wanted[key], actual: value });
      } else if (key === 'noneUntil') {
        this.#compareNoneUntil(at, wanted, got);
      } else {
        this.#compare(at, { queue, expected: wanted[key], actual: value });
      }
    }
  }

  #compareNoneUntil(path: string, expected: Fields, actual: Fields): void {
    if ((actual['messages'] as unknown[]).length > 0) return;
    const wanted = expected['noneUntil'];
    const until = wanted === Number.POSITIVE_INFINITY ? undefined : wanted;
    if (actual['noneUntil'] !== until) differ(path, until, actual['noneUntil']);
  }

  /** Each suppressed send is reported once, with its original and with what differed between the two. */
  #compareDuplicates(command: Command, applied: Applied<Command['type']>): void {
    const actual = applied.events
      .filter((event) => event.type === 'duplicate')
      .map(({ content, ...event }) => ({ ...event, body: content.body }));
    const queue = 'queue' in command ? (command.queue ?? '') : '';
    const sentTo = this.#model.find(queue);
    const lengthMs = sentTo === undefined ? 0 : windowMs(sentTo);
    const scope = sentTo?.attributes['DeduplicationScope'];
    const expected = this.#model.duplicates.map(({ entry, original, matchedBy }) => ({
      type: 'duplicate',
      at: this.#now,
      queue,
      deduplicationId: entry.deduplicationId ?? hash('sha256', entry.body),
      groupId: entry.groupId,
      source: entry.deduplicationId === undefined ? 'content' : 'explicit',
      matchedBy,
      scope,
      ageMs: this.#now - original.acceptedAt,
      expiresAt: original.acceptedAt + lengthMs,
      original,
      differed: {
        body: entry.body !== original.sent.body,
        attributes: attributesOf(entry) !== attributesOf(original.sent),
        group: entry.groupId !== original.groupId,
      },
      body: entry.body,
    }));
    this.#compare(`${command.type} duplicates`, { queue, expected, actual });
  }

  #checkRefusal({ outcome, changes }: Applied<Command['type']>): void {
    if (outcome.ok) return;
    const made = changes.find((change) => !isExpiry(change));
    if (made !== undefined) throw new Error(`refused, but changed ${JSON.stringify(made)}`);
  }

  #checkTick(command: Command, applied: Applied<Command['type']>, dueAt: number | undefined): void {
    if (command.type !== 'tick' || (dueAt !== undefined && dueAt <= this.#now)) return;
    if (applied.changes.length === 0) return;
    const change = JSON.stringify(applied.changes[0]);
    throw new Error(`a tick at ${this.#now}, before nextDueAt ${dueAt}, changed ${change}`);
  }

  #checkDueAt(): void {
    const byTick = deadlines(this.#model).find(
      ({ kind }) => kind === 'retention' || kind === 'window' || kind === 'task',
    );
    const dueAt = this.#engine.nextDueAt() ?? Number.POSITIVE_INFINITY;
    if (byTick === undefined || dueAt <= byTick.at) return;
    throw new Error(`nextDueAt is ${dueAt}, but a ${byTick.kind} ends at ${byTick.at}`);
  }
}

interface Happening {
  readonly at: number;
  readonly step: Step;
  readonly outcome?: unknown;
}

function lineOf({ at, step, outcome }: Happening): string {
  const line = `${`${at - startedAt} ms`.padStart(14)}  ${describeStep(step)}`;
  return outcome === undefined ? line : `${line}\n${' '.repeat(16)}${brief(outcome)}`;
}

type Fields = Record<string, unknown>;

interface Compared {
  readonly queue: string;
  readonly expected: unknown;
  readonly actual: unknown;
}

/** What the two sides name differently: the model's name and the engine's, one to one. */
class Pairs {
  readonly #actual = new Map<unknown, unknown>();
  readonly #expected = new Map<unknown, unknown>();
  readonly #sequences = new Map<string, Map<unknown, unknown>>();

  /** The model's name for an engine's name; a text that is no name stays itself. */
  expectedOf(actual: string): string {
    return (this.#expected.get(actual) ?? actual) as string;
  }

  actualOf(expected: string): string {
    return (this.#actual.get(expected) ?? expected) as string;
  }

  pairNames(path: string, { expected, actual }: Omit<Compared, 'queue'>): void {
    if (!this.#expected.has(actual) && !this.#actual.has(expected)) {
      this.#expected.set(actual, expected);
      this.#actual.set(expected, actual);
    }
    if (this.#expected.get(actual) !== expected) differ(path, expected, this.#expected.get(actual));
    if (this.#actual.get(expected) !== actual) differ(path, this.#actual.get(expected), actual);
  }

  pairSequences(path: string, queue: string, { expected, actual }: Omit<Compared, 'queue'>): void {
    const known = this.#sequences.get(queue) ?? new Map<unknown, unknown>();
    this.#sequences.set(queue, known);
    if (!known.has(expected)) {
      const misplaced = [...known].find(
        ([mine, its]) => Number(mine) < Number(expected) !== Number(its) < Number(actual),
      );
      if (misplaced !== undefined) {
        differ(path, `${expected} beside ${misplaced[0]}`, `${actual} beside ${misplaced[1]}`);
      }
      known.set(expected, actual);
    }
    if (known.get(expected) !== actual) differ(path, known.get(expected), actual);
  }

  forget(queue: string): void {
    this.#sequences.delete(queue);
  }
}

function isExpiry(change: Change): boolean {
  return 'value' in change && change.kind !== 'queue' && change.value === null;
}

function attributesOf(entry: SendEntry): string {
  const attributes = entry.attributes ?? [];
  return JSON.stringify(attributes.filter(({ name }) => name !== 'traceparent'));
}

function differ(path: string, expected: unknown, actual: unknown): never {
  throw new Error(`${path}: model ${brief(expected)}, engine ${brief(actual)}`);
}

function brief(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 400 ? `${text.slice(0, 400)}…` : text;
}
