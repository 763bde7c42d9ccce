/**
 * What the store knows about a queue or topic besides the records themselves: the numbers under which they are stored, its
 * blocks with how much of each is still in use, and what is not in the file yet.
 */

import { type KeptQueue, type KeptTopic, type OwnerId, topicOwner } from '../../../core/changes.ts';
import { WindowDigester } from '../../../core/deduplication/window-digests.ts';
import { ByteReader, type ByteWriter } from '../../records/bytes.ts';
import { Uncommitted } from '../commit/uncommitted.ts';
import { GrowingBlock, sequencesPerBlock, slotOf } from './block.ts';

/** A set of slots of a block, one bit each. */
class Slots {
  #low = 0;
  #high = 0;

  get isEmpty(): boolean {
    return (this.#low | this.#high) === 0;
  }

  has(slot: number): boolean {
    return ((slot < 32 ? this.#low : this.#high) & (1 << (slot & 31))) !== 0;
  }

  add(slot: number): void {
    if (slot < 32) this.#low |= 1 << slot;
    else this.#high |= 1 << (slot & 31);
  }

  write(writer: ByteWriter): void {
    writer.i32(this.#low);
    writer.i32(this.#high);
  }

  read(reader: ByteReader): void {
    this.#low = reader.i32();
    this.#high = reader.i32();
  }
}

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
  /** All its messages, those that were removed, and those whose content is the first in its record. */
  readonly #messages: Slots = new Slots();
  readonly #removed: Slots = new Slots();
  readonly #first: Slots = new Slots();

  constructor(number: number) {
    this.number = number;
  }

  get isOver(): boolean {
    return this.live === 0 && this.windowEntries === 0;
  }

  get hasRemoved(): boolean {
    return !this.#removed.isEmpty;
  }

  /** Notes a message, removed or not. */
  add(sequence: number, isFirst: boolean): void {
    const slot = slotOf(sequence);
    this.#messages.add(slot);
    if (isFirst) this.#first.add(slot);
    if (!this.#removed.has(slot)) this.live += 1;
  }

  remove(sequence: number): void {
    this.#removed.add(slotOf(sequence));
    this.live -= 1;
  }

  isRemoved(sequence: number): boolean {
    return this.#removed.has(slotOf(sequence));
  }

  /** Whether it has the message, and it is not removed. */
  hasMessage(sequence: number): boolean {
    return this.#isLive(slotOf(sequence));
  }

  /** The sequence under which the content of a message is kept; undefined if the message is not there. */
  contentKey(sequence: number): number | undefined {
    let slot = slotOf(sequence);
    if (!this.#isLive(slot)) return undefined;
    while (slot > 0 && !this.#first.has(slot)) slot -= 1;
    return this.number * sequencesPerBlock + slot;
  }

  /** Whether none of the messages is left whose content is kept under this key. */
  isOverAt(contentKey: number): boolean {
    let slot = slotOf(contentKey);
    do {
      if (this.#isLive(slot)) return false;
      slot += 1;
    } while (slot < sequencesPerBlock && !this.#first.has(slot));
    return true;
  }

  #isLive(slot: number): boolean {
    return this.#messages.has(slot) && !this.#removed.has(slot);
  }

  /** The record of removed messages. */
  writeRemoved(writer: ByteWriter): void {
    writer.begin(8);
    this.#removed.write(writer);
  }

  /** Must come before its messages are added. */
  setRemoved(bytes: Buffer): void {
    this.#removed.read(new ByteReader(bytes));
  }
}

/** What the record of a queue or topic itself says. */
export interface OwnerRecord {
  readonly kept: KeptQueue | KeptTopic;
  readonly contents: number;
  readonly other: number;
}

export class OwnerRecords {
  readonly kind: 'queue' | 'topic';
  readonly name: string;
  /** As `ownerOf` names it. */
  readonly id: OwnerId;
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
  readonly uncommitted: Uncommitted = new Uncommitted();
  /** It was deleted; nothing more is written for it. */
  isGone = false;
  #last: Block | undefined;
  #digester: WindowDigester | undefined;

  constructor(kind: OwnerRecords['kind'], name: string, { kept, contents, other }: OwnerRecord) {
    this.kind = kind;
    this.name = name;
    this.id = kind === 'queue' ? name : topicOwner(name);
    this.kept = kept;
    this.contents = contents;
    this.other = other;
  }

  /** Of its window entries. Seldom needed: an engine has the digests, and they are kept with the entries. */
  get digester(): WindowDigester {
    this.#digester ??= new WindowDigester(this.kept.secret);
    return this.#digester;
  }

  /** Every number that is abandoned with it. */
  get numbers(): readonly number[] {
    return [this.contents, this.other];
  }

  /** The block that takes new records, which come in order of their sequence. */
  growing(number: number): Block & { growing: GrowingBlock } {
    if (this.#last?.number !== number) {
      const likelyBytes = this.#last?.growing?.length;
      this.#last = new Block(number);
      this.#last.growing = new GrowingBlock(number, { likelyBytes });
      this.blocks.set(number, this.#last);
    }
    return this.#last as Block & { growing: GrowingBlock };
  }

  /** Continues with a block that was read from the file. */
  goOnWith(block: Block, bytes: Buffer): void {
    block.growing = new GrowingBlock(block.number, { bytes });
    this.#last = block;
  }

  get last(): Block | undefined {
    return this.#last;
  }

  dropBlock(block: Block): void {
    this.blocks.delete(block.number);
    if (this.#last === block) this.#last = undefined;
  }

  /** All contents were abandoned; new ones are stored under another number. */
  startAnew(contents: number): void {
    this.contents = contents;
    this.blocks = new Map();
    this.uncommitted.clear();
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
