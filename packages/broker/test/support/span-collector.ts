/**
 * An OTLP collector in the test: takes what an exporter posts to /v1/traces and reads the spans out of the bytes, by as
 * much of protobuf as that takes (opentelemetry/proto/trace/v1/trace.proto).
 */

import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

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

function attributesOf(pairs: readonly Fields[]): Record<string, unknown> {
  return Object.fromEntries(
    pairs.map((pair) => [pair.text(1), readValue(pair.message(2) as Fields)]),
  );
}

function readValue(value: Fields): unknown {
  if (value.has(1)) return value.text(1);
  if (value.has(2)) return value.number(2) === 1n;
  if (value.has(3)) return Number(value.number(3));
  if (value.has(5)) return (value.message(5) as Fields).messages(1).map(readValue);
  return undefined;
}

/** The fields of one message, by number. */
class Fields {
  readonly #values: Map<number, (Buffer | bigint)[]> = new Map();

  constructor(bytes: Buffer) {
    let at = 0;
    const varint = (): bigint => {
      let value = 0n;
      for (let shift = 0n; ; shift += 7n) {
        const byte = bytes[at++] as number;
        value |= BigInt(byte & 0x7f) << shift;
        if (byte < 0x80) return value;
      }
    };
    const slice = (length: number): Buffer => {
      at += length;
      return bytes.subarray(at - length, at);
    };
    const readers: Readonly<Record<number, () => Buffer | bigint>> = {
      0: varint,
      1: () => slice(8).readBigUInt64LE(),
      2: () => slice(Number(varint())),
      5: () => BigInt(slice(4).readUInt32LE()),
    };
    while (at < bytes.length) {
      const tag = Number(varint());
      const value = readers[tag & 7]?.() ?? Buffer.alloc(0);
      this.#values.set(tag >> 3, [...(this.#values.get(tag >> 3) ?? []), value]);
    }
  }

  has(field: number): boolean {
    return this.#values.has(field);
  }

  number(field: number): bigint {
    return (this.#values.get(field)?.[0] ?? 0n) as bigint;
  }

  text(field: number): string {
    return this.#bytes(field).toString('utf8');
  }

  hex(field: number): string {
    return this.#bytes(field).toString('hex');
  }

  message(field: number): Fields | undefined {
    return this.messages(field)[0];
  }

  messages(field: number): Fields[] {
    return ((this.#values.get(field) ?? []) as Buffer[]).map((bytes) => new Fields(bytes));
  }

  #bytes(field: number): Buffer {
    return (this.#values.get(field)?.[0] ?? Buffer.alloc(0)) as Buffer;
  }
}
