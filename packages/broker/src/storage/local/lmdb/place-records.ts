/**
 * What the store knows of a queue or topic besides the records themselves: the numbers of its contents, its blocks and
 * how much of each is still alive, and what is so recent that it is not in the file yet.
 */

import { type KeptQueue, type KeptTopic, topicPlace } from '../../../core/changes.ts';
import { BySequence } from '../by-sequence.ts';
import { GrowingBlock, slotOf } from './block.ts';
import { ByteReader, type ByteWriter } from './bytes.ts';

export class Block {
  readonly number: number;
  /** Messages that are not removed. */
  live = 0;
  /** Window entries that have not expired. */
  windowEntries = 0;
  /** Its record in memory, while it may grow or the file does not have all of it. */
  growing: GrowingBlock | undefined;
  /** Its record has more than was last written. */
  hasGrown = false;
  isInFile = false;
  /** The number of the batch that it was noted in last. */
  notedIn = 0;
  /** One bit for each removed message, in two words. */
  readonly #removed: [number, number] = [0, 0];

  constructor(number: number) {
    this.number = number;
  }

  get isOver(): boolean {
    return this.live === 0 && this.windowEntries === 0;
  }

  get hasRemoved(): boolean {
    return (this.#removed[0] | this.#removed[1]) !== 0;
  }

  remove(sequence: number): void {
    const slot = slotOf(sequence);
    this.#removed[slot >> 5 === 0 ? 0 : 1] |= 1 << (slot & 31);
    this.live -= 1;
  }

  isRemoved(sequence: number): boolean {
    const slot = slotOf(sequence);
    return (this.#removed[slot >> 5 === 0 ? 0 : 1] & (1 << (slot & 31))) !== 0;
  }

  /** The record of removed messages. */
  writeRemoved(writer: ByteWriter): void {
    writer.begin(8);
    writer.i32(this.#removed[0]);
    writer.i32(this.#removed[1]);
  }

  setRemoved(bytes: Buffer): void {
    const reader = new ByteReader(bytes);
    this.#removed[0] = reader.i32();
    this.#removed[1] = reader.i32();
  }
}

/** What the record of a queue or topic itself says. */
export interface PlaceRecord {
  readonly kept: KeptQueue | KeptTopic;
  readonly contents: number;
  readonly other: number;
}

export class PlaceRecords {
  readonly kind: 'queue' | 'topic';
  readonly name: string;
  /** As `placeOf` names it. */
  readonly place: string;
  kept: KeptQueue | KeptTopic;
  /** The number under which its contents are kept. */
  contents: number;
  /** The number of what is not cleared with the contents: a queue's move tasks; a topic's archive, cleared separately. */
  other: number;
  counter = 0;
  /** Window entries with a smaller sequence have expired or were cleared. */
  windowFrom = 0;
  /** Entries at the window's front had already expired when it was loaded. */
  hasMovedWindow = false;
  lastSequence = 0;
  messages = 0;
  windowEntries = 0;
  blocks: Map<number, Block> = new Map();
  /** Contents, publications and posts that are not in the file yet; of moved messages the record of the content. */
  readonly fresh: BySequence<unknown> = new BySequence();
  /** It was deleted; nothing more is written for it. */
  isGone = false;
  #last: Block | undefined;

  constructor(kind: PlaceRecords['kind'], name: string, { kept, contents, other }: PlaceRecord) {
    this.kind = kind;
    this.name = name;
    this.place = kind === 'queue' ? name : topicPlace(name);
    this.kept = kept;
    this.contents = contents;
    this.other = other;
  }

  /** Every number that is given up with it. */
  get numbers(): readonly number[] {
    return [this.contents, this.other];
  }

  /** The block that takes new records, which come in order of their sequence. */
  growing(number: number): Block & { growing: GrowingBlock } {
    if (this.#last?.number !== number) {
      this.#last = new Block(number);
      this.#last.growing = new GrowingBlock(number);
      this.blocks.set(number, this.#last);
    }
    return this.#last as Block & { growing: GrowingBlock };
  }

  /** Continues with a block that was read from the file. */
  goOnWith(block: Block, bytes: Buffer): void {
    block.growing = new GrowingBlock(block.number, bytes);
    this.#last = block;
  }

  get last(): Block | undefined {
    return this.#last;
  }

  dropBlock(block: Block): void {
    this.blocks.delete(block.number);
    if (this.#last === block) this.#last = undefined;
  }

  /** All contents are gone; new ones are kept under another number. */
  startAnew(contents: number): void {
    this.contents = contents;
    this.blocks = new Map();
    this.fresh.clear();
    this.#last = undefined;
    this.windowFrom = this.lastSequence + 1;
    this.messages = 0;
    this.windowEntries = 0;
  }

  /** The record of its counter, of where its window begins, and of how much there is. */
  writeHead(writer: ByteWriter): void {
    writer.begin(32);
    writer.f64(this.counter);
    writer.f64(this.windowFrom);
    writer.f64(this.messages);
    writer.f64(this.windowEntries);
  }
}

export interface Head {
  readonly counter: number;
  readonly windowFrom: number;
  readonly messages: number;
  readonly windowEntries: number;
}

export const emptyHead: Head = { counter: 0, windowFrom: 0, messages: 0, windowEntries: 0 };

export function readHead(bytes: Buffer): Head {
  const reader = new ByteReader(bytes);
  const [counter, windowFrom] = [reader.f64(), reader.f64()];
  return { counter, windowFrom, messages: reader.f64(), windowEntries: reader.f64() };
}
