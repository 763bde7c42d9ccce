/**
 * The metrics of `oncemq relay`, exported as the standard OTEL_* variables say, with the reader and exporters of the server.
 */

import { openTelemetry, type Telemetry } from '@oncemq/toolkit';
import { ConfigError } from '../server/config/config-error.ts';
import { createLog } from '../server/log.ts';
import { type Environment, exportsOf } from '../server/telemetry/otel-environment.ts';
import { UsageError } from './usage.ts';

export interface RelayTelemetry {
  readonly telemetry: Telemetry;
  /** Exports the last values. */
  close(): Promise<void>;
}

/** Undefined if no collector is named. OpenTelemetry is loaded only if it is. */
export async function relayTelemetry(
  environment: Environment,
): Promise<RelayTelemetry | undefined> {
  const exports = metricsIn(environment);
  if (exports === undefined) return undefined;
  const api = await import('@opentelemetry/api');
  const { metricsProvider } = await import('../server/telemetry/metrics-export.ts');
  const { closeExport } = await import('../server/telemetry/watched-export.ts');
  const meterProvider = metricsProvider(exports, [], createLog('pretty'));
  return {
    telemetry: openTelemetry(api, { meterProvider }),
    close: () => closeExport(meterProvider),
  };
}

function metricsIn(environment: Environment): ReturnType<typeof exportsOf>['metrics'] {
  try {
    return exportsOf(environment).metrics;
  } catch (error) {
    if (error instanceof ConfigError) throw new UsageError(error.message);
    throw error;
  }
}
