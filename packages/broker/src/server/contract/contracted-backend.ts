/**
 * A backend that enforces contracts: before the engine sees a send or a publication, its messages are checked against the
 * contract of their queue or topic, and each gets its violation attached. The engine decides what follows (refuse or
 * report) in its own order of checks, so that a missing queue or an oversized batch is reported first.
 *
 * A key counts as used once its message was accepted: a refused send does not reserve it. Keys are noted before the
 * engine runs, because concurrent sends may use one key, and withdrawn if the message is not accepted.
 */

import {
  type Binding,
  bindingOf,
  type Contract,
  keyReused,
  type MessageParts,
  type Refusal,
  scopedKey,
  sha256,
} from '@oncemq/toolkit';
import type { AttributeInput, Outcome, SendEntry, Violation } from '../../core/commands.ts';
import { deduplicationSecondsDefault } from '../../core/limits.ts';
import type { PublishEntry } from '../../core/topic/commands.ts';
import type { Judge } from '../../core/topic/fan-out.ts';
import { lastPartOf } from '../../core/topic/topic-arn.ts';
import type { Backend, PlainCommand } from '../../storage/backend.ts';
import { type TakeBack, UsedKeys } from './used-keys.ts';

type Prepare = (outcome: Outcome) => unknown;

/** A contract, as a server applies it. */
export interface Enforced {
  readonly judge: Judge;
  enforceOn(backend: Backend): Backend;
}

export function enforced(contract: Contract): Enforced {
  return {
    judge: judgeOf(contract),
    enforceOn: (backend) => contractedBackend(backend, contract),
  };
}

function contractedBackend(backend: Backend, contract: Contract): Backend {
  const contracts = new Contracts(backend, contract);
  const run = (command: PlainCommand, prepare?: Prepare): Promise<unknown> =>
    contracts.run(command, prepare);
  return new Proxy(backend, {
    get: (target, name) => {
      if (name === 'run') return run;
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

/** Judges what a topic brings to a bound queue. */
function judgeOf({ queues }: Contract): Judge {
  return (queue, { body, attributes }) => {
    const binding = bindingOf(queues, queue);
    return binding && violationOf(binding, binding.judge(partsOf({ body, attributes })));
  };
}

/** A message before the engine sees it. */
interface Looked {
  readonly violation: Violation | undefined;
  /** The digests of its body, and of source and key as one text; absent if its contract has no keys. */
  readonly used?: { readonly key: string; readonly digest: string; readonly reuse: Refusal };
  /** When the key was accepted with another body, within the window or before it. */
  readonly otherAt?: number | undefined;
  readonly takeBack?: TakeBack | undefined;
}

class Contracts {
  readonly #backend: Backend;
  readonly #contract: Contract;
  readonly #keys: UsedKeys = new UsedKeys();

  constructor(backend: Backend, contract: Contract) {
    this.#backend = backend;
    this.#contract = contract;
    backend.listen(
      (event) => {
        if (event.type === 'queue-deleted') this.#keys.forget(`queue ${event.queue}`);
        if (event.type === 'topic-deleted') this.#keys.forget(`topic ${event.topic}`);
      },
      () => this.#keys.clear(),
    );
  }

  run(command: PlainCommand, prepare?: Prepare): Promise<unknown> {
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
    const looked = messages.map((message) => this.#look(target, binding, message));
    const go = (settled: readonly Looked[]): Promise<unknown> => {
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
    // Only a suspicion costs a question: the window of the queue.
    if (looked.every(({ otherAt }) => otherAt === undefined)) return go(looked);
    return this.#windowMs(target).then((windowMs) =>
      go(looked.map((each) => this.#decided(target, binding, each, windowMs))),
    );
  }

  #look(target: string, binding: Binding, message: MessageParts): Looked {
    // The engine refuses a message without a body anyway.
    if (message.body === '') return { violation: undefined };
    const judged = binding.judge(message);
    const violation = violationOf(binding, judged);
    if (!judged.ok || judged.envelope === undefined) return { violation };
    const { event_source: source, dedupe_key: key } = judged.envelope;
    const event = { source, key };
    const used = {
      // Keys may be long, and many are remembered.
      key: sha256(scopedKey(event)),
      digest: sha256(message.body),
      reuse: keyReused(event),
    };
    const otherAt = this.#keys.usedOtherwise(target, used.key, used.digest);
    if (otherAt !== undefined) return { violation, used, otherAt };
    return { violation, used, takeBack: this.#note(target, used) };
  }

  /** Within the window the key is reused; after it, the key may have a new body. */
  #decided(target: string, binding: Binding, looked: Looked, windowMs: number): Looked {
    const { used, otherAt } = looked;
    if (used === undefined || otherAt === undefined) return looked;
    if (this.#backend.now() - otherAt < windowMs) {
      return { violation: violationOf(binding, used.reuse) };
    }
    return { violation: undefined, used, takeBack: this.#note(target, used) };
  }

  #note(target: string, { key, digest }: NonNullable<Looked['used']>): TakeBack {
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
  async #settled(looked: readonly Looked[], underWay: Promise<unknown>): Promise<unknown> {
    try {
      return await underWay;
    } catch (error) {
      for (const { takeBack } of looked) takeBack?.();
      throw error;
    }
  }
}

function takeBackRefused(outcome: Outcome, looked: readonly Looked[]): void {
  const results: readonly { readonly ok: boolean }[] =
    outcome.ok && 'results' in outcome ? outcome.results : [];
  for (const [at, { takeBack }] of looked.entries()) if (!results[at]?.ok) takeBack?.();
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
