/**
 * What the exports of all signals have in common: a variable that OpenTelemetry cannot use is told of at the start; a
 * collector that is away is told of once, and once more when it is back; and a server that stops sends what is left, but
 * does not wait for long.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { DiagLogLevel, diag } from '@opentelemetry/api';
import { type ExportResult, ExportResultCode } from '@opentelemetry/core';
import type { Log } from '../log.ts';

/** As OpenTelemetry's exporters of every signal are. */
interface Exporter<Items> {
  export(items: Items, done: (result: ExportResult) => void): void;
  forceFlush?(): Promise<void>;
  shutdown(): Promise<void>;
}

/** How long stopping waits for the collector. */
const closeMsMax = 2_000;

/** Makes what exports; what OpenTelemetry has against the variables that it reads itself then, it would pass over in silence. */
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

/** The exporter, with a word to the log when it begins to fail and when it has got over it. */
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
      log.error(`${signal} cannot be exported; the server goes on and keeps trying`, reason);
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

/** Sends what is left, once `last` is done, as far as there is somebody who takes it. */
export async function closeExport(
  provider: { shutdown(): Promise<void> },
  last: Promise<void> = Promise.resolve(),
): Promise<void> {
  await Promise.race([
    // What cannot be sent has been logged already.
    last.then(() => provider.shutdown()).catch(() => {}),
    sleep(closeMsMax, undefined, { ref: false }),
  ]);
}
