/**
 * Just enough of protobuf to read what an OTLP exporter sends, by the field numbers of opentelemetry-proto. It is an
 * independent reader, so that our side and the library's are both checked against the published format.
 */

/** A list of KeyValue: key 1, value 2. */
export function attributesOf(pairs: readonly Fields[]): Record<string, unknown> {
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
export class Fields {
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

  /** The value of a field whose 64 bits are a double. */
  double(field: number): number {
    const bits = Buffer.alloc(8);
    bits.writeBigUInt64LE(this.number(field));
    return bits.readDoubleLE();
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
