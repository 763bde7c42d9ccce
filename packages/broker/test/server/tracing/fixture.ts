/**
 * A server that exports its spans to a collector in the test, the real AWS clients, and the spans that arrived. To get
 * them, the fixture stops the server, which flushes what is left.
 */

import type { TestContext } from 'node:test';
import { SNS } from '@aws-sdk/client-sns';
import { SQS } from '@aws-sdk/client-sqs';
import { configOf, type ServerOptions } from '../../../src/server/config/options.ts';
import { type Started, start } from '../../../src/server/start-server.ts';
import { exportsOf } from '../../../src/server/telemetry/otel-environment.ts';
import {
  type CollectedSpan,
  openCollector,
  type SpanCollector,
} from '../../support/span-collector.ts';

export interface TracedServer {
  readonly server: Started;
  readonly sqs: SQS;
  readonly sns: SNS;
  readonly collector: SpanCollector;
  /** Stops the server; by then all its spans have arrived. */
  spans(): Promise<readonly CollectedSpan[]>;
}

export async function openTraced(
  t: TestContext,
  options: ServerOptions = {},
  variables: Readonly<Record<string, string>> = {},
): Promise<TracedServer> {
  const collector = await openCollector();
  t.after(() => collector.close());
  const environment = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, ...variables };
  setVariables(t, environment);
  const memory = options.data === undefined;
  const config = configOf({ log: 'silent', memory, ...options, clock: 'manual', port: 0 });
  const exports = { ...exportsOf(environment), metrics: undefined };
  const server = await start({ ...config, exports });
  const client = {
    endpoint: server.url,
    region: 'us-east-1',
    credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
  };
  const [sqs, sns] = [new SQS(client), new SNS(client)];
  t.after(async () => {
    sqs.destroy();
    sns.destroy();
    await server.close();
  });
  const spans = async (): Promise<readonly CollectedSpan[]> => {
    await server.close();
    return collector.spans;
  };
  return { server, sqs, sns, collector, spans };
}

/** Sets variables for this test only; OpenTelemetry's exporters read only `process.env`. */
export function setVariables(t: TestContext, variables: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(variables)) {
    process.env[name] = value;
    t.after(() => {
      delete process.env[name];
    });
  }
}

export async function createFifo(sqs: SQS, name = 'jobs.fifo'): Promise<string> {
  const { QueueUrl } = await sqs.createQueue({
    QueueName: name,
    Attributes: { FifoQueue: 'true', ContentBasedDeduplication: 'true' },
  });
  return QueueUrl as string;
}

/** A trace context of the test's own, in the forms in which it is transmitted. */
export interface Traveling {
  readonly traceId: string;
  readonly spanId: string;
  readonly traceparent: string;
  readonly xray: string;
  /** As message attributes. */
  readonly attributes: { readonly traceparent: { DataType: string; StringValue: string } };
}

let contexts = 0;

export function newContext(): Traveling {
  contexts += 1;
  const traceId = `5b8efff798038103d269b633${String(contexts).padStart(8, '0')}`;
  const spanId = `eee19b7e${String(contexts).padStart(8, '0')}`;
  const traceparent = `00-${traceId}-${spanId}-01`;
  const xray = `Root=1-${traceId.slice(0, 8)}-${traceId.slice(8)};Parent=${spanId};Sampled=1`;
  const attributes = { traceparent: { DataType: 'String', StringValue: traceparent } };
  return { traceId, spanId, traceparent, xray, attributes };
}

/** Puts headers on every request of the client from now on. */
export function addHeaders(client: SQS, headers: Readonly<Record<string, string>>): void {
  client.middlewareStack.add(
    (next) => (args) => {
      Object.assign((args.request as { headers: object }).headers, headers);
      return next(args);
    },
    { step: 'build', name: 'testHeaders', override: true },
  );
}

export function named(spans: readonly CollectedSpan[], name: string): CollectedSpan[] {
  return spans.filter((span) => span.name === name);
}

/** Where a span's parent, or a link, points. */
export function idsOf(of: { traceId: string; spanId: string }): string {
  return `${of.traceId} ${of.spanId}`;
}

export function parentOf({ traceId, parentSpanId }: CollectedSpan): string {
  return idsOf({ traceId, spanId: parentSpanId });
}
