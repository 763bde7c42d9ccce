/**
 * Reads from the standard `OTEL_*` variables which signals are exported: metrics and traces, each to an OTLP collector, to
 * the console, or not at all. A signal is exported if its exporter or an OTLP endpoint is set; nothing is exported if
 * `OTEL_SDK_DISABLED` is true. An empty variable counts as unset.
 *
 * This file decides and checks, so that a wrong variable is an error at startup. OpenTelemetry's own exporters and
 * detectors read what concerns the transport (headers, compression, certificates) and the resource.
 */

import { ConfigError } from '../config/config-error.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** Where a signal goes; a list, as in the variable. Never empty. */
export type Exporters = readonly ('otlp' | 'console')[];

export type Propagator = 'tracecontext' | 'xray';

export interface TelemetryExports {
  readonly metrics:
    | {
        readonly exporters: Exporters;
        readonly intervalMs: number;
        /** How long one export may take; never more than the interval. */
        readonly timeoutMs: number;
      }
    | undefined;
  readonly traces:
    | {
        readonly exporters: Exporters;
        /** The trace context formats to read, in order of preference. */
        readonly propagators: readonly Propagator[];
      }
    | undefined;
}

export const nothingExported: TelemetryExports = { metrics: undefined, traces: undefined };

/** The defaults of the specification. */
const intervalMsDefault = 60_000;
const timeoutMsDefault = 30_000;
/** The longest delay of a Node timer. */
const durationMsMax = 2 ** 31 - 1;

const protocol = 'http/protobuf';

export function exportsOf(environment: Environment): TelemetryExports {
  if (environment['OTEL_SDK_DISABLED']?.trim().toLowerCase() === 'true') return nothingExported;
  const metrics = exportersOf('METRICS', environment);
  return {
    metrics: metrics && { exporters: metrics, ...pace(environment) },
    traces: tracesOf(environment),
  };
}

type Signal = 'METRICS' | 'TRACES';

function exportersOf(signal: Signal, environment: Environment): Exporters | undefined {
  const variable = `OTEL_${signal}_EXPORTER`;
  const endpoints = [`OTEL_EXPORTER_OTLP_${signal}_ENDPOINT`, 'OTEL_EXPORTER_OTLP_ENDPOINT'];
  const endpoint = endpoints.find((name) => textOf(name, environment) !== undefined);
  const named = textOf(variable, environment) ?? (endpoint === undefined ? 'none' : 'otlp');
  const words = named.split(',').map((word) => word.trim());
  const wrong = words.find((word) => !known[signal].includes(word));
  if (wrong !== undefined) {
    throw new ConfigError(
      `${variable}: ${wrong} is unknown. Known exporters are ${known[signal].join(', ')}.`,
    );
  }
  const exporters = (['otlp', 'console'] as const).filter((word) => words.includes(word));
  if (exporters.length === 0 || words.includes('none')) return undefined;
  if (exporters.includes('otlp')) {
    checkProtocol(signal, environment);
    if (endpoint !== undefined) checkUrl(endpoint, environment);
  }
  return exporters;
}

/** `prometheus` exports nothing, since `/metrics` is always served. */
const known: Readonly<Record<Signal, readonly string[]>> = {
  METRICS: ['otlp', 'console', 'prometheus', 'none'],
  TRACES: ['otlp', 'console', 'none'],
};

function checkProtocol(signal: Signal, environment: Environment): void {
  const names = [`OTEL_EXPORTER_OTLP_${signal}_PROTOCOL`, 'OTEL_EXPORTER_OTLP_PROTOCOL'];
  const variable = names.find((name) => textOf(name, environment) !== undefined);
  const value = variable && textOf(variable, environment);
  if (value === undefined || value === protocol) return;
  throw new ConfigError(
    `${variable}: ${value} is not supported. Use ${protocol}, which collectors accept on port 4318.`,
  );
}

function checkUrl(variable: string, environment: Environment): void {
  const value = textOf(variable, environment) as string;
  if (/^https?:\/\/./.test(value) && URL.canParse(value)) return;
  throw new ConfigError(`${variable} must be an http:// or https:// URL, not ${value}.`);
}

function tracesOf(environment: Environment): TelemetryExports['traces'] {
  const exporters = exportersOf('TRACES', environment);
  if (exporters === undefined) return undefined;
  checkSampler(environment);
  return { exporters, propagators: propagatorsOf(environment) };
}

function pace(environment: Environment): { intervalMs: number; timeoutMs: number } {
  const intervalMs = durationOf('OTEL_METRIC_EXPORT_INTERVAL', environment, intervalMsDefault);
  const timeoutMs = durationOf('OTEL_METRIC_EXPORT_TIMEOUT', environment, timeoutMsDefault);
  return { intervalMs, timeoutMs: Math.min(timeoutMs, intervalMs) };
}

const samplers: readonly string[] = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
];

/** OpenTelemetry reads these variables itself, but would silently sample every trace if one of them is wrong. */
function checkSampler(environment: Environment): void {
  const sampler = textOf('OTEL_TRACES_SAMPLER', environment) ?? 'parentbased_always_on';
  if (!samplers.includes(sampler)) {
    throw new ConfigError(
      `OTEL_TRACES_SAMPLER must be one of ${samplers.join(', ')}, not ${sampler}.`,
    );
  }
  const ratio = textOf('OTEL_TRACES_SAMPLER_ARG', environment) ?? '1';
  if (sampler.endsWith('traceidratio') && !(Number(ratio) >= 0 && Number(ratio) <= 1)) {
    throw new ConfigError(`OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1, not ${ratio}.`);
  }
}

/** The formats that SQS supports. */
const propagatorsRead: readonly Propagator[] = ['tracecontext', 'xray'];
/** Also in the specification, but they carry nothing that a server span needs. */
const propagatorsPassedOver = ['baggage', 'b3', 'b3multi', 'jaeger', 'ottrace', 'none'];

function propagatorsOf(environment: Environment): readonly Propagator[] {
  const named = textOf('OTEL_PROPAGATORS', environment);
  if (named === undefined) return propagatorsRead;
  const all: readonly string[] = [...propagatorsRead, ...propagatorsPassedOver];
  return named.split(',').flatMap((each) => {
    const name = each.trim();
    if (all.includes(name)) return propagatorsRead.filter((read) => read === name);
    throw new ConfigError(
      `OTEL_PROPAGATORS: ${name} is unknown. Known propagators are ${all.join(', ')}.`,
    );
  });
}

function durationOf(variable: string, environment: Environment, otherwise: number): number {
  const text = textOf(variable, environment);
  if (text === undefined) return otherwise;
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= 1 && value <= durationMsMax) return value;
  throw new ConfigError(
    `${variable} must be a whole number of milliseconds, at least 1, not ${text}.`,
  );
}

function textOf(variable: string, environment: Environment): string | undefined {
  return environment[variable]?.trim() || undefined;
}
