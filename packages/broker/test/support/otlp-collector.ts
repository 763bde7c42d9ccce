/**
 * A collector for tests: a real HTTP server that accepts OTLP in protobuf and decodes the metrics by the field numbers of
 * opentelemetry/proto/metrics/v1/metrics.proto. It does not decode traces, which a server sends to the same place.
 */

import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { attributesOf, Fields } from './otlp-fields.ts';

export interface ReceivedPoint {
  readonly attributes: Readonly<Record<string, string>>;
  /** The number, or the sum of a histogram. */
  readonly value: number;
  /** Of a histogram. */
  readonly count: number | undefined;
}

export interface ReceivedMetric {
  readonly name: string;
  readonly unit: string;
  readonly kind: 'gauge' | 'counter' | 'histogram' | 'other';
  readonly points: readonly ReceivedPoint[];
}

export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly resource: Readonly<Record<string, string>>;
  readonly metrics: readonly ReceivedMetric[];
}

export class OtlpCollector {
  readonly received: Received[] = [];
  readonly port: number;
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
    this.port = (server.address() as AddressInfo).port;
    server.on('request', async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const { url = '', headers } = request;
      response.writeHead(200, { 'Content-Type': 'application/x-protobuf' }).end();
      if (url.endsWith('/v1/traces')) return;
      this.received.push({ path: url, headers, ...readExport(Buffer.concat(chunks)) });
      this.#server.emit('received');
    });
  }

  /** Listens on the port of an earlier collector, or on a free one. */
  static async start(port = 0): Promise<OtlpCollector> {
    const server = createServer().listen(port, '127.0.0.1');
    await once(server, 'listening');
    return new OtlpCollector(server);
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Waits for the next export. */
  async next(): Promise<Received> {
    await once(this.#server, 'received');
    return this.received.at(-1) as Received;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }
}

function readExport(bytes: Buffer): Pick<Received, 'resource' | 'metrics'> {
  const resourceMetrics = new Fields(bytes).message(1);
  const scopes = resourceMetrics?.messages(2) ?? [];
  return {
    resource: textsOf(resourceMetrics?.message(1)?.messages(1)),
    metrics: scopes.flatMap((scope) => scope.messages(2).map(readMetric)),
  };
}

const cumulative = 2n;

function readMetric(metric: Fields): ReceivedMetric {
  const about = { name: metric.text(1), unit: metric.text(3) };
  const gauge = metric.message(5);
  if (gauge) return { ...about, kind: 'gauge', points: gauge.messages(1).map(readNumber) };
  const sum = metric.message(7);
  if (sum) {
    // A counter is cumulative and monotonic.
    const isCounter = sum.number(2) === cumulative && sum.number(3) === 1n;
    const points = sum.messages(1).map(readNumber);
    return { ...about, kind: isCounter ? 'counter' : 'other', points };
  }
  const histogram = metric.message(9);
  const points = histogram?.messages(1).map(readHistogram) ?? [];
  return { ...about, kind: histogram?.number(2) === cumulative ? 'histogram' : 'other', points };
}

function readNumber(point: Fields): ReceivedPoint {
  const value = point.has(6) ? Number(BigInt.asIntN(64, point.number(6))) : point.double(4);
  return { attributes: textsOf(point.messages(7)), value, count: undefined };
}

function readHistogram(point: Fields): ReceivedPoint {
  const count = Number(point.number(4));
  return { attributes: textsOf(point.messages(9)), value: point.double(5), count };
}

function textsOf(pairs: readonly Fields[] = []): Record<string, string> {
  return attributesOf(pairs) as Record<string, string>;
}
