// Which lines of the packages the tests reach: `npm run test:coverage -- WORD…`, with everything that `npm test` takes.
//
// Node counts, also in the processes that tests start, and maps the lines back to TypeScript. Node 20 cannot do that (with
// source maps it fails, and it cannot leave files out), so there the newest Node of other-nodes.ts runs the tests. A process
// that a test kills writes no counts.

import { fetchNode, otherVersions, programOf, testOn } from './other-nodes.ts';

const majorMin = 22;
/** Node compares both the compiled file and its source with the patterns. */
const included = ['packages/*/dist/src/**', 'packages/*/src/**'];
const options = [
  '--experimental-test-coverage',
  ...included.map((pattern) => `--test-coverage-include=${pattern}`),
];

const isEnough = Number(process.versions.node.split('.')[0]) >= majorMin;
const version = otherVersions.at(-1) as string;
const complaint = isEnough ? undefined : await fetchNode(version);
if (complaint === undefined) {
  const program = isEnough ? process.execPath : programOf(version);
  process.exitCode = testOn(program, [...options, ...process.argv.slice(2)]);
} else {
  console.error(`Coverage needs Node.js ${majorMin} or newer; ${version}: ${complaint}`);
  process.exitCode = 1;
}
