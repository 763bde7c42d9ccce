/**
 * One effect per dedupe_key: wraps a handler so that a message whose key the inbox already knows is acknowledged without
 * calling it. The wrapped handler fits wherever messages come from:
 *
 *   sqs-consumer   handleMessage or handleMessageBatch: returns the messages that may be deleted
 *   Lambda         an event with Records: returns the failures of the batch, which are delivered again
 *   a plain loop   one message: resolves when it may be deleted; `consume` is such a loop
 *
 * After a failure, the later messages of the same group are not handled: they must not overtake it.
 *
 * A message with a known key and another body is a different event, which skipping would lose. It fails with the refusal
 * `key-reused`, is not deleted, and so reaches the dead-letter queue.
 */

import { bindingOf, type ContractOptions, contractOf } from '../contract/contract.ts';
import type { Envelope } from '../contract/envelope.ts';
import { ContractError } from '../contract/refusals.ts';
import { keyReused } from '../contract/reused-key.ts';
import type { Inbox, InboxOutcome } from '../inbox/inbox.ts';
import { aboutEnvelope, aboutRefusal } from '../telemetry/record.ts';
import { type NotedSpan, nameOf, type Telemetry } from '../telemetry/telemetry.ts';
import { type HeartbeatOptions, type Held, startHeartbeat } from './heartbeat.ts';
import {
  asSqsMessage,
  eventOf,
  groupOf,
  type LambdaAnswer,
  type LambdaEvent,
  type SqsMessage,
} from './received.ts';

/** The signal never aborts if neither `consume` nor a heartbeat holds the message. */
export interface HandlerContext<Transaction> extends Pick<Held, 'signal'> {
  readonly message: SqsMessage;
  /** The inbox's transaction, for effects that commit together with their mark. */
  readonly transaction: Transaction;
}

export type Handler<Payload, Transaction> = (
  envelope: Envelope<Payload>,
  context: HandlerContext<Transaction>,
) => Promise<void>;

/**
 * With a `contract`, messages are read by what it says about their queue; `namespace` alone sets the first part of every
 * event_source.
 */
export interface IdempotentOptions extends ContractOptions {
  /** Extends the visibility timeout while the handler runs; default: it is not extended. `consume` does so itself. */
  readonly heartbeat?: HeartbeatOptions;
  /** Called with the inbox's outcome for each message. */
  readonly onOutcome?: (outcome: InboxOutcome, envelope: Envelope) => void;
  /** Creates a span for each handler call; default: no spans. */
  readonly telemetry?: Telemetry;
  /** Where messages come from; default: what `consume`, the heartbeat or Lambda's records say. */
  readonly queueUrl?: string;
}

export interface IdempotentHandler {
  /** With `held`, the caller holds the message, as `consume` does, and no heartbeat is started. */
  <Message extends SqsMessage>(message: Message, held?: Held): Promise<Message>;
  <Message extends SqsMessage>(messages: readonly Message[], held?: Held): Promise<Message[]>;
  (event: LambdaEvent): Promise<LambdaAnswer>;
}

/** Another consumer is handling the same event; the message must be delivered again. */
export class BusyError extends Error {
  override readonly name: string = 'BusyError';
}

export function idempotent<Payload, Transaction>(
  handler: Handler<Payload, Transaction>,
  inbox: Inbox<Transaction>,
  options: IdempotentOptions = {},
): IdempotentHandler {
  const { heartbeat, onOutcome = () => {}, telemetry } = options;
  const queueUrl = options.queueUrl ?? heartbeat?.queueUrl;

  const handle = (message: SqsMessage, queue = queueUrl, held?: Held): Promise<void> =>
    telemetry === undefined
      ? handleOne(message, queue, held)
      : telemetry.processing(message, queue, (span) => handleOne(message, queue, held, span));

  const handleOne = async (
    message: SqsMessage,
    queue: string | undefined,
    held?: Held,
    span?: NotedSpan,
  ): Promise<void> => {
    const { envelope, event } = eventOf<Payload>(message, rulesFor(queue, options));
    const beat =
      heartbeat === undefined || held?.signal !== undefined
        ? undefined
        : startHeartbeat(message, heartbeat);
    const signal = held?.signal ?? beat?.signal ?? neverAborts;
    try {
      const outcome = await inbox.once(event, (transaction) =>
        handler(envelope, { message, transaction, signal }),
      );
      span?.setAttribute('oncemq.inbox.outcome', outcome);
      onOutcome(outcome, envelope);
      if (outcome === 'busy') {
        throw new BusyError(`Another consumer is handling ${envelope.dedupe_key}.`);
      }
      if (outcome === 'conflict') {
        const refusal = keyReused(event);
        telemetry?.report({
          time: new Date().toISOString(),
          metric: 'sqs_fifo.producer.violations',
          value: 1,
          target: queue ?? '',
          ...aboutEnvelope(envelope),
          ...aboutRefusal(refusal),
          body_sha256: event.digest,
        });
        throw new ContractError(refusal, `Message ${message.MessageId}: `);
      }
    } finally {
      beat?.stop();
    }
  };

  /** Returns the messages that were handled, and the first failure. Each group stops at its own first failure. */
  const handleAll = async <Message extends SqsMessage>(
    messages: readonly Message[],
    queue?: string,
  ): Promise<{ done: Message[]; failure: unknown }> => {
    const done: Message[] = [];
    const held = new Set<string>();
    let failure: unknown;
    for (const message of messages) {
      if (held.has(groupOf(message))) continue;
      try {
        await handle(message, queue);
        done.push(message);
      } catch (error) {
        failure ??= error;
        held.add(groupOf(message));
      }
    }
    return { done, failure };
  };

  const run = async (
    given: SqsMessage | readonly SqsMessage[] | LambdaEvent,
    held?: Held,
  ): Promise<SqsMessage | SqsMessage[] | LambdaAnswer> => {
    if ('Records' in given) {
      const messages = given.Records.map(asSqsMessage);
      const { done } = await handleAll(messages, given.Records[0]?.eventSourceARN);
      const failed = messages.filter((message) => !done.includes(message));
      return {
        batchItemFailures: failed.map(({ MessageId = '' }) => ({ itemIdentifier: MessageId })),
      };
    }
    if (isList(given)) {
      const { done, failure } = await handleAll(given, queueUrl ?? held?.queueUrl);
      // With nothing to acknowledge, throwing the failure says more than an empty list.
      if (done.length === 0 && failure !== undefined) throw failure;
      return done;
    }
    await handle(given, queueUrl ?? held?.queueUrl, held);
    return given;
  };
  return run as IdempotentHandler;
}

/** The contract may give the queue a form of its own. */
function rulesFor(queue: string | undefined, options: ContractOptions): ContractOptions {
  const contract = contractOf(options);
  const { form } = bindingOf(contract.queues, nameOf(queue ?? '')) ?? {};
  return { contract: form === undefined ? contract : { ...contract, form } };
}

const neverAborts: AbortSignal = new AbortController().signal;

function isList(value: unknown): value is readonly SqsMessage[] {
  return Array.isArray(value);
}
