// Runs only the simulation: the engine against the reference model, from a seed.
//
//   npm run test:simulation                             a new seed, as many commands as in npm test
//   npm run test:simulation -- --seed 7                 that seed
//   npm run test:simulation -- --seed 7 --path 3:0:1    straight to the case that a failure named
//   npm run test:simulation -- --commands 20000000      a long run
//
// The test file itself interprets the flags (packages/broker/test/support/seeded.ts); here they are only checked.

import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';

const file = 'packages/broker/dist/test/simulation/simulation.test.js';

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    path: { type: 'string' },
    commands: { type: 'string' },
  },
});
const flags = Object.entries(values).flatMap(([name, value]) => [`--${name}`, value]);
const { status } = spawnSync(
  process.execPath,
  ['--enable-source-maps', '--test-reporter=spec', file, ...flags],
  { stdio: 'inherit' },
);
process.exitCode = status ?? 1;
