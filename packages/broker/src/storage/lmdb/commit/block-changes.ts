/**
 * Applies a change to the blocks of a queue or topic: which block takes a record, what is counted in it, and what is written
 * for it when the batch is complete.
 */

import type { KeptWindowEntry, WindowDigests } from '../../../core/changes.ts';
import { blockOf } from '../records/block.ts';
import type { Block, OwnerRecords } from '../records/owner-records.ts';
import type { Batch } from './batch.ts';

/** The block that takes the record with this id. If it is a new one, the block before it is released with this batch. */
export function growingBlock(
  records: OwnerRecords,
  id: number,
  batch: Batch,
): ReturnType<OwnerRecords['growing']> {
  const before = records.last;
  const block = records.growing(blockOf(id));
  if (before !== undefined && before !== block) batch.note(before, records);
  batch.note(block, records);
  block.hasGrown = true;
  records.lastSequence = id;
  return block;
}

export function removeMessage(records: OwnerRecords, id: number, batch: Batch): void {
  const block = records.blocks.get(blockOf(id)) as Block;
  const contentKey = block.contentKey(id) as number;
  block.remove(id);
  records.messages -= 1;
  records.uncommitted.delete(id);
  batch.heads.add(records);
  batch.note(block, records);
  if (block.isOverAt(contentKey)) batch.removeContents(records, contentKey);
}

export function addWindowEntry(
  records: OwnerRecords,
  id: number,
  value: KeptWindowEntry,
  digests: WindowDigests | undefined,
  batch: Batch,
): void {
  const block = growingBlock(records, id, batch);
  block.growing.addWindowEntry(id, value, digests ?? records.digester.of(value));
  block.windowEntries += 1;
  records.windowEntries += 1;
}

export function removeWindowEntry(records: OwnerRecords, id: number, batch: Batch): void {
  const block = records.blocks.get(blockOf(id)) as Block;
  block.windowEntries -= 1;
  records.windowEntries -= 1;
  records.windowFrom = id + 1;
  batch.heads.add(records);
  if (block.isOver) batch.note(block, records);
}

export function clearWindow(records: OwnerRecords, batch: Batch): void {
  records.windowFrom = records.lastSequence + 1;
  records.windowEntries = 0;
  batch.heads.add(records);
  for (const block of records.blocks.values()) {
    block.windowEntries = 0;
    if (block.isOver) batch.note(block, records);
  }
}

export function completeBlock(batch: Batch, block: Block, records: OwnerRecords): void {
  const { contents } = records;
  if (block.isOver) {
    records.dropBlock(block);
    if (!block.isInFile) return;
    batch.write('block', contents, block.number, null);
    if (block.hasRemoved) batch.write('removed', contents, block.number, null);
    return;
  }
  if (block.hasGrown && block.growing !== undefined) {
    batch.write('block', contents, block.number, block.growing.bytes());
    block.hasGrown = false;
    block.isInFile = true;
  }
  if (block.hasRemoved) {
    block.writeRemoved(batch.writer);
    batch.writeRecord('removed', contents, block.number);
  }
}
