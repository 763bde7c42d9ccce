/**
 * Pages of a long queue: where a page begins is found in few steps, even if the last message of the previous page is
 * gone. Steps are counted, not timed.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { MessageGroups } from '../../src/core/queue/message-groups.ts';
import { MessageTable } from '../../src/core/queue/message-table.ts';

class CountingTable extends MessageTable {
  steps = 0;

  override newer(row: number): number {
    this.steps += 1;
    return super.newer(row);
  }

  override groupNext(row: number): number {
    this.steps += 1;
    return super.groupNext(row);
  }
}

const content = { body: '', bodyMd5: '', attributes: [], attributesMd5: '' };

/** Sequences from 1 on, every second message in the group `even`. */
function filled(count: number): { table: CountingTable; groups: MessageGroups } {
  const table = new CountingTable();
  const groups = new MessageGroups(table);
  for (let sequence = 1; sequence <= count; sequence += 1) {
    const row = table.add(sequence, { sentAt: sequence, delayMs: 0, content }, false);
    groups.add(row, sequence % 2 === 0 ? 'even' : 'odd', undefined);
  }
  return { table, groups };
}

/** Removes messages from the table alone: nothing else is asked about them here. */
function remove(table: MessageTable, first: number, last: number): void {
  for (let sequence = first; sequence <= last; sequence += 1) table.remove(table.find(sequence));
}

function first(table: MessageTable, rows: Iterable<number>): number | undefined {
  for (const row of rows) return table.sequence(row);
  return undefined;
}

const stepsMax = 1_000;

test('the first message after a deleted one is found in few steps', () => {
  const { table } = filled(200_000);
  remove(table, 150_000, 150_010);
  table.steps = 0;
  assert.equal(first(table, table.inSequence(150_005)), 150_011);
  assert.equal(first(table, table.inSequence(1e15)), undefined);
  assert.ok(table.steps < stepsMax, `${table.steps} steps`);
});

test('the first message of a group after a sequence number of another group is found in few steps', () => {
  const { table, groups } = filled(200_000);
  table.steps = 0;
  assert.equal(first(table, groups.ofGroup('even', 150_001)), 150_002);
  assert.equal(first(table, groups.ofGroup('even', 1e15)), undefined);
  assert.ok(table.steps < stepsMax, `${table.steps} steps`);
});

test('a page starts after its sequence number, whatever was added and removed', () => {
  const commands = fc.array(
    fc.oneof(
      fc.record({ add: fc.boolean() }),
      fc.record({ remove: fc.nat(60) }),
      fc.record({ after: fc.nat(60) }),
    ),
    { maxLength: 200 },
  );
  fc.assert(
    fc.property(commands, (all) => {
      const table = new MessageTable();
      const there = new Set<number>();
      let sequence = 0;
      for (const command of all) {
        if ('add' in command) {
          sequence += 1;
          table.add(sequence, { sentAt: sequence, delayMs: 0, content }, command.add);
          there.add(sequence);
        } else if ('remove' in command) {
          if (there.delete(command.remove)) table.remove(table.find(command.remove));
        } else {
          const found = [...table.inSequence(command.after)].map((row) => table.sequence(row));
          assert.deepEqual(
            found,
            [...there].filter((each) => each > command.after),
          );
        }
      }
    }),
  );
});
