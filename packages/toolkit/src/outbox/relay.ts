/**
 * Sends the messages of an outbox in order and marks them as sent. A message is sent byte for byte as it was kept: if
 * the process died between a send and its mark, the second send is a duplicate that the queue suppresses.
 *
 * Only the oldest message of each group is in flight at a time, so a failed send holds up its group and nothing overtakes
 * it. A message older than the window may already have been sent, and would then be delivered again: the relay warns,
 * sends it, and leaves it to the consumer's inbox to recognize it.
 */

import { windowMsDefault } from '../contract/window.ts';
import { batchesOf, type Destination, type ProducerMessage, sendBatch } from '../producer/send.ts';
import { type KeptMessage, keyOf, type Outbox, type TimeRange } from './outbox.ts';

export interface RelayOptions extends Destination {
  readonly outbox: Outbox;
  /** How long the queue remembers a message; default five minutes. */
  readonly windowMs?: number;
  /** Called for each message that is sent although its window may be over; default: a process warning. */
  readonly onPastWindow?: (kept: KeptMessage, ageMs: number) => void;
  /** Epoch milliseconds; default: the system clock. */
  readonly now?: () => number;
}

export interface Relayed {
  readonly sent: number;
  /** How many messages were older than the window. */
  readonly pastWindow: number;
  /** Why messages were not accepted; these and the later ones of their groups are still unsent. */
  readonly failures: readonly string[];
}

export interface Relay {
  /** Sends everything that is unsent. Resolves even if some messages could not be sent; see `failures`. */
  flush(): Promise<Relayed>;
  /** Sends every kept message whose event_time is in the range, sent before or not: for backfills. Marks nothing. */
  replay(range: TimeRange): Promise<Relayed>;
}

const takenMax = 100;

export function createRelay(options: RelayOptions): Relay {
  const {
    outbox,
    windowMs = windowMsDefault,
    onPastWindow = warnOfProcess,
    now = Date.now,
  } = options;

  const warn = (kept: KeptMessage): boolean => {
    const ageMs = now() - kept.appendedAt;
    if (ageMs < windowMs) return false;
    onPastWindow(kept, ageMs);
    return true;
  };

  const flush = async (): Promise<Relayed> => {
    const held = new Set<string>();
    const failures: string[] = [];
    let [sent, pastWindow, isCut] = [0, 0, false];
    for (;;) {
      const given = await outbox.take(takenMax, held, async (kept) => {
        pastWindow += kept.filter(warn).length;
        const { done, isBroken } = await sendKept(kept, options, failures);
        for (const { id, message } of kept) if (!done.includes(id)) held.add(message.groupId);
        sent += done.length;
        isCut = isBroken;
        return done;
      });
      if (given === 0 || isCut) return { sent, pastWindow, failures };
    }
  };

  const replay = async (range: TimeRange): Promise<Relayed> => {
    const failures: string[] = [];
    let [sent, pastWindow] = [0, 0];
    for await (const kept of outbox.between(range)) {
      if (warn(kept)) pastWindow += 1;
      // One by one: in one request, a later message of a group could succeed although an earlier one failed.
      sent += (await sendKept([kept], options, failures)).done.length;
      if (failures.length > 0) break;
    }
    return { sent, pastWindow, failures };
  };

  return { flush, replay };
}

function warnOfProcess({ id, message }: KeptMessage, ageMs: number): void {
  process.emitWarning(
    `Message ${id} (${keyOf(message)}) was stored ${Math.round(ageMs / 1000)} s ago, longer than the queue's deduplication window. If it was already sent, it is delivered again, and the consumer's inbox must recognize it.`,
    { code: 'ONCEMQ_PAST_WINDOW' },
  );
}

/** Returns the ids of the accepted messages. A request that fails as a whole ends the attempt: `isBroken`. */
async function sendKept(
  kept: readonly KeptMessage[],
  destination: Destination,
  failures: string[],
): Promise<{ done: number[]; isBroken: boolean }> {
  const idOf = new Map<ProducerMessage, number>(kept.map(({ id, message }) => [message, id]));
  const done: number[] = [];
  try {
    for (const batch of batchesOf(kept.map(({ message }) => message))) {
      const { answers, failures: refused } = await sendBatch(batch, destination);
      failures.push(...refused);
      for (const [index, message] of batch.entries()) {
        if (answers[index] !== undefined) done.push(idOf.get(message) as number);
      }
    }
    return { done, isBroken: false };
  } catch (error) {
    failures.push(error instanceof Error ? error.message : String(error));
    return { done, isBroken: true };
  }
}
