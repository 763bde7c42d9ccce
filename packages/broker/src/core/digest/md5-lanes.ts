/**
 * Short texts in, their MD5 in hex out, four at a time. This file fills the lanes of the module that four-at-once.ts
 * assembles: text, padding and length, as RFC 1321 says. There is one set of lanes, so everything happens within a call.
 */

import { blockCountsAt, digestsAt, fourAtOnce, laneBytes } from './four-at-once.ts';
import { hexDigit } from './hex.ts';

const encoder = new TextEncoder();

const lanes = 4;
const blockBytes = 64;
/** After a text: a byte that marks its end, and its length in bits. */
const paddingMin = 9;

// TypeScript knows WebAssembly only in browsers.
declare const WebAssembly: {
  readonly Module: new (code: Uint8Array<ArrayBuffer>) => object;
  readonly Instance: new (module: object) => { readonly exports: object };
};

interface Exports {
  readonly memory: { readonly buffer: ArrayBuffer };
  readonly digest: (blocks: number) => void;
}

export class Md5Lanes {
  /** Texts of up to this length fit into a lane, whatever their characters. */
  static readonly lengthMax: number = Math.floor((laneBytes - paddingMin) / 3);

  readonly #digest: (blocks: number) => void;
  readonly #bytes: Uint8Array;
  readonly #words: Int32Array;
  readonly #lanes: readonly Uint8Array[];

  private constructor({ memory, digest }: Exports) {
    this.#digest = digest;
    this.#bytes = new Uint8Array(memory.buffer);
    this.#words = new Int32Array(memory.buffer);
    this.#lanes = Array.from({ length: lanes }, (_, lane) =>
      this.#bytes.subarray(lane * laneBytes, (lane + 1) * laneBytes),
    );
  }

  /** Undefined where there is no WebAssembly with vectors. */
  static tryCreate(): Md5Lanes | undefined {
    try {
      const { exports } = new WebAssembly.Instance(new WebAssembly.Module(fourAtOnce()));
      return new Md5Lanes(exports as Exports);
    } catch {
      return undefined;
    }
  }

  /** The digests of texts that are not too long. */
  hexOf(texts: readonly string[]): string[] {
    const digests: string[] = [];
    for (let from = 0; from < texts.length; from += lanes) {
      let blocksMax = 0;
      for (let lane = 0; lane < lanes; lane += 1) {
        const text = texts[from + lane];
        const blocks = text === undefined ? 0 : this.#load(lane, text);
        this.#words[(blockCountsAt >> 2) + lane] = blocks;
        blocksMax = Math.max(blocksMax, blocks);
      }
      this.#digest(blocksMax);
      const to = Math.min(from + lanes, texts.length);
      for (let at = from; at < to; at += 1) digests.push(this.#hex(at - from));
    }
    return digests;
  }

  /** Returns how many blocks the text has with its padding. */
  #load(lane: number, text: string): number {
    const { written } = encoder.encodeInto(text, this.#lanes[lane] as Uint8Array);
    const blocks = Math.ceil((written + paddingMin) / blockBytes);
    const start = lane * laneBytes;
    const lengthAt = start + blocks * blockBytes - 8;
    this.#bytes[start + written] = 0x80;
    this.#bytes.fill(0, start + written + 1, lengthAt);
    this.#words[lengthAt >> 2] = written << 3;
    this.#words[(lengthAt >> 2) + 1] = 0;
    return blocks;
  }

  #hex(lane: number): string {
    const at = (digestsAt >> 2) + lane;
    const a = this.#words[at] as number;
    const b = this.#words[at + lanes] as number;
    const c = this.#words[at + 2 * lanes] as number;
    const d = this.#words[at + 3 * lanes] as number;
    // biome-ignore format: a line for each word, its lowest byte first.
    return String.fromCharCode(
      hexDigit(a, 4), hexDigit(a, 0), hexDigit(a, 12), hexDigit(a, 8), hexDigit(a, 20), hexDigit(a, 16), hexDigit(a, 28), hexDigit(a, 24),
      hexDigit(b, 4), hexDigit(b, 0), hexDigit(b, 12), hexDigit(b, 8), hexDigit(b, 20), hexDigit(b, 16), hexDigit(b, 28), hexDigit(b, 24),
      hexDigit(c, 4), hexDigit(c, 0), hexDigit(c, 12), hexDigit(c, 8), hexDigit(c, 20), hexDigit(c, 16), hexDigit(c, 28), hexDigit(c, 24),
      hexDigit(d, 4), hexDigit(d, 0), hexDigit(d, 12), hexDigit(d, 8), hexDigit(d, 20), hexDigit(d, 16), hexDigit(d, 28), hexDigit(d, 24),
    );
  }
}
