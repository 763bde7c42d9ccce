/**
 * Verifies the structure of LMDB's file before anything is read through LMDB. LMDB trusts its file: a wrong page number or
 * offset would crash the process, or make records disappear silently. Every page of the two trees is read, but not the
 * overflow pages of large values, so a large file is read only to a few percent. Of the overflow pages only the headers are
 * read, and without `isThorough` only a limited number, because a start must not read the whole file. The records themselves
 * have checksums (seal.ts).
 *
 * Both trees must lie within the file, use no page twice and no page that is listed as free. Keys must ascend, and LMDB's own
 * counts of records and pages must be right. The two meta pages must belong to successive transactions; otherwise a wrong
 * number would bring back an earlier state.
 */

import { closeSync, openSync, readSync } from 'node:fs';
import {
  type Meta,
  metaIn,
  numberAt,
  type Overflow,
  pageHeadBytes,
  require,
  requireOverflow,
  StructureError,
  type Tree,
  TreePage,
} from './lmdb-pages.ts';

const metaBytes = 168;
const metaPages = 2;
/** A tree of this depth would have more records than any disk. */
const depthMax = 24;

/** A start checks the page headers of this many large values: of all of them in a file of about 64 MB. */
const headsReadMax = 16_384;

/** What is wrong; undefined if nothing is. */
export function structureProblem(file: string, isThorough: boolean): string | undefined {
  return problemIn(file, (descriptor) => new FileStructure(descriptor, isThorough).verify());
}

/** Looks only at what LMDB itself reads when it opens the file, and at what never changes in it. */
export function metaProblem(file: string): string | undefined {
  return problemIn(file, (descriptor) => {
    const first = metaIn(readAt(descriptor, Buffer.alloc(metaBytes), 0, 0), 0);
    const second = metaIn(readAt(descriptor, Buffer.alloc(metaBytes), first.pageSize, 1), 1);
    require(first.pageSize === second.pageSize, 1, 'has a wrong size');
  });
}

function problemIn(file: string, verify: (descriptor: number) => void): string | undefined {
  const descriptor = openSync(file, 'r');
  try {
    verify(descriptor);
    return undefined;
  } catch (error) {
    if (error instanceof StructureError) return error.message;
    throw error;
  } finally {
    closeSync(descriptor);
  }
}

function readAt(descriptor: number, into: Buffer, position: number, page: number): Buffer {
  const read = readSync(descriptor, into, 0, into.length, position);
  require(read === into.length, page, 'is beyond the end of the file');
  return into;
}

interface Counted {
  branchPages: number;
  leafPages: number;
  overflowPages: number;
  entries: number;
}

type Leaf = (page: TreePage, index: number) => void;

class FileStructure {
  readonly #descriptor: number;
  readonly #meta: Meta;
  /** A bit for each page that is known to be in use, or free. */
  readonly #taken: Uint8Array;
  /** A buffer for each level of the tree that is being read. */
  readonly #buffers: Buffer[] = [];
  readonly #head: Buffer = Buffer.alloc(pageHeadBytes);
  #headsLeft: number;

  constructor(descriptor: number, isThorough: boolean) {
    this.#descriptor = descriptor;
    this.#headsLeft = isThorough ? Number.POSITIVE_INFINITY : headsReadMax;
    this.#meta = this.#newestMeta();
    this.#taken = new Uint8Array((this.#meta.lastPage >> 3) + 1);
    this.#take(0, metaPages, 0);
  }

  verify(): void {
    const { main, free } = this.#meta;
    this.#verifyTree(main, Buffer.compare, () => {});
    const freeLists: Buffer[] = [];
    this.#verifyTree(free, compareIntegers, (page, index) => {
      freeLists.push(this.#freeList(page, index));
    });
    for (const list of freeLists) this.#takeListed(list);
  }

  #newestMeta(): Meta {
    const first = metaIn(this.#read(Buffer.alloc(metaBytes), 0, 0), 0);
    const second = metaIn(this.#read(Buffer.alloc(metaBytes), first.pageSize, 1), 1);
    require(first.pageSize === second.pageSize, 1, 'has a wrong size');
    // Transactions write the two meta pages alternately, by whether their number is even or odd. In a new file or a copy, one
    // is still unused.
    for (const [page, { transaction }] of [first, second].entries()) {
      require(transaction <= 1 ||
        transaction % metaPages === page, page, 'has a wrong transaction');
    }
    const distance = Math.abs(first.transaction - second.transaction);
    const isRight = isUnused(first) ? distance > 0 || isUnused(second) : distance === 1;
    require(isRight, 0, 'is not of the transaction before or after that of page 1');
    return first.transaction > second.transaction ? first : second;
  }

  #verifyTree(tree: Tree, compare: (a: Buffer, b: Buffer) => number, leaf: Leaf): void {
    const counted = { branchPages: 0, leafPages: 0, overflowPages: 0, entries: 0 };
    const { root, depth } = tree;
    if (root !== undefined) {
      require(depth > 0 && depth <= depthMax, root, 'is the root of a tree of impossible depth');
      const walk: Walk = { depth, counted, compare, leaf, last: undefined, least: undefined };
      this.#verifyPage(walk, root, 1);
    }
    for (const name of Object.keys(counted) as (keyof Counted)[]) {
      if (tree[name] === counted[name]) continue;
      throw new StructureError(`data.mdb has ${counted[name]} ${name} instead of ${tree[name]}`);
    }
  }

  #verifyPage(walk: Walk, number: number, level: number): void {
    this.#take(number, 1, number);
    const page = this.#treePage(number, level);
    require(page.isLeaf === (level === walk.depth), number, 'is at a wrong depth of its tree');
    require(page.count > 0, number, 'is empty');
    if (page.isLeaf) {
      this.#verifyLeaf(walk, page);
      return;
    }
    walk.counted.branchPages += 1;
    for (let index = 0; index < page.count; index += 1) {
      if (index > 0) {
        const least = page.key(index);
        const isAfter = walk.last !== undefined && walk.compare(walk.last, least) < 0;
        require(isAfter, number, 'has keys that are not in order');
        walk.least = least;
      }
      this.#verifyPage(walk, page.child(index), level + 1);
    }
  }

  #verifyLeaf(walk: Walk, page: TreePage): void {
    const { counted, compare } = walk;
    counted.leafPages += 1;
    counted.entries += page.count;
    for (let index = 0; index < page.count; index += 1) {
      const key = page.key(index);
      const isAfter = walk.last === undefined || compare(walk.last, key) < 0;
      const isEnough = walk.least === undefined || compare(walk.least, key) <= 0;
      require(isAfter && isEnough, page.number, 'has keys that are not in order');
      walk.least = undefined;
      walk.last = key;
      const overflow = page.overflow(index);
      if (overflow !== undefined) {
        const needed = this.#pagesOf(page.valueBytes(index));
        require(overflow.pages >= needed, page.number, 'has a record without enough pages');
        this.#take(overflow.first, overflow.pages, page.number);
        counted.overflowPages += overflow.pages;
        if (this.#headsLeft > 0) this.#verifyHead(overflow);
      }
      walk.leaf(page, index);
    }
    // The buffer is used for the next page.
    walk.last = walk.last && Buffer.from(walk.last);
  }

  /** LMDB frees as many pages as the head says. */
  #verifyHead({ first, pages }: Overflow): void {
    this.#headsLeft -= 1;
    const head = this.#read(this.#head, first * this.#meta.pageSize, first);
    requireOverflow(head, { first, pages }, this.#meta.transaction);
  }

  #pagesOf(bytes: number): number {
    return Math.floor((pageHeadBytes - 1 + bytes) / this.#meta.pageSize) + 1;
  }

  /** The list of free pages in a record of the free tree. */
  #freeList(page: TreePage, index: number): Buffer {
    const isOld = numberAt(page.key(index), 0, page.number) <= this.#meta.transaction;
    require(isOld, page.number, 'lists free pages of a later transaction');
    const overflow = page.overflow(index);
    if (overflow === undefined) return Buffer.from(page.value(index));
    const position = overflow.first * this.#meta.pageSize + pageHeadBytes;
    return this.#read(Buffer.alloc(page.valueBytes(index)), position, overflow.first);
  }

  /** Numbers of 8 bytes: how many follow, then pages; a negative one says how many begin with the next one. */
  #takeListed(list: Buffer): void {
    const count = list.length < 8 ? 0 : Number(list.readBigInt64LE(0));
    const isInside = count >= 0 && (count + 1) * 8 <= list.length;
    if (!isInside) throw new StructureError('data.mdb has a list of free pages that is cut off');
    let pages = 1;
    for (let index = 1; index <= count; index += 1) {
      const entry = Number(list.readBigInt64LE(8 * index));
      if (entry < 0) pages = -entry;
      else if (entry > 0) {
        this.#take(entry, pages, entry);
        pages = 1;
      }
    }
  }

  /** Notes that the pages are in use; `by` is the page that says so. */
  #take(first: number, count: number, by: number): void {
    const isInside = first + count - 1 <= this.#meta.lastPage;
    require(isInside, by, 'names a page beyond the end of the file');
    for (let page = first; page < first + count; page += 1) {
      const bit = 1 << (page & 7);
      const isNew = ((this.#taken[page >> 3] as number) & bit) === 0;
      if (!isNew) throw new StructureError(`page ${page} of data.mdb is used twice`);
      this.#taken[page >> 3] = (this.#taken[page >> 3] as number) | bit;
    }
  }

  #treePage(number: number, level: number): TreePage {
    const { pageSize, transaction } = this.#meta;
    this.#buffers[level] ??= Buffer.alloc(pageSize);
    const buffer = this.#buffers[level] as Buffer;
    return new TreePage(this.#read(buffer, number * pageSize, number), number, transaction);
  }

  #read(into: Buffer, position: number, page: number): Buffer {
    return readAt(this.#descriptor, into, position, page);
  }
}

function isUnused({ transaction, main, free }: Meta): boolean {
  return transaction === 0 && main.root === undefined && free.root === undefined;
}

interface Walk {
  readonly depth: number;
  readonly counted: Counted;
  readonly compare: (a: Buffer, b: Buffer) => number;
  readonly leaf: Leaf;
  /** The key that was read last. */
  last: Buffer | undefined;
  /** The next key must not be smaller. */
  least: Buffer | undefined;
}

function compareIntegers(a: Buffer, b: Buffer): number {
  if (a.length !== 8 || b.length !== 8) throw new StructureError('data.mdb has a wrong key');
  return Number(a.readBigUInt64LE(0) - b.readBigUInt64LE(0));
}
