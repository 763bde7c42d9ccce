/**
 * A relay that runs: sends at once what is appended, as far as the outbox can tell (PostgreSQL notifies at the commit, a
 * file outbox within its process), and looks every second in any case, because a notification can be lost with its
 * connection. It removes old messages that were sent, and tells how far it is behind.
 *
 * Failures never end it: after a request that failed as a whole, or an outbox that cannot be read, it pauses, up to half a
 * minute, and tries again.
 */

import type { Backlog, Outbox } from './outbox.ts';
import type { Relayed } from './relay.ts';

export interface RunOptions {
  /** Ends the relay after the request that is under way. */
  readonly signal: AbortSignal;
  /** How often to look for messages without being woken; default 1. */
  readonly pollSeconds?: number;
  /** For how long sent messages are kept for replays; default: forever. */
  readonly keepSentMs?: number;
  /** Called with the reason of each failure: of a message, of a request, of the outbox; default: a process warning. */
  readonly onFailure?: (reason: string) => void;
  /** Called after each round. */
  readonly onStatus?: (status: RelayStatus) => void;
}

export interface RelayStatus extends Backlog {
  /** How long ago the oldest unsent message was appended; 0 if there is none. */
  readonly lagMs: number;
  /** Since the last status. */
  readonly sent: number;
  /** Since the last status. */
  readonly failed: number;
}

interface Running extends RunOptions {
  readonly outbox: Outbox;
  readonly flush: () => Promise<Relayed>;
  readonly now: () => number;
}

const pauseMs = { first: 100, max: 30_000 };
const pruneMs = 60_000;

export async function runRelay(running: Running): Promise<void> {
  const { outbox, flush, now, signal, pollSeconds = 1, keepSentMs } = running;
  const { onFailure = warnOfProcess, onStatus = () => {} } = running;
  const bell = new Bell(signal);
  let stopListening: (() => Promise<void>) | undefined;
  let prunedAt = Number.NEGATIVE_INFINITY;
  let pause = pauseMs.first;

  const listen = async (): Promise<void> => {
    stopListening ??= await outbox.listen?.(
      () => bell.ring(),
      (error) => {
        stopListening = undefined;
        onFailure(`The relay no longer hears of new messages and looks for them: ${textOf(error)}`);
      },
    );
  };

  /** Returns whether everything worked. */
  const round = async (): Promise<boolean> => {
    try {
      await listen();
      const { sent, failures, isBroken } = await flush();
      for (const reason of failures) onFailure(reason);
      if (keepSentMs !== undefined && now() - prunedAt >= pruneMs) {
        await outbox.prune(now() - keepSentMs);
        prunedAt = now();
      }
      const backlog = await outbox.backlog();
      const lagMs = backlog.oldestAt === undefined ? 0 : Math.max(0, now() - backlog.oldestAt);
      onStatus({ ...backlog, lagMs, sent, failed: failures.length });
      return !isBroken;
    } catch (error) {
      onFailure(textOf(error));
      return false;
    }
  };

  while (!signal.aborted) {
    if (await round()) {
      pause = pauseMs.first;
      await bell.wait(pollSeconds * 1_000);
    } else {
      await bell.wait(pause, 'whole');
      pause = Math.min(pause * 2, pauseMs.max);
    }
  }
  await stopListening?.();
}

/** Waits for a time, a ring or the signal. A ring while nobody waits ends the next wait. */
class Bell {
  readonly #signal: AbortSignal;
  #hasRung = false;
  #end: (() => void) | undefined;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  ring(): void {
    this.#hasRung = true;
    this.#end?.();
  }

  /** A `whole` wait is not ended by a ring. */
  async wait(milliseconds: number, extent: 'whole' | 'rung' = 'rung'): Promise<void> {
    await new Promise<void>((resolve) => {
      if (this.#signal.aborted || (extent === 'rung' && this.#hasRung)) return resolve();
      const end = (): void => {
        clearTimeout(timer);
        this.#signal.removeEventListener('abort', end);
        resolve();
      };
      const timer = setTimeout(end, milliseconds);
      this.#signal.addEventListener('abort', end);
      if (extent === 'rung') this.#end = end;
    });
    this.#end = undefined;
    this.#hasRung = false;
  }
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function warnOfProcess(reason: string): void {
  process.emitWarning(reason, { code: 'ONCEMQ_RELAY' });
}
