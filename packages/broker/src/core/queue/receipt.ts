/**
 * Receipt handles: which message, which receive, and a tag that only the queue can make. A handle is checked by
 * computing the tag again, so nothing has to be remembered for it, however old it is: standard queues accept every handle
 * they ever gave out for a message (rules 10.4–10.6), FIFO queues the latest (10.7). Handles of another queue, or of
 * a deleted queue of the same name, carry a tag made with another secret and so are invalid (10.1).
 */

import { sha256Tag, tagLength } from '../digest/digests.ts';
import { KeyedDigest } from '../digest/keyed-digest.ts';

export interface Receipt {
  readonly sequence: number;
  /** The stamp of the receive that gave it out. */
  readonly receipt: number;
}

/** The part of a handle before its tag. */
export function receiptName(sequence: number, receipt: number): string {
  return `${sequence}.${receipt}`;
}

const handleLengthMax = 64;
const codeOfDot = 0x2e;
const codeOf0 = 0x30;
const codeOf9 = 0x39;

/** What a handle says, genuine or not; undefined if it is malformed. */
export function readReceipt(handle: string): Receipt | undefined {
  const end = handle.length - tagLength - 1;
  if (handle.length > handleLengthMax || end < 0 || handle.charCodeAt(end) !== codeOfDot) {
    return undefined;
  }
  const dot = handle.indexOf('.');
  const sequence = numberIn(handle, 0, dot);
  const receipt = numberIn(handle, dot + 1, end);
  return sequence === undefined || receipt === undefined ? undefined : { sequence, receipt };
}

const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
const digitCodes: Uint8Array = Uint8Array.from(digits, (digit) => digit.charCodeAt(0));

/** Makes and checks the tags of one queue: ninety-six bits in base64, which cannot be guessed without its secret. */
export class ReceiptTags {
  readonly #secret: string;
  readonly #digest: KeyedDigest;

  constructor(secret: string) {
    this.#secret = secret;
    this.#digest = KeyedDigest.withSecret(`receipts of ${secret}`);
  }

  of(name: string): string {
    const words = { id0: 0, id1: 0, id2: 0, id3: 0 };
    this.#digest.write(name, words);
    const { id0: a, id1: b, id2: c } = words;
    // biome-ignore format: five digits a word; the last has the two bits that are left of each.
    return String.fromCharCode(
      digit(a), digit(a >>> 6), digit(a >>> 12), digit(a >>> 18), digit(a >>> 24),
      digit(b), digit(b >>> 6), digit(b >>> 12), digit(b >>> 18), digit(b >>> 24),
      digit(c), digit(c >>> 6), digit(c >>> 12), digit(c >>> 18), digit(c >>> 24),
      digit((a >>> 30) | ((b >>> 30) << 2) | ((c >>> 30) << 4)),
    );
  }

  /** Also for handles of earlier versions, whose tags were made with SHA-256. */
  isGenuine(handle: string): boolean {
    const name = handle.slice(0, handle.length - tagLength - 1);
    return handle.endsWith(this.of(name)) || handle.endsWith(sha256Tag(this.#secret, name));
  }
}

function digit(bits: number): number {
  return digitCodes[bits & 63] as number;
}

/** Reads a number in canonical form: no leading zeros, and a safe integer, so that no other number reads the same. */
function numberIn(text: string, start: number, end: number): number | undefined {
  let number = 0;
  for (let at = start; at < end; at += 1) {
    const code = text.charCodeAt(at);
    if (code < codeOf0 || code > codeOf9) return undefined;
    number = number * 10 + code - codeOf0;
    if (number === 0) return undefined;
  }
  return number > 0 && number <= Number.MAX_SAFE_INTEGER ? number : undefined;
}
