/**
 * Sends what an outbox holds, in order, and marks it. A message is sent as it was kept, byte for byte: if the process
 * died between a send and its mark, the second send is a duplicate that the queue suppresses.
 *
 * Of each group only the oldest message is under way at a time, so a failed send can hold up its group and nothing
 * overtakes. A message that was kept longer ago than the window may have been sent then and would be delivered again;
 * the relay says so, sends it, and leaves it to the consumer's inbox to recognise it.
 */

import type { Envelope } from '../contract/envelope.ts';
import { windowMsDefault } from '../contract/window.ts';
import { batchesOf, type Destination, type ProducerMessage, sendBatch } from '../producer/send.ts';
import type { KeptMessage, Outbox, TimeRange } from './outbox.ts';

export interface RelayOptions extends Destination {
  readonly outbox: Outbox;
  /** How long the queue remembers a message; default five minutes. */
  readonly windowMs?: number;
  /** Told of each message that is sent although its window may be over; default: a warning of the process. */
  readonly onPastWindow?: (kept: KeptMessage, ageMs: number) => void;
  /** Epoch milliseconds; default the clock of the machine. */
  readonly now?: () => number;
}

export interface Relayed {
  readonly sent: number;
  /** Of these, how many were kept longer ago than the window. */
  readonly pastWindow: number;
  /** Why messages were not taken; theirs and later ones of their groups are still unsent. */
  readonly failures: readonly string[];
}

export interface Relay {
  /** Sends everything that is unsent. Resolves also when some could not be sent, and says so. */
  flush(): Promise<Relayed>;
  /** Sends again what happened in a time, sent before or not: for backfills. Marks nothing. */
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
      // One by one: two of a group in one request could change places if the first one failed.
      sent += (await sendKept([kept], options, failures)).done.length;
      if (failures.length > 0) break;
    }
    return { sent, pastWindow, failures };
  };

  return { flush, replay };
}

function warnOfProcess({ id, message }: KeptMessage, ageMs: number): void {
  process.emitWarning(
    `Message ${id} (${keyOf(message) ?? 'no envelope'}) was kept ${Math.round(ageMs / 1000)} s ago, longer than the queue remembers. If it was sent then, it is delivered again, and it is for the inbox of the consumer to recognise it.`,
    { code: 'ONCEMQ_PAST_WINDOW' },
  );
}

/** Versions before kept bodies that are no envelopes, too. */
function keyOf({ body }: ProducerMessage): string | undefined {
  try {
    const { dedupe_key: key } = JSON.parse(body) as Partial<Envelope>;
    return typeof key === 'string' ? key : undefined;
  } catch {
    return undefined;
  }
}

/** The ids of those that were taken. After a request that failed as a whole nothing more is tried: it is broken. */
async function sendKept(
  kept: readonly KeptMessage[],
  destination: Destination,
  failures: string[],
): Promise<{ done: number[]; isBroken: boolean }> {
  const idOf = new Map<ProducerMessage, number>(kept.map(({ id, message }) => [message, id]));
  const done: number[] = [];
  // Told of here, one by one: it would break the request for the others.
  const isSendable = ({ id, message }: KeptMessage): boolean => {
    if (destination.deduplicateBy !== 'key' || keyOf(message) !== undefined) return true;
    failures.push(`Message ${id} has no dedupe_key to be sent by.`);
    return false;
  };
  try {
    for (const batch of batchesOf(kept.filter(isSendable).map(({ message }) => message))) {
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
