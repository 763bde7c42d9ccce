/**
 * The metrics of a running server: `/metrics` as Prometheus text, and the exports that the environment asks for.
 * Concurrent requests for the page share one result, so that many cost no more than one.
 */

import { nextTurn } from '../../api/next-turn.ts';
import type { ApiResponse } from '../../api/request.ts';
import { type Backend, Unavailable } from '../../storage/backend.ts';
import type { Log } from '../log.ts';
import { namesMax } from './bounded-series.ts';
import type { Counts } from './counts.ts';
import { measure } from './measure.ts';
import type { MetricsExport } from './metrics-export.ts';
import { queueNames, topicNames } from './names.ts';
import type { TelemetryExports } from './otel-environment.ts';

export const metricsPath = '/metrics';

const methods: readonly string[] = ['GET', 'HEAD'];
const prometheusType = 'text/plain; version=0.0.4; charset=utf-8';

export interface MetricsOptions {
  readonly counts: Counts;
  readonly backend: Backend;
  readonly exports: TelemetryExports['metrics'];
  readonly log: Log;
}

export interface Metrics {
  /** The answer to a request for `/metrics`; never rejects. */
  answer(method: string): Promise<ApiResponse>;
  /** Exports the last values. */
  close(): Promise<void>;
}

export async function startMetrics(options: MetricsOptions): Promise<Metrics> {
  await welcome(options);
  const exporting = await startExport(options);
  let page: Promise<ApiResponse> | undefined;
  return {
    answer: (method) => {
      if (!methods.includes(method)) return Promise.resolve(notAllowed);
      page ??= prometheusPage(options).finally(() => {
        page = undefined;
      });
      return page;
    },
    close: async () => exporting?.close(),
  };
}

/** Starts counts for the queues and topics that already exist; events announce later ones. */
async function welcome({ counts, backend }: MetricsOptions): Promise<void> {
  const { queues, topics } = counts.events;
  for (const name of await queueNames(backend, namesMax)) queues.of(name);
  for (const name of await topicNames(backend, namesMax)) topics.of(name);
}

async function startExport({
  counts,
  backend,
  exports,
  log,
}: MetricsOptions): Promise<MetricsExport | undefined> {
  if (exports === undefined) return undefined;
  const { startMetricsExport } = await import('./metrics-export.ts');
  return startMetricsExport(exports, () => measure(counts, backend), log);
}

/** OpenTelemetry takes some 70 ms to load, so the first page loads it part by part. */
async function loadOpenTelemetry(): Promise<typeof import('./otel-metrics.ts')> {
  await import('@opentelemetry/api');
  await nextTurn();
  await import('@opentelemetry/resources');
  await nextTurn();
  await import('@opentelemetry/sdk-metrics');
  await nextTurn();
  return import('./otel-metrics.ts');
}

async function prometheusPage({ counts, backend, log }: MetricsOptions): Promise<ApiResponse> {
  try {
    const { prometheusText } = await loadOpenTelemetry();
    const body = await prometheusText(await measure(counts, backend), Date.now());
    return { status: 200, headers: { 'Content-Type': prometheusType }, body };
  } catch (error) {
    // A commit has just failed, so what was read is no longer true.
    if (error instanceof Unavailable) return plain(503, error.message);
    log.error('the metrics could not be read', error);
    return plain(500, 'Internal error; see the server log.');
  }
}

function plain(status: number, text: string): ApiResponse {
  return { status, headers: { 'Content-Type': 'text/plain; charset=utf-8' }, body: `${text}\n` };
}

const allow = methods.join(', ');
const refusal = plain(405, `This path accepts only ${allow}.`);
const notAllowed: ApiResponse = { ...refusal, headers: { ...refusal.headers, Allow: allow } };
