/**
 * An OTLP collector in the test: accepts what an exporter posts to /v1/traces and decodes the spans, with just enough of
 * protobuf for that (opentelemetry/proto/trace/v1/trace.proto).
 */

import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { attributesOf, Fields } from './otlp-fields.ts';

export interface CollectedSpan {
  readonly traceId: string;
  readonly spanId: string;
  /** Empty for the first span of a trace. */
  readonly parentSpanId: string;
  readonly name: string;
  readonly kind: string;
  readonly startedAt: bigint;
  readonly endedAt: bigint;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly events: readonly { name: string; attributes: Readonly<Record<string, unknown>> }[];
  readonly links: readonly {
    traceId: string;
    spanId: string;
    attributes: Readonly<Record<string, unknown>>;
  }[];
  readonly hasFailed: boolean;
  readonly resource: Readonly<Record<string, unknown>>;
}

export interface SpanCollector {
  readonly url: string;
  /** In the order of their arrival. */
  readonly spans: readonly CollectedSpan[];
  close(): Promise<void>;
}

export async function openCollector(): Promise<SpanCollector> {
  const spans: CollectedSpan[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const isTraces = request.url === '/v1/traces';
      if (isTraces) spans.push(...spansIn(Buffer.concat(chunks)));
      response.writeHead(isTraces ? 200 : 404, { 'content-type': 'application/x-protobuf' }).end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

const kinds = ['unspecified', 'internal', 'server', 'client', 'producer', 'consumer'];
const errorStatus = 2;

function spansIn(bytes: Buffer): CollectedSpan[] {
  return new Fields(bytes).messages(1).flatMap((resourceSpans) => {
    const resource = attributesOf(resourceSpans.message(1)?.messages(1) ?? []);
    const scopes = resourceSpans.messages(2);
    return scopes.flatMap((scope) => scope.messages(2).map((span) => spanOf(span, resource)));
  });
}

function spanOf(span: Fields, resource: Record<string, unknown>): CollectedSpan {
  return {
    traceId: span.hex(1),
    spanId: span.hex(2),
    parentSpanId: span.hex(4),
    name: span.text(5),
    kind: kinds[Number(span.number(6))] as string,
    startedAt: span.number(7),
    endedAt: span.number(8),
    attributes: attributesOf(span.messages(9)),
    events: span
      .messages(11)
      .map((event) => ({ name: event.text(2), attributes: attributesOf(event.messages(3)) })),
    links: span.messages(13).map((link) => ({
      traceId: link.hex(1),
      spanId: link.hex(2),
      attributes: attributesOf(link.messages(4)),
    })),
    hasFailed: Number(span.message(15)?.number(3) ?? 0n) === errorStatus,
    resource,
  };
}
