/**
 * What can be delivered from a FIFO queue, and in which order. A message group is a chain of its messages in order of
 * acceptance. Only its leading run is deliverable: from the oldest message up to the first that is in flight or
 * delayed (rule 11.2). So a group is ready exactly while its head is visible, and everything else about blocking
 * follows: a head in flight blocks the group, a head deleted or visible again frees it.
 *
 * Ready groups are ordered by the moment their head became available (rule 11.4): an old backlog does not jump over a
 * younger group's turn, and a busy group does not starve the others. A group costs some 36 bytes and its id, and
 * leaves no trace when its last message goes (rule 11.5).
 *
 * The chain is singly linked: a message that can be deleted is at most `receiveMessagesMax` from the head, because nothing
 * is handed out beyond a message in flight; so a walk from the head is short.
 */

import { groupDigest } from '../deduplication/window-digests.ts';
import { receiveMessagesMax } from '../limits.ts';
import { HashIndex } from '../structures/hash-index.ts';
import { none, Slab } from '../structures/slab.ts';
import { TimeQueue } from '../structures/time-queue.ts';
import { type MessageTable, visible } from './message-table.ts';
import type { Shelf } from './ready-messages.ts';

const headWord = 0;
const tailWord = 1;
/** Its node in the queue of ready groups, or `none`. */
const nodeWord = 2;
const hashWord = 3;
const countWord = 4;
/** One more than needed, because a slab's rows have an even number of words. */
const words = 6;

/** As many messages of a group as one receive can return: none after them is in flight. */
const leadingMax = receiveMessagesMax;

export class MessageGroups implements Shelf {
  readonly #table: MessageTable;
  readonly #rows: Slab = new Slab(words);
  readonly #byId: HashIndex = new HashIndex();
  #ids: string[] = [];
  readonly #ready: TimeQueue = new TimeQueue();

  constructor(table: MessageTable) {
    this.#table = table;
  }

  get groups(): number {
    return this.#rows.size;
  }

  /** Groups whose head is in flight or delayed. */
  get blocked(): number {
    return this.#rows.size - this.#ready.size;
  }

  /** Every group is a number below this. */
  get end(): number {
    return this.#ids.length;
  }

  /** The oldest message of a group; `none` for a number that currently is no group. */
  head(group: number): number {
    const id = this.#ids[group];
    return id === undefined || id === '' ? none : this.#rows.int(group, headWord);
  }

  /** How many messages a group has. */
  messages(group: number): number {
    return this.#rows.int(group, countWord);
  }

  /** The messages of a group that may be in flight, oldest first. */
  leading(head: number): number[] {
    const rows: number[] = [];
    for (let row = head; row !== none && rows.length < leadingMax; ) {
      rows.push(row);
      row = this.#table.groupNext(row);
    }
    return rows;
  }

  add(row: number, groupId: string | undefined, groupHash: number | undefined): void {
    const id = groupId as string;
    const hash = groupHash ?? hashOf(id);
    let group = this.#find(id, hash);
    if (group === none) {
      group = this.#rows.allocate();
      this.#rows.setInt(group, headWord, row);
      this.#rows.setInt(group, nodeWord, none);
      this.#rows.setInt(group, hashWord, hash);
      this.#rows.setInt(group, countWord, 1);
      this.#byId.insert(hash, group);
      this.#ids[group] = id;
    } else {
      this.#table.setGroupNext(this.#rows.int(group, tailWord), row);
      this.#rows.setInt(group, countWord, this.#rows.int(group, countWord) + 1);
    }
    this.#rows.setInt(group, tailWord, row);
    this.#table.setGroup(row, group);
  }

  remove(row: number): void {
    const group = this.#table.group(row);
    const head = this.#rows.int(group, headWord);
    const next = this.#table.groupNext(row);
    if (head === row) {
      if (next === none) {
        this.#drop(group);
        return;
      }
      this.#rows.setInt(group, countWord, this.#rows.int(group, countWord) - 1);
      this.#rows.setInt(group, headWord, next);
      if (this.#table.state(next) === visible) this.#enter(group, next);
      return;
    }
    this.#rows.setInt(group, countWord, this.#rows.int(group, countWord) - 1);
    let before = head;
    while (this.#table.groupNext(before) !== row) before = this.#table.groupNext(before);
    this.#table.setGroupNext(before, next);
    if (next === none) this.#rows.setInt(group, tailWord, before);
  }

  show(row: number): void {
    const group = this.#table.group(row);
    if (this.#rows.int(group, headWord) === row) this.#enter(group, row);
  }

  hide(row: number): void {
    const group = this.#table.group(row);
    if (this.#rows.int(group, headWord) !== row) return;
    this.#ready.remove(this.#rows.int(group, nodeWord));
    this.#rows.setInt(group, nodeWord, none);
  }

  first(): number {
    const node = this.#ready.first();
    return node === none ? none : this.#rows.int(this.#ready.item(node), headWord);
  }

  following(row: number): number {
    const next = this.#table.groupNext(row);
    return next !== none && this.#table.state(next) === visible ? next : none;
  }

  groupId(row: number): string {
    return this.#ids[this.#table.group(row)] as string;
  }

  /** The messages of one group after the sequence `after`, oldest first. */
  *ofGroup(groupId: string, after: number): Generator<number> {
    const group = this.#find(groupId, hashOf(groupId));
    const head = group === none ? none : this.#rows.int(group, headWord);
    let row = this.#table.nearest(after, head, (other) => this.#table.group(other) === group);
    while (row !== none && this.#table.sequence(row) <= after) row = this.#table.groupNext(row);
    while (row !== none) {
      yield row;
      row = this.#table.groupNext(row);
    }
  }

  clear(): void {
    this.#rows.clear();
    this.#byId.clear();
    this.#ids = [];
    this.#ready.clear();
  }

  #find(groupId: string, hash: number): number {
    let node = this.#byId.first(hash);
    for (; node !== none; node = this.#byId.next(node)) {
      const group = this.#byId.row(node);
      if (this.#ids[group] === groupId) return group;
    }
    return none;
  }

  #enter(group: number, head: number): void {
    const node = this.#ready.insert(group, this.#table.availableAt(head), this.#table.stamp(head));
    this.#rows.setInt(group, nodeWord, node);
  }

  #drop(group: number): void {
    this.#byId.remove(this.#rows.int(group, hashWord), group);
    this.#ids[group] = '';
    this.#rows.release(group);
  }
}

/** The same hash that a window entry has of its group, so that a send hashes the id once. */
function hashOf(groupId: string): number {
  return groupDigest(groupId).group0;
}
