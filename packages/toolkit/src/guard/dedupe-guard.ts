/**
 * The contract for existing code: an AWS SDK v3 middleware that checks every SendMessage, SendMessageBatch, Publish and
 * PublishBatch to a FIFO queue or topic.
 *
 *   client.middlewareStack.use(dedupeGuard({ mode: 'observe', report: console.log }));
 *
 * With `contract: loadContract()`, the modes, forms and schemas of queues and topics come from the contract file.
 *
 * observe: everything is sent, and violations are reported. reject: a violation is thrown as a ContractError before
 * anything is sent; one bad entry fails its whole batch. The SDK's own retries happen below the guard, which sees them as
 * one send.
 */

import { sha256 } from '../contract/canonical.ts';
import { bindingOf, contractOf, type Judged, type Mode } from '../contract/contract.ts';
import { checkMessage, type MessageRules, tellingAttributes } from '../contract/message.ts';
import { ContractError, type Refusal, refuse } from '../contract/refusals.ts';
import { type EventKey, keyReused, scopedKey } from '../contract/reused-key.ts';
import { windowMsDefault } from '../contract/window.ts';
import {
  aboutEnvelope,
  aboutRefusal,
  type Report,
  type TelemetryRecord,
} from '../telemetry/record.ts';
import { nameOf } from '../telemetry/telemetry.ts';
import { failedIn, type GuardedMessage, messagesOf } from './guarded-messages.ts';
import { type Note, SentMessages, type Verdict } from './sent-messages.ts';

export interface GuardOptions extends MessageRules {
  /** Default: what the contract says about the queue or topic, and observe for those that it does not bind. */
  readonly mode?: Mode;
  /** Receives a record for everything the guard sees; optional. It must not throw. */
  readonly report?: Report;
  /** How long the queue remembers a body; default five minutes. */
  readonly windowMs?: number;
  /** Epoch milliseconds; default: the system clock. */
  readonly now?: () => number;
}

const modes: readonly string[] = ['observe', 'reject'];

type Middleware = <Args extends { input: object }, Result>(
  next: (args: Args) => Promise<Result>,
  context: { readonly commandName?: string },
) => (args: Args) => Promise<Result>;

/** The part of the SDK's middleware stack that the guard needs; every client's stack has it. */
export interface GuardedStack {
  add(
    middleware: Middleware,
    options: { step: 'initialize'; name: string; override: boolean },
  ): void;
}

export interface DedupeGuard {
  applyToStack(stack: GuardedStack): void;
}

export function dedupeGuard(options: GuardOptions): DedupeGuard {
  if (!(modes.includes(String(options.mode)) || (options.mode === undefined && options.contract))) {
    throw new TypeError(
      `dedupeGuard: mode must be ${modes.join(' or ')}, not ${String(options.mode)}. Without a mode, it needs a contract.`,
    );
  }
  const { report = () => {}, now = Date.now, windowMs = windowMsDefault } = options;
  const sent = new Memory(windowMs, options);
  const middleware: Middleware = (next, context) => async (args) => {
    const { target, messages } = messagesOf(context.commandName, args.input);
    if (!target.endsWith('.fifo')) return next(args);
    const { mode, judge } = rulesFor(target, options);
    const base = { time: new Date(now()).toISOString(), target, mode };
    // Entries of one batch can collide with each other before any of them is sent.
    const known = [sent, new Memory(windowMs, options)] as const;
    const looks = messages.map((message) => {
      const judged = judge(message);
      return { message, judged, refusal: look(message, judged, { base, known, report, now }) };
    });
    const refused = looks.find(({ refusal }) => refusal !== undefined);
    if (mode === 'reject' && refused?.refusal !== undefined) {
      const { id } = refused.message;
      throw new ContractError(refused.refusal, id === undefined ? '' : `Entry ${id}: `);
    }
    // Noted before they are sent, because concurrent sends collide too. Notes of messages that the queue did not accept
    // are withdrawn.
    const notes = looks.map(({ message, judged }) => sent.note(target, message, judged, now()));
    try {
      const result = await next(args);
      const failed = failedIn(result);
      const ended = messages.map(({ id }, index) => ({
        isFailed: failed.has(id),
        ...notes[index],
      }));
      for (const { isFailed, takeBack } of ended) if (isFailed) takeBack?.();
      for (const { isFailed, keep } of ended) if (!isFailed) keep?.();
      return result;
    } catch (error) {
      for (const { takeBack } of notes) takeBack();
      throw error;
    }
  };
  return {
    applyToStack: (stack) =>
      stack.add(middleware, { step: 'initialize', name: 'oncemqDedupeGuard', override: true }),
  };
}

/** The contract of a queue or topic, as far as the options do not say otherwise. */
function rulesFor(
  target: string,
  options: GuardOptions,
): { readonly mode: Mode; judge(message: GuardedMessage): Judged } {
  const { queues, topics } = contractOf(options);
  const binding = bindingOf(target.startsWith('arn:') ? topics : queues, nameOf(target));
  return {
    mode: options.mode ?? binding?.mode ?? 'observe',
    judge: (message) => binding?.judge(message, options) ?? checkMessage(message, options),
  };
}

/** What was sent within the window: by the id that the queue goes by, and by source and key. */
class Memory {
  readonly #ids: SentMessages;
  readonly #keys: SentMessages;
  readonly #rules: MessageRules;

  constructor(windowMs: number, rules: MessageRules) {
    this.#ids = new SentMessages(windowMs);
    this.#keys = new SentMessages(windowMs);
    this.#rules = rules;
  }

  judge(target: string, message: GuardedMessage, judged: Judged, now: number): Verdicts {
    const key = keyIn(judged);
    return {
      id: this.#ids.judge(target, idOf(message), this.#restOf(message), now),
      key: key === undefined ? 'new' : this.#keys.judge(target, scopedKey(key), message.body, now),
    };
  }

  note(target: string, message: GuardedMessage, judged: Judged, now: number): Note {
    const key = keyIn(judged);
    const notes = [
      this.#ids.note(target, idOf(message), this.#restOf(message), now),
      ...(key === undefined ? [] : [this.#keys.note(target, scopedKey(key), message.body, now)]),
    ];
    return {
      takeBack: () => {
        for (const { takeBack } of notes) takeBack();
      },
      keep: () => {
        for (const { keep } of notes) keep();
      },
    };
  }

  /** What the id does not cover but may distinguish events, in a stable order. */
  #restOf({ groupId, attributes, deduplicationId, body }: GuardedMessage): unknown {
    const telling = tellingAttributes(attributes, this.#rules);
    return [groupId, telling, deduplicationId === undefined ? undefined : sha256(body)];
  }
}

interface Verdicts {
  readonly id: Verdict;
  readonly key: Verdict;
}

interface Look {
  readonly base: Pick<TelemetryRecord, 'time' | 'target'> & { readonly mode: Mode };
  /** What was sent before, and the earlier entries of the same call. */
  readonly known: readonly [Memory, Memory];
  readonly report: Report;
  readonly now: () => number;
}

/** Reports everything about one message, and returns what is wrong with it. */
function look(
  message: GuardedMessage,
  judged: Judged,
  { base, known, report, now }: Look,
): Refusal | undefined {
  const body_sha256 = sha256(message.body);
  const source = message.deduplicationId === undefined ? 'content' : 'explicit';
  const event = judged.ok && judged.envelope !== undefined ? aboutEnvelope(judged.envelope) : {};
  const about = { ...base, ...event, source, body_sha256 } as const;
  const value = Buffer.byteLength(message.body);
  report({ ...about, metric: 'sqs_fifo.body_hash.length_bytes', value });
  const verdicts = known.map((sends) => sends.judge(base.target, message, judged, now()));
  known[1].note(base.target, message, judged, now());
  const isReused = verdicts.some(({ key }) => key === 'collision');
  const key = keyIn(judged);
  const reused = isReused && key !== undefined ? keyReused(key) : undefined;
  const violation = judged.ok ? reused : judged;
  if (violation !== undefined) {
    const metric = 'sqs_fifo.producer.violations';
    report({ ...about, metric, value: 1, ...aboutRefusal(violation) });
  }
  const verdict = verdicts.map(({ id }) => id).find((each) => each !== 'new') ?? 'new';
  // A caller that sets ids decides itself which sends are the same event: a difference is then reported, not refused.
  const collision =
    verdict === 'collision' && source === 'content'
      ? refuse('same-body-other-attributes')
      : undefined;
  const refusal = violation ?? collision;
  if (verdict !== 'new' && (refusal === undefined || base.mode === 'observe')) {
    report({ ...about, metric: 'sqs_fifo.dedupe_window_hits', value: 1 });
  }
  if (verdict === 'collision') {
    const metric = 'sqs_fifo.dedupe.collisions_detected';
    report({ ...about, metric, value: 1, ...(collision && aboutRefusal(collision)) });
  }
  return refusal;
}

/** The id by which the queue recognizes a duplicate. */
function idOf({ deduplicationId, body }: GuardedMessage): string {
  return deduplicationId ?? sha256(body);
}

/** Undefined if nothing was read. */
function keyIn(judged: Judged): EventKey | undefined {
  if (!judged.ok || judged.envelope === undefined) return undefined;
  const { event_source: source, dedupe_key: key } = judged.envelope;
  return { source, key };
}
