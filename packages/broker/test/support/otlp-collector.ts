/**
 * A collector for tests: a real HTTP server that takes OTLP metrics in protobuf and reads the bytes by the numbers of
 * opentelemetry-proto's metrics.proto, with a reader of its own, so that our side and the library's are both held to the
 * published format.
 */

import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ReceivedPoint {
  readonly attributes: Readonly<Record<string, string>>;
  /** The number, or a histogram's sum. */
  readonly value: number;
  /** A histogram's. */
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
      this.received.push({ path: url, headers, ...readExport(Buffer.concat(chunks)) });
      response.writeHead(200, { 'Content-Type': 'application/x-protobuf' }).end();
      this.#server.emit('received');
    });
  }

  /** On the port that an earlier one had, or on a free one. */
  static async start(port = 0): Promise<OtlpCollector> {
    const server = createServer().listen(port, '127.0.0.1');
    await once(server, 'listening');
    return new OtlpCollector(server);
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Waits for the export after those that have come. */
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
  const [resourceMetrics] = messages(fieldsOf(bytes), 1);
  const [resource] = messages(resourceMetrics, 1);
  const scopes = messages(resourceMetrics, 2);
  return {
    resource: attributesIn(resource, 1),
    metrics: scopes.flatMap((scope) => messages(scope, 2).map(readMetric)),
  };
}

function readMetric(metric: Fields): ReceivedMetric {
  const about = { name: textIn(metric, 1), unit: textIn(metric, 3) };
  const [gauge] = messages(metric, 5);
  if (gauge) return { ...about, kind: 'gauge', points: messages(gauge, 1).map(readNumber) };
  const [sum] = messages(metric, 7);
  if (sum) {
    // Cumulative (2) and monotonic: what a counter is.
    const isCounter = sum.get(2)?.[0] === 2n && sum.get(3)?.[0] === 1n;
    const points = messages(sum, 1).map(readNumber);
    return { ...about, kind: isCounter ? 'counter' : 'other', points };
  }
  const [histogram] = messages(metric, 9);
  const points = histogram ? messages(histogram, 1).map(readHistogram) : [];
  return { ...about, kind: histogram?.get(2)?.[0] === 2n ? 'histogram' : 'other', points };
}

function readNumber(point: Fields): ReceivedPoint {
  const whole = point.get(6)?.[0] as bigint | undefined;
  const value = whole === undefined ? doubleIn(point, 4) : Number(BigInt.asIntN(64, whole));
  return { attributes: attributesIn(point, 7), value, count: undefined };
}

function readHistogram(point: Fields): ReceivedPoint {
  const count = Number(point.get(4)?.[0] ?? 0n);
  return { attributes: attributesIn(point, 9), value: doubleIn(point, 5), count };
}

/** By number: varints and fixed 64-bit values as they are, anything with a length as its bytes. */
type Fields = ReadonlyMap<number, (bigint | Buffer)[]>;

function fieldsOf(bytes: Buffer): Fields {
  const fields = new Map<number, (bigint | Buffer)[]>();
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes.readUInt8(at++);
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  while (at < bytes.length) {
    const tag = Number(varint());
    let value: bigint | Buffer;
    if ((tag & 7) === 0) {
      value = varint();
    } else if ((tag & 7) === 1) {
      value = bytes.readBigUInt64LE(at);
      at += 8;
    } else if ((tag & 7) === 2) {
      const length = Number(varint());
      value = bytes.subarray(at, at + length);
      at += length;
    } else {
      throw new Error(`wire type ${tag & 7} at ${at}`);
    }
    fields.set(tag >> 3, [...(fields.get(tag >> 3) ?? []), value]);
  }
  return fields;
}

function messages(fields: Fields | undefined, number: number): Fields[] {
  return (fields?.get(number) ?? []).map((bytes) => fieldsOf(bytes as Buffer));
}

function textIn(fields: Fields | undefined, number: number): string {
  return (fields?.get(number)?.[0] ?? '').toString();
}

function doubleIn(fields: Fields, number: number): number {
  const bits = Buffer.alloc(8);
  bits.writeBigUInt64LE((fields.get(number)?.[0] as bigint | undefined) ?? 0n);
  return bits.readDoubleLE();
}

/** KeyValue: key 1, value 2; of AnyValue the text, 1. */
function attributesIn(fields: Fields | undefined, number: number): Record<string, string> {
  const pairs = messages(fields, number).map((pair) => [
    textIn(pair, 1),
    textIn(messages(pair, 2)[0], 1),
  ]);
  return Object.fromEntries(pairs);
}
