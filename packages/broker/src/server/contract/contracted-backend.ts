/**
 * What actions use of a backend, with contracts enforced: before the engine sees a send or a publication, its messages are
 * checked against the contract of their queue or topic, and each gets its violation attached. The engine decides what
 * follows (refuse or report) in its own order of checks, so that a missing queue or an oversized batch is reported first.
 *
 * A key counts as used once its message was accepted: a refused send does not reserve it. Keys are noted before the
 * engine runs, because concurrent sends may use one key, and withdrawn if the message is not accepted.
 */

import {
  type Binding,
  bindingOf,
  type Contract,
  type Judged,
  keyReused,
  type MessageParts,
  type Refusal,
  scopedKey,
  sha256,
} from '@oncemq/toolkit';
import type { ActionBackend } from '../../api/actions/action.ts';
import { nextTurn } from '../../api/next-turn.ts';
import type { AttributeInput, Outcome, SendEntry, Violation } from '../../core/commands.ts';
import { deduplicationSecondsDefault } from '../../core/limits.ts';
import type { PublishEntry } from '../../core/topic/commands.ts';
import type { Judge } from '../../core/topic/fan-out.ts';
import { lastPartOf } from '../../core/topic/topic-arn.ts';
import type { Backend, PlainCommand } from '../../storage/backend.ts';
import { type TakeBack, UsedKeys } from './used-keys.ts';

/** Bodies that are together no longer than this are judged at once. */
const sharedTurnLengthMax = 16_384;

type Prepare = (outcome: Outcome) => unknown;

/** A contract, as a server applies it. */
export interface Enforced {
  readonly judge: Judge;
  enforceOn(backend: Backend): ActionBackend;
}

export function enforced(contract: Contract): Enforced {
  const keys = new UsedKeys();
  let now: (() => number) | undefined;
  return {
    judge: judgeOf(contract, keys, () => now?.()),
    enforceOn: (backend) => {
      now = () => backend.now();
      return new ContractedBackend(backend, contract, keys);
    },
  };
}

/**
 * Judges what a topic brings to a bound queue, whose window is taken for the default one: the engine cannot wait for an
 * answer. A key counts as used at once, since a delivery that fails is repeated with the same body.
 *
 * A publication can go to a thousand queues, so each binding reads it once (`found`).
 */
function judgeOf({ queues }: Contract, keys: UsedKeys, now: () => number | undefined): Judge {
  const found = new WeakMap<object, Map<Binding, Found>>();
  return (queue, message) => {
    const binding = bindingOf(queues, queue);
    if (binding === undefined) return undefined;
    let byBinding = found.get(message);
    if (byBinding === undefined) {
      byBinding = new Map();
      found.set(message, byBinding);
    }
    let known = byBinding.get(binding);
    if (known === undefined) {
      known = findIn(binding, partsOf(message));
      byBinding.set(binding, known);
    }
    const { judged, used } = known;
    const at = now();
    if (used === undefined || at === undefined) return violationOf(binding, judged);
    const target = `queue ${queue}`;
    const otherAt = keys.usedOtherwise(target, used.key, used.digest);
    if (otherAt !== undefined && at - otherAt < deduplicationSecondsDefault * 1000) {
      return violationOf(binding, used.reuse);
    }
    keys.note(target, used.key, used.digest, at);
    return undefined;
  };
}

/** What a binding finds in a message, whatever was sent before. */
interface Found {
  readonly judged: Judged;
  readonly used: CheckedMessage['used'];
}

function findIn(binding: Binding, message: MessageParts): Found {
  const judged = binding.judge(message);
  return { judged, used: usedBy(judged, message.body) };
}

/** What is remembered of a message that keeps its contract; undefined if the contract has no keys. */
function usedBy(judged: Judged, body: string): CheckedMessage['used'] {
  if (!judged.ok || judged.envelope === undefined) return undefined;
  const { event_source: source, dedupe_key: key } = judged.envelope;
  const event = { source, key };
  // Keys may be long, and many are remembered.
  return { key: sha256(scopedKey(event)), digest: sha256(body), reuse: keyReused(event) };
}

/** A message before the engine sees it. */
interface CheckedMessage {
  readonly violation: Violation | undefined;
  /** The digests of its body, and of source and key as one text; absent if its contract has no keys. */
  readonly used?:
    | { readonly key: string; readonly digest: string; readonly reuse: Refusal }
    | undefined;
  /** When the key was accepted with another body, within the window or before it. */
  readonly otherAt?: number | undefined;
  readonly takeBack?: TakeBack | undefined;
}

class ContractedBackend implements ActionBackend {
  readonly realm: Backend['realm'];
  readonly #backend: Backend;
  readonly #contract: Contract;
  readonly #keys: UsedKeys;

  constructor(backend: Backend, contract: Contract, keys: UsedKeys) {
    this.realm = backend.realm;
    this.#backend = backend;
    this.#contract = contract;
    this.#keys = keys;
    backend.listen(
      (event) => {
        if (event.type === 'queue-deleted') this.#keys.forget(`queue ${event.queue}`);
        if (event.type === 'topic-deleted') this.#keys.forget(`topic ${event.topic}`);
      },
      () => this.#keys.clear(),
    );
  }

  run<C extends PlainCommand, A = Outcome<C['type']>>(
    command: C,
    prepare?: (outcome: Outcome<C['type']>) => A,
  ): Promise<A> {
    // Whichever command it is, its outcome goes to its own `prepare`.
    return this.#run(command, prepare as Prepare | undefined) as Promise<A>;
  }

  receive: ActionBackend['receive'] = (command, client, prepare) =>
    this.#backend.receive(command, client, prepare);

  #run(command: PlainCommand, prepare: Prepare | undefined): Promise<unknown> {
    const { queues, topics } = this.#contract;
    if (command.type === 'send') {
      const binding = bindingOf(queues, command.queue);
      if (binding !== undefined) {
        const { queue, entries } = command;
        return this.#judged(`queue ${queue}`, binding, entries.map(partsOf), prepare, (found) => ({
          ...command,
          entries: entries.map((entry, at) => violated(entry, found[at])),
        }));
      }
    }
    if (command.type === 'publish') {
      const topic = lastPartOf(command.topicArn ?? '');
      const binding = bindingOf(topics, topic);
      if (binding !== undefined) {
        const { entries } = command;
        const messages = entries.map(({ message, ...rest }) => partsOf({ ...rest, body: message }));
        return this.#judged(`topic ${topic}`, binding, messages, prepare, (found) => ({
          ...command,
          entries: entries.map((entry, at) => violated(entry, found[at])),
        }));
      }
    }
    return this.#backend.run(command, prepare as never);
  }

  /** `withViolations` returns the command, each entry with its violation. */
  #judged(
    target: string,
    binding: Binding,
    messages: readonly MessageParts[],
    prepare: Prepare | undefined,
    withViolations: (violations: readonly (Violation | undefined)[]) => PlainCommand,
  ): Promise<unknown> {
    const go = (settled: readonly CheckedMessage[]): Promise<unknown> => {
      const violations = settled.map(({ violation }) => violation);
      return this.#settled(
        settled,
        this.#backend.run(withViolations(violations), ((outcome: Outcome) => {
          const told = withReported(outcome, violations);
          takeBackRefused(told, settled);
          return prepare === undefined ? told : prepare(told);
        }) as never),
      );
    };
    const decide = (checked: readonly CheckedMessage[]): Promise<unknown> => {
      // Only a suspicion costs a question: the window of the queue.
      if (checked.every(({ otherAt }) => otherAt === undefined)) return go(checked);
      return this.#windowMs(target).then((windowMs) =>
        go(checked.map((each) => this.#decided(target, binding, each, windowMs))),
      );
    };
    const check = (message: MessageParts): CheckedMessage => this.#check(target, binding, message);
    const length = messages.reduce((sum, { body }) => sum + body.length, 0);
    return length <= sharedTurnLengthMax
      ? decide(messages.map(check))
      : inTurns(messages, check).then(decide);
  }

  #check(target: string, binding: Binding, message: MessageParts): CheckedMessage {
    // The engine refuses a message without a body anyway.
    if (message.body === '') return { violation: undefined };
    const { judged, used } = findIn(binding, message);
    const violation = violationOf(binding, judged);
    if (used === undefined) return { violation };
    const otherAt = this.#keys.usedOtherwise(target, used.key, used.digest);
    if (otherAt !== undefined) return { violation, used, otherAt };
    return { violation, used, takeBack: this.#note(target, used) };
  }

  /** Within the window the key is reused; after it, the key may have a new body. */
  #decided(
    target: string,
    binding: Binding,
    checked: CheckedMessage,
    windowMs: number,
  ): CheckedMessage {
    const { used, otherAt } = checked;
    if (used === undefined || otherAt === undefined) return checked;
    if (this.#backend.now() - otherAt < windowMs) {
      return { violation: violationOf(binding, used.reuse) };
    }
    return { violation: undefined, used, takeBack: this.#note(target, used) };
  }

  #note(target: string, { key, digest }: NonNullable<CheckedMessage['used']>): TakeBack {
    return this.#keys.note(target, key, digest, this.#backend.now());
  }

  async #windowMs(target: string): Promise<number> {
    const [kind, queue = ''] = target.split(' ');
    const outcome =
      kind === 'queue'
        ? await this.#backend.run({
            type: 'get-attributes',
            queue,
            names: ['DeduplicationIntervalSeconds'],
          })
        : undefined;
    const seconds = outcome?.ok ? outcome.attributes['DeduplicationIntervalSeconds'] : undefined;
    return Number(seconds ?? deduplicationSecondsDefault) * 1000;
  }

  /** A command that failed accepted nothing. */
  async #settled(checked: readonly CheckedMessage[], underWay: Promise<unknown>): Promise<unknown> {
    try {
      return await underWay;
    } catch (error) {
      for (const { takeBack } of checked) takeBack?.();
      throw error;
    }
  }
}

/** Each message has a turn of its own, since others wait meanwhile; so have the request that brought them and the command. */
async function inTurns<T>(
  messages: readonly MessageParts[],
  check: (message: MessageParts) => T,
): Promise<readonly T[]> {
  const checked: T[] = [];
  for (const message of messages) {
    await nextTurn();
    checked.push(check(message));
  }
  await nextTurn();
  return checked;
}

function takeBackRefused(outcome: Outcome, checked: readonly CheckedMessage[]): void {
  const results: readonly { readonly ok: boolean }[] =
    outcome.ok && 'results' in outcome ? outcome.results : [];
  for (const [at, { takeBack }] of checked.entries()) if (!results[at]?.ok) takeBack?.();
}

/** Accepted messages tell how they break their contract, for their spans. */
function withReported(outcome: Outcome, violations: readonly (Violation | undefined)[]): Outcome {
  if (!outcome.ok || !('results' in outcome) || violations.every((each) => each === undefined)) {
    return outcome;
  }
  const results = (outcome.results as readonly { readonly ok: boolean }[]).map((result, at) =>
    result.ok && violations[at] !== undefined ? { ...result, violation: violations[at] } : result,
  );
  return { ...outcome, results } as Outcome;
}

function violated<Entry extends SendEntry | PublishEntry>(
  entry: Entry,
  violation: Violation | undefined,
): Entry {
  return violation === undefined ? entry : { ...entry, violation };
}

function violationOf(
  { mode }: Binding,
  judged: Refusal | { readonly ok: true },
): Violation | undefined {
  return judged.ok ? undefined : { mode, rule: judged.code, reason: judged.text };
}

function partsOf({
  body = '',
  attributes = [],
  deduplicationId,
}: {
  readonly body?: string | undefined;
  readonly attributes?: readonly AttributeInput[] | undefined;
  readonly deduplicationId?: string | undefined;
}): MessageParts {
  const texts = attributes.map(({ name, stringValue, binaryValue }) => [
    name,
    stringValue ?? Buffer.from(binaryValue ?? '').toString('base64'),
  ]);
  return { body, deduplicationId, attributes: Object.fromEntries(texts) };
}
