/**
 * What the exports of all signals have in common: a variable that OpenTelemetry cannot use is logged at startup; an
 * unreachable collector is logged once, and once more when it is back; and a server that stops flushes what is left, but
 * does not wait long for it.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { DiagLogLevel, diag } from '@opentelemetry/api';
import { type ExportResult, ExportResultCode } from '@opentelemetry/core';
import type { Log } from '../log.ts';

/** What OpenTelemetry's exporters have in common, whatever their signal. */
interface Exporter<Items> {
  export(items: Items, done: (result: ExportResult) => void): void;
  forceFlush?(): Promise<void>;
  shutdown(): Promise<void>;
}

/** How long stopping waits for the collector. */
const closeMsMax = 2_000;

/** Creates an exporter and logs what OpenTelemetry warns about the variables that it reads meanwhile; it is silent otherwise. */
export function telling<Made>(log: Log, make: () => Made): Made {
  const warn = (text: string): void => log.info(`OpenTelemetry: ${text}`);
  const nothing = (): void => {};
  const silent = { error: nothing, info: nothing, debug: nothing, verbose: nothing };
  diag.setLogger({ ...silent, warn }, DiagLogLevel.WARN);
  try {
    return make();
  } finally {
    diag.disable();
  }
}

/** The exporter, which now logs when it starts to fail and when it recovers. */
export function watched<Items>(
  exporter: Exporter<Items>,
  signal: 'metrics' | 'spans',
  log: Log,
): Required<Exporter<Items>> {
  let isFailing = false;
  const note = ({ code, error }: ExportResult): void => {
    const fails = code !== ExportResultCode.SUCCESS;
    if (fails && !isFailing) {
      const reason = error?.message || (error as NodeJS.ErrnoException | undefined)?.code;
      log.error(
        `${signal} cannot be exported; everything else goes on, and so do the attempts`,
        reason,
      );
    }
    if (!fails && isFailing) log.info(`${signal} are exported again`);
    isFailing = fails;
  };
  return {
    export: (items, done) =>
      exporter.export(items, (result) => {
        note(result);
        done(result);
      }),
    forceFlush: async () => exporter.forceFlush?.(),
    shutdown: () => exporter.shutdown(),
  };
}

/** Flushes what is left once `last` is done, but gives up after `closeMsMax`. */
export async function closeExport(
  provider: { shutdown(): Promise<void> },
  last: Promise<void> = Promise.resolve(),
): Promise<void> {
  await Promise.race([
    // Export failures have been logged already.
    last.then(() => provider.shutdown()).catch(() => {}),
    sleep(closeMsMax, undefined, { ref: false }),
  ]);
}
