// The table of `npm run test:coverage`: which files it names, in which order, and which of their lines. The counts themselves are
// Node's.
//
// A made-up coverage is enough for that.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { coverageTable } from '../scripts/coverage-table.ts';

test('a file is listed with its unreached lines, the least covered first, and a covered one is not', () => {
  const table = coverageTable({
    workingDirectory: '/clone',
    files: [
      fileOf('whole.ts', [1, 1]),
      fileOf('half.ts', [1, 0, 2, 2]),
      fileOf('low.ts', [0, 0, 3, 0]),
    ],
    totals: { coveredLinePercent: 60, coveredBranchPercent: 50, coveredFunctionPercent: 40 },
  });
  assert.deepEqual(table.split('\n'), [
    ' lines branches functions',
    '  25.0    100.0     100.0  low.ts: 1-2, 4',
    '  75.0    100.0     100.0  half.ts: 2',
    '  60.0     50.0      40.0  all 3 files; 1 of them have every line covered',
  ]);
});

function fileOf(name: string, counts: readonly number[]) {
  return {
    path: `/clone/${name}`,
    coveredLinePercent: (100 * counts.filter((count) => count > 0).length) / counts.length,
    coveredBranchPercent: 100,
    coveredFunctionPercent: 100,
    lines: counts.map((count, index) => ({ line: index + 1, count })),
  };
}
