/**
 * The layout of LMDB's file, as far as file-structure.ts reads it. Pages have a fixed size. The first two are meta pages, which
 * name the roots of two trees: the records, and the lists of free pages. This is LMDB's data version 2, with numbers in the
 * byte order of the machine, which is little-endian wherever lmdb has a build.
 */

/** Thrown for a page that LMDB cannot have written. */
export class StructureError extends Error {
  override readonly name: string = 'StructureError';
}

export const pageHeadBytes = 24;
const transactionAt = 8;
const flagsAt = 18;
const lowerAt = 20;
const upperAt = 22;

const pagesAt = 20;

const branchFlag = 1;
const leafFlag = 2;
const overflowFlag = 4;
const metaFlag = 8;

const nodeHeadBytes = 8;
const bigData = 1;
/** In the node of a record that has pages of its own: the first page, the transaction, and the number of pages. */
const bigNodeBytes = 24;

export interface Tree {
  readonly depth: number;
  readonly branchPages: number;
  readonly leafPages: number;
  readonly overflowPages: number;
  readonly entries: number;
  /** Undefined if it is empty. */
  readonly root: number | undefined;
}

export interface Meta {
  readonly pageSize: number;
  readonly free: Tree;
  readonly main: Tree;
  readonly lastPage: number;
  readonly transaction: number;
}

const magic = 0xbeefc0de;
const version = 2;
/** The keys of the tree of free pages are integers; those of the records have no such flags. */
const freeTreeFlags = 8;

export function metaIn(bytes: Buffer, page: number): Meta {
  require(bytes.readUInt16LE(flagsAt) === metaFlag, page, 'is not a meta page');
  require(numberAt(bytes, 0, page) === page, page, 'has a wrong number');
  require(bytes.readUInt32LE(24) === magic, page, 'is not of LMDB');
  require(bytes.readUInt32LE(28) === version, page, 'has an unknown version');
  require(bytes.readBigUInt64LE(32) === 0n, page, 'has a fixed address');
  require(bytes.readUInt16LE(52) === freeTreeFlags, page, 'has wrong flags');
  require(bytes.readUInt32LE(96) === 0 && bytes.readUInt16LE(100) === 0, page, 'has wrong flags');
  return {
    pageSize: bytes.readUInt32LE(48),
    free: treeAt(bytes, 48, page),
    main: treeAt(bytes, 96, page),
    lastPage: numberAt(bytes, 144, page),
    transaction: numberAt(bytes, 152, page),
  };
}

function treeAt(bytes: Buffer, at: number, page: number): Tree {
  const isEmpty = bytes.readBigUInt64LE(at + 40) === 0xffffffffffffffffn;
  return {
    depth: bytes.readUInt16LE(at + 6),
    branchPages: numberAt(bytes, at + 8, page),
    leafPages: numberAt(bytes, at + 16, page),
    overflowPages: numberAt(bytes, at + 24, page),
    entries: numberAt(bytes, at + 32, page),
    root: isEmpty ? undefined : numberAt(bytes, at + 40, page),
  };
}

/** The pages that a large value has for itself. */
export interface Overflow {
  readonly first: number;
  readonly pages: number;
}

/** The header of the first of them repeats what the tree says. */
export function requireOverflow(
  head: Buffer,
  { first, pages }: Overflow,
  transaction: number,
): void {
  require(numberAt(head, 0, first) === first, first, 'has a wrong number');
  require(numberAt(head, transactionAt, first) <= transaction, first, 'is of a later transaction');
  require(head.readUInt16LE(flagsAt) === overflowFlag, first, 'does not begin a large value');
  require(head.readUInt32LE(pagesAt) === pages, first, 'begins a value of another size');
}

/** A page of a tree, whose head and bounds are right. */
export class TreePage {
  readonly bytes: Buffer;
  readonly number: number;
  readonly isLeaf: boolean;
  readonly count: number;

  constructor(bytes: Buffer, number: number, transaction: number) {
    this.bytes = bytes;
    this.number = number;
    require(numberAt(bytes, 0, number) === number, number, 'has a wrong number');
    const isOlder = numberAt(bytes, transactionAt, number) <= transaction;
    require(isOlder, number, 'is of a later transaction');
    const flags = bytes.readUInt16LE(flagsAt);
    require(flags === leafFlag || flags === branchFlag, number, 'is no page of a tree');
    this.isLeaf = flags === leafFlag;
    const lower = bytes.readUInt16LE(lowerAt);
    const upper = bytes.readUInt16LE(upperAt);
    const room = bytes.length - pageHeadBytes;
    require(lower % 2 === 0 && lower <= upper && upper <= room, number, 'has wrong bounds');
    this.count = lower / 2;
    let used = 0;
    for (let index = 0; index < this.count; index += 1) used += this.#nodeBytes(index, upper);
    require(used === room - upper, number, 'has entries that overlap');
  }

  key(index: number): Buffer {
    const at = this.#nodeAt(index) + nodeHeadBytes;
    return this.bytes.subarray(at, at + this.#keyBytes(index));
  }

  /** Of a branch. */
  child(index: number): number {
    return this.bytes.readUIntLE(this.#nodeAt(index), 6);
  }

  /** Of a leaf: the bytes of the value. */
  valueBytes(index: number): number {
    return this.bytes.readUInt32LE(this.#nodeAt(index));
  }

  /** Of a leaf: the pages that a large value has for itself. */
  overflow(index: number): Overflow | undefined {
    if (!this.#isBig(index)) return undefined;
    const at = this.#dataAt(index);
    const first = numberAt(this.bytes, at, this.number);
    return { first, pages: numberAt(this.bytes, at + 16, this.number) };
  }

  /** Of a leaf: a value on the page itself. */
  value(index: number): Buffer {
    const at = this.#dataAt(index);
    return this.bytes.subarray(at, at + this.valueBytes(index));
  }

  #nodeAt(index: number): number {
    return pageHeadBytes + this.bytes.readUInt16LE(pageHeadBytes + 2 * index);
  }

  #keyBytes(index: number): number {
    return this.bytes.readUInt16LE(this.#nodeAt(index) + 6);
  }

  #dataAt(index: number): number {
    return this.#nodeAt(index) + nodeHeadBytes + this.#keyBytes(index);
  }

  #isBig(index: number): boolean {
    return this.bytes.readUInt16LE(this.#nodeAt(index) + 4) === bigData;
  }

  /** What an entry takes of the page, which begins with it at `upper` or later. */
  #nodeBytes(index: number, upper: number): number {
    const at = this.#nodeAt(index);
    const isInside = at >= pageHeadBytes + upper && at + nodeHeadBytes <= this.bytes.length;
    require(isInside && at % 2 === 0, this.number, 'has an entry outside of it');
    let bytes = nodeHeadBytes + this.#keyBytes(index);
    if (this.isLeaf) {
      const flags = this.bytes.readUInt16LE(at + 4);
      require(flags === 0 || flags === bigData, this.number, 'has an entry of unknown kind');
      bytes += flags === bigData ? bigNodeBytes : this.valueBytes(index);
    }
    require(at + bytes <= this.bytes.length, this.number, 'has an entry that is too long');
    return bytes + (bytes % 2);
  }
}

/** 64 bits, of which no more than 48 are in use. */
export function numberAt(bytes: Buffer, at: number, page: number): number {
  require(bytes.readUInt16LE(at + 6) === 0, page, 'has a number that is too large');
  return bytes.readUIntLE(at, 6);
}

export function require(isRight: boolean, page: number, problem: string): void {
  if (!isRight) throw new StructureError(`page ${page} of data.mdb ${problem}`);
}
