/**
 * The contract for existing code: an AWS SDK v3 middleware that checks every SendMessage, SendMessageBatch, Publish and
 * PublishBatch to a FIFO queue or topic.
 *
 *   client.middlewareStack.use(dedupeGuard({ mode: 'observe', report: console.log }));
 *
 * observe: everything is sent, and violations are reported. reject: a violation is thrown as a ContractError before
 * anything is sent; one bad entry fails its whole batch. The SDK's own retries happen below the guard, which sees them as
 * one send.
 */

import { sha256 } from '../contract/canonical.ts';
import { checkMessage, type MessageRules, tracingName } from '../contract/message.ts';
import { ContractError, type Refusal, refuse } from '../contract/refusals.ts';
import { comparedAttributes } from '../contract/trace-context.ts';
import { windowMsDefault } from '../contract/window.ts';
import {
  aboutEnvelope,
  aboutRefusal,
  type Report,
  type TelemetryRecord,
} from '../telemetry/record.ts';
import { failedIn, type GuardedMessage, messagesOf } from './guarded-messages.ts';
import { SentMessages } from './sent-messages.ts';

export interface GuardOptions extends MessageRules {
  readonly mode: 'observe' | 'reject';
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
  if (!modes.includes(options.mode)) {
    throw new TypeError(
      `dedupeGuard: mode must be ${modes.join(' or ')}, not ${String(options.mode)}.`,
    );
  }
  const { mode, report = () => {}, now = Date.now } = options;
  const windowMs = options.windowMs ?? windowMsDefault;
  const sent = new SentMessages(windowMs);
  const middleware: Middleware = (next, context) => async (args) => {
    const { target, messages } = messagesOf(context.commandName, args.input);
    if (!target.endsWith('.fifo')) return next(args);
    const base = { time: new Date(now()).toISOString(), target, mode };
    // Entries of one batch can collide with each other before any of them is sent.
    const known = [sent, new SentMessages(windowMs)] as const;
    const refused = messages
      .map((message) => ({
        message,
        refusal: look(message, { base, options, known, report, now }),
      }))
      .find(({ refusal }) => refusal !== undefined);
    if (mode === 'reject' && refused?.refusal !== undefined) {
      const { id } = refused.message;
      throw new ContractError(refused.refusal, id === undefined ? '' : `Entry ${id}: `);
    }
    // Noted before they are sent, because concurrent sends collide too. Notes of messages that the queue did not accept
    // are withdrawn.
    const notes = messages.map((message) =>
      sent.note(target, idOf(message), restOf(message, options), now()),
    );
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

interface Look {
  readonly base: Pick<TelemetryRecord, 'time' | 'target'> & { readonly mode: 'observe' | 'reject' };
  readonly options: GuardOptions;
  /** What was sent before, and the earlier entries of the same call. */
  readonly known: readonly [SentMessages, SentMessages];
  readonly report: Report;
  readonly now: () => number;
}

/** Reports everything about one message, and returns what is wrong with it. */
function look(
  message: GuardedMessage,
  { base, options, known, report, now }: Look,
): Refusal | undefined {
  const checked = checkMessage(message, options);
  const body_sha256 = sha256(message.body);
  const source = message.deduplicationId === undefined ? 'content' : 'explicit';
  const event = checked.ok ? aboutEnvelope(checked.envelope) : {};
  const about = { ...base, ...event, source, body_sha256 } as const;
  const value = Buffer.byteLength(message.body);
  report({ ...about, metric: 'sqs_fifo.body_hash.length_bytes', value });
  if (!checked.ok) {
    report({
      ...about,
      metric: 'sqs_fifo.producer.violations',
      value: 1,
      ...aboutRefusal(checked),
    });
  }
  const rest = restOf(message, options);
  const id = idOf(message);
  const verdicts = known.map((sends) => sends.judge(base.target, id, rest, now()));
  const verdict = verdicts.find((each) => each !== 'new') ?? 'new';
  known[1].note(base.target, id, rest, now());
  // A caller that sets ids decides itself which sends are the same event: a difference is then reported, not refused.
  const collision =
    verdict === 'collision' && source === 'content'
      ? refuse('same-body-other-attributes')
      : undefined;
  const refusal = checked.ok ? collision : checked;
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

/** What the id does not cover but may distinguish events, in a stable order. */
function restOf(
  { groupId, attributes, deduplicationId, body }: GuardedMessage,
  { critical }: GuardOptions,
): unknown {
  const telling = comparedAttributes(attributes).filter(([name]) =>
    critical === undefined ? !tracingName.test(name) : critical.includes(name),
  );
  return [groupId, telling, deduplicationId === undefined ? undefined : sha256(body)];
}
