/**
 * How two texts are compared, line by line. The module is the browser's, but knows no page, so it is tested as it is
 * served.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';

interface Piece {
  readonly text: string;
  readonly isDifferent: boolean;
}

type Side = 'left' | 'right';
type Row = Readonly<Record<Side, readonly Piece[] | undefined>>;

// By its address: the console is compiled on its own, and nothing of the broker imports it.
const address = new URL('../../src/console/components/diff.js', import.meta.url).href;
const { compareTexts } = (await import(address)) as {
  compareTexts(left: string, right: string): readonly Row[];
};

/** One side as text; with what is marked in brackets. */
function shown(rows: readonly Row[], side: Side): string {
  return rows
    .filter((row) => row[side] !== undefined)
    .map((row) => (row[side] ?? []).map(marked).join(''))
    .join('\n');
}

function marked({ text, isDifferent }: Piece): string {
  return isDifferent ? `[${text}]` : text;
}

test('of two matching lines only the difference is marked', () => {
  const rows = compareTexts(
    '{\n  "total": 10,\n  "note": "a"\n}',
    '{\n  "total": 19,\n  "note": "a"\n}',
  );
  assert.equal(shown(rows, 'left'), '{\n  "total": 1[0],\n  "note": "a"\n}');
  assert.equal(shown(rows, 'right'), '{\n  "total": 1[9],\n  "note": "a"\n}');
});

test('a line that only one text has is marked completely, next to an empty line', () => {
  const rows = compareTexts('a\nb\nc', 'a\nc');
  assert.equal(shown(rows, 'left'), 'a\n[b]\nc');
  assert.equal(shown(rows, 'right'), 'a\nc');
  assert.equal(rows[1]?.right, undefined);
});

test('both texts of any comparison are shown completely, and equal ones without a mark', () => {
  const text = fc
    .array(fc.constantFrom('a', 'b', 'ab', 'abc', '', '  "x": 1,'), { maxLength: 12 })
    .map((lines) => lines.join('\n'));
  fc.assert(
    fc.property(text, text, (left, right) => {
      const rows = compareTexts(left, right);
      const whole = (side: Side): string => shown(rows, side).replaceAll(/[[\]]/g, '');
      assert.deepEqual([whole('left'), whole('right')], [left, right]);
      const isMarked = /\[/.test(shown(rows, 'left') + shown(rows, 'right'));
      assert.equal(isMarked, left !== right);
    }),
  );
});

test('texts of thousands of lines are compared, with less detail', () => {
  const lines = (first: number): string =>
    Array.from({ length: 5_000 }, (_, index) => `line ${first + index}`).join('\n');
  assert.equal(compareTexts(lines(0), lines(7)).length, 5_000);
});
