// Runs the tests again whenever a source is saved: `npm run test:watch -- WORD…`, with everything that `npm test` takes.
//
// It runs the same two steps as `npm test`, so a build that fails is shown and the tests wait for the next change. A change
// during a run leads to one more run after it. End it with Ctrl+C.

import { spawnSync } from 'node:child_process';
import { existsSync, watch } from 'node:fs';
import { join } from 'node:path';

const folders = [
  ...['broker', 'toolkit'].flatMap((name) => [`packages/${name}/src`, `packages/${name}/test`]),
  ...['bench', 'docs', 'examples', 'scripts', 'test'],
];
/** An editor saves in several steps, and a branch is checked out file by file. */
const settleMs = 200;

const args = process.argv.slice(2);
let timer: NodeJS.Timeout | undefined;

for (const folder of folders.filter((each) => existsSync(each))) {
  watch(folder, { recursive: true }, () => {
    clearTimeout(timer);
    timer = setTimeout(runOnce, settleMs);
  });
}
runOnce();

function runOnce(): void {
  for (const program of [join('scripts', 'prepare.mjs'), join('.build', 'scripts', 'test.js')]) {
    const words = program.endsWith('test.js') ? args : [];
    const { status } = spawnSync(process.execPath, [program, ...words], { stdio: 'inherit' });
    if (status !== 0) break;
  }
  console.log(`\nwatching ${folders.join(', ')}`);
}
