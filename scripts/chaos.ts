// The chaos run of the toolkit, of any length: producer, relay and consumers in real processes that are killed, paused and
// given everything again after the window, with poison among the messages (packages/toolkit/test/crash/chaos.test.ts).
//
//   npm run test:chaos                              ten rounds, a new seed; a minute has about four
//   npm run test:chaos -- --rounds 200 --seed 7     many, from that seed

import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';

const file = 'packages/toolkit/dist/test/crash/chaos.test.js';

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '10' }, seed: { type: 'string' } },
});
for (const [name, value] of Object.entries(values)) {
  if (/^[1-9]\d{0,8}$/.test(value)) continue;
  process.stderr.write(`chaos: --${name} must be a whole number above 0, not ${value}.\n`);
  process.exit(2);
}
const { CHAOS: _, SEED: __, ...environment } = process.env;
const { status } = spawnSync(
  process.execPath,
  ['--enable-source-maps', '--test', '--test-reporter=spec', file],
  {
    env: { ...environment, CHAOS: values.rounds, ...(values.seed && { SEED: values.seed }) },
    stdio: 'inherit',
  },
);
process.exitCode = status ?? 1;
