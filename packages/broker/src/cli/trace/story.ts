/**
 * The story of one event or message, from a ledger: everything that is joined to an id, in the order in which it was
 * written. The ledger is read again until nothing new is named, since a record may name what stands before it; twice is
 * usual.
 *
 * Also what is not about the messages themselves and yet explains where they went: a purge or a deletion of the queue that
 * they were in, and holes in the ledger in between.
 */

import { readRecords } from '../../server/ledger/read-records.ts';
import type { LedgerEvent, LedgerRecord } from '../../server/ledger/record.ts';
import { Thread } from './thread.ts';

export interface Story {
  readonly records: readonly LedgerRecord[];
  /** There are more records than are told. */
  readonly isCut: boolean;
  /** When the ledger begins: what is older has been removed. */
  readonly beginsAt: string | undefined;
}

export const storyMax = 10_000;
const readingsMax = 20;

const aside: readonly LedgerEvent[] = ['purged', 'queue-deleted', 'gap', 'opened'];
const asideNeedles = aside.map((event) => Buffer.from(`"event":"${event}"`));

export async function storyOf(directory: string, asked: string): Promise<Story> {
  const thread = new Thread(asked);
  for (let reading = 1; ; reading += 1) {
    const before = thread.size;
    const story = await readStory(directory, thread);
    if (thread.size === before || reading === readingsMax || story.isCut) return story;
  }
}

async function readStory(directory: string, thread: Thread): Promise<Story> {
  const told: LedgerRecord[] = [];
  let beginsAt: string | undefined;
  const mayHold = (block: Buffer): boolean =>
    beginsAt === undefined ||
    thread.mayHold(block) ||
    (told.length > 0 && asideNeedles.some((needle) => block.includes(needle)));
  for await (const record of readRecords(directory, mayHold)) {
    beginsAt ??= record['prov:startedAtTime'];
    const isOfStory = thread.take(record);
    if (!isOfStory && (told.length === 0 || !explains(record))) continue;
    if (told.length === storyMax) return { records: relevant(told), isCut: true, beginsAt };
    told.push(record);
  }
  return { records: relevant(told), isCut: false, beginsAt };
}

function explains({ event, clean }: LedgerRecord): boolean {
  return event === 'opened' ? clean === false : aside.includes(event);
}

/** Leaves out what is aside and does not matter: purges of other queues, and holes behind the end of the story. */
function relevant(told: readonly LedgerRecord[]): LedgerRecord[] {
  const queueOf = new Map<string, string | undefined>();
  const records: LedgerRecord[] = [];
  let holes: LedgerRecord[] = [];
  for (const record of told) {
    if (record.event === 'gap' || record.event === 'opened') {
      holes.push(record);
      continue;
    }
    if (record.event === 'purged' || record.event === 'queue-deleted') {
      const gone = [...queueOf].filter(([, queue]) => queue === record.queue);
      if (gone.length === 0) continue;
      for (const [id] of gone) queueOf.delete(id);
    }
    records.push(...holes, record);
    holes = [];
    follow(record, queueOf);
  }
  // Whoever is still in a queue may have left it in a hole.
  return queueOf.size > 0 ? [...records, ...holes] : records;
}

/** Where each message is. */
function follow(record: LedgerRecord, queueOf: Map<string, string | undefined>): void {
  const { event, message_id: id = '', new_message_id: newId = '', queue, target } = record;
  if (event === 'accepted') queueOf.set(id, queue);
  else if (event === 'dead-lettered') queueOf.set(id, target);
  else if (event === 'moved') {
    queueOf.delete(id);
    queueOf.set(newId, target);
  } else if (event === 'deleted' || event === 'expired') queueOf.delete(id);
}
