/**
 * Sends the messages of an outbox in order and marks them as sent. A message is sent byte for byte as it was kept: if
 * the process died between a send and its mark, the second send is a duplicate that the queue suppresses.
 *
 * Only the oldest message of each group is in flight at a time, so a failed send holds up its group and nothing overtakes
 * it. The exception is a message that the queue refuses for good, because of its size or its contract: no repetition helps,
 * so it is parked with its reason, and its group goes on, as behind a message in a dead-letter queue. Where later events are
 * worthless without it, `refused: 'hold'` stops its group until somebody retries or skips it.
 *
 * A message older than the window may already have been sent, and would then be delivered again: the relay warns, sends it,
 * and leaves it to the consumer's inbox to recognize it.
 */

import { windowMsDefault } from '../contract/window.ts';
import { batchesOf, type Destination, sendBatch, targetOf } from '../producer/send.ts';
import { type KeptMessage, keyOf, type Outbox, type TimeRange, type Verdict } from './outbox.ts';
import { type RelayStatus, type RunOptions, runRelay } from './relay-loop.ts';

export type RelayOptions = Destination & RelaySettings;

interface RelaySettings {
  readonly outbox: Outbox;
  /** What happens to the later messages of a group behind a refused one; default `pass`: they are sent. */
  readonly refused?: 'pass' | 'hold';
  /** How long the queue remembers a message; default five minutes. */
  readonly windowMs?: number;
  /** Called for each message that is sent although its window may be over; default: a process warning. */
  readonly onPastWindow?: (kept: KeptMessage, ageMs: number) => void;
  /** Epoch milliseconds; default: the system clock. */
  readonly now?: () => number;
}

export interface Relayed {
  readonly sent: number;
  /** How many messages were refused for good, and are set aside now. */
  readonly parked: number;
  /** How many messages were older than the window. */
  readonly pastWindow: number;
  /** Why messages were not accepted. Those that are not parked are still unsent, and hold up their groups. */
  readonly failures: readonly string[];
  /** A request failed as a whole, so the rest was not tried. */
  readonly isBroken: boolean;
}

export interface Relay {
  /** Sends everything that is unsent. Resolves even if some messages could not be sent; see `failures`. */
  flush(): Promise<Relayed>;
  /** Sends whatever is appended, until the signal aborts. Of several relays on one outbox, one sends at a time. */
  run(options: RunOptions): Promise<void>;
  /** Sends every kept message whose event_time is in the range, sent before or not: for backfills. Marks nothing. */
  replay(range: TimeRange): Promise<Relayed>;
}

const takenMax = 100;

export function createRelay(options: RelayOptions): Relay {
  const {
    outbox,
    refused = 'pass',
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
    const held = refused === 'hold' ? await parkedGroups(outbox) : new Set<string>();
    const failures: string[] = [];
    let [sent, parked, pastWindow, isCut] = [0, 0, 0, false];
    for (;;) {
      const given = await outbox.take(takenMax, held, async (kept) => {
        pastWindow += kept.filter(warn).length;
        const { isBroken, ...verdict } = await sendKept(kept, options, failures);
        const done = new Set(verdict.sent);
        if (refused === 'pass') for (const { id } of verdict.parked) done.add(id);
        for (const { id, message } of kept) if (!done.has(id)) held.add(message.groupId);
        sent += verdict.sent.length;
        parked += verdict.parked.length;
        isCut = isBroken;
        return verdict;
      });
      if (given === 0 || isCut) return { sent, parked, pastWindow, failures, isBroken: isCut };
    }
  };

  const replay = async (range: TimeRange): Promise<Relayed> => {
    const failures: string[] = [];
    let [sent, pastWindow, isCut] = [0, 0, false];
    for await (const kept of outbox.between(range)) {
      if (warn(kept)) pastWindow += 1;
      // One by one: in one request, a later message of a group could succeed although an earlier one failed.
      const { sent: done, isBroken } = await sendKept([kept], options, failures);
      sent += done.length;
      isCut = isBroken;
      if (failures.length > 0) break;
    }
    return { sent, parked: 0, pastWindow, failures, isBroken: isCut };
  };

  const run = (runOptions: RunOptions): Promise<void> => {
    const tell = (status: RelayStatus): void => {
      options.telemetry?.relaying?.(targetOf(options), status);
      runOptions.onStatus?.(status);
    };
    return runRelay({ ...runOptions, outbox, flush, now, onStatus: tell });
  };

  return { flush, run, replay };
}

async function parkedGroups(outbox: Outbox): Promise<Set<string>> {
  const groups = new Set<string>();
  let after = 0;
  for (;;) {
    const parked = await outbox.parked(takenMax, after);
    if (parked.length === 0) return groups;
    for (const { message } of parked) groups.add(message.groupId);
    after = parked.at(-1)?.id ?? after;
  }
}

function warnOfProcess({ id, message }: KeptMessage, ageMs: number): void {
  process.emitWarning(
    `Message ${id} (${keyOf(message)}) was stored ${Math.round(ageMs / 1000)} s ago, longer than the queue's deduplication window. If it was already sent, it is delivered again, and the consumer's inbox must recognize it.`,
    { code: 'ONCEMQ_PAST_WINDOW' },
  );
}

/** A request that fails as a whole ends the attempt: `isBroken`. */
async function sendKept(
  kept: readonly KeptMessage[],
  destination: Destination,
  failures: string[],
): Promise<Required<Verdict> & { isBroken: boolean }> {
  const sent: number[] = [];
  const parked: { id: number; reason: string }[] = [];
  const left = [...kept];
  try {
    for (const batch of batchesOf(kept.map(({ message }) => message))) {
      const ids = left.splice(0, batch.length).map(({ id }) => id);
      const answer = await sendBatch(batch, destination);
      for (const { index, reason, isRefusal } of answer.failures) {
        failures.push(reason);
        if (isRefusal) parked.push({ id: ids[index] as number, reason });
      }
      sent.push(...ids.filter((_, index) => answer.answers[index] !== undefined));
    }
    return { sent, parked, isBroken: false };
  } catch (error) {
    failures.push(error instanceof Error ? error.message : String(error));
    return { sent, parked, isBroken: true };
  }
}
