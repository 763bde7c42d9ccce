/**
 * Reads the story of one event or message from a ledger: all records connected to an id, in the order of the ledger, and
 * those that explain them (telling.ts). A record may refer to something recorded before it, so the ledger is read again
 * until nothing new turns up; usually twice.
 */

import { readRecords } from '../../server/ledger/read-records.ts';
import type { LedgerEvent, LedgerRecord } from '../../server/ledger/record.ts';
import { Telling } from './telling.ts';
import { Thread } from './thread.ts';

export interface Story {
  readonly records: readonly LedgerRecord[];
  /** Whether there are more records than these. */
  readonly isCut: boolean;
  /** Whether it has its beginning; if not, that is older than the ledger. */
  readonly isWhole: boolean;
  /** When the ledger begins; older records have been removed. */
  readonly beginsAt: string | undefined;
}

const readingsMax = 20;

const beginnings: readonly LedgerEvent[] = ['published', 'accepted', 'suppressed', 'violation'];

export async function storyOf(directory: string, asked: string): Promise<Story> {
  const thread = new Thread(asked);
  for (let reading = 1; ; reading += 1) {
    const before = thread.size;
    const story = await readStory(directory, thread);
    if (thread.size === before || reading === readingsMax || story.isCut) return story;
  }
}

async function readStory(directory: string, thread: Thread): Promise<Story> {
  const telling = new Telling();
  let beginsAt: string | undefined;
  let isCut = false;
  const mayHold = (block: Buffer): boolean =>
    beginsAt === undefined || thread.mayHold(block) || telling.mayHoldAside(block);
  for await (const record of readRecords(directory, mayHold)) {
    beginsAt ??= record['prov:startedAtTime'];
    if (!thread.take(record)) {
      telling.addAside(record);
      continue;
    }
    isCut = telling.isFull;
    if (isCut) break;
    telling.add(record);
  }
  const { records } = telling;
  const isWhole = records[0] !== undefined && beginnings.includes(records[0].event);
  return { records, isCut, isWhole, beginsAt };
}
