// The chaos run of the toolkit, of any length: producer, relay and consumers in real processes that are killed, paused and
// given everything again after the window, with poison among the messages (packages/toolkit/test/crash/chaos.test.ts). With
// each round come fifty pipelines whose crashes are only errors (many-crashes.test.ts beside it).
//
//   npm run test:chaos                              ten rounds, a new seed; a minute has about three
//   npm run test:chaos -- --rounds 200 --seed 7     many, from that seed

import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';

const folder = 'packages/toolkit/dist/test/crash';
const files = [`${folder}/chaos.test.js`, `${folder}/many-crashes.test.js`];
const pipelinesPerRound = 50;

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
  ['--enable-source-maps', '--test', '--test-reporter=spec', '--test-concurrency=1', ...files],
  {
    env: {
      ...environment,
      CHAOS: values.rounds,
      PIPELINES: String(Number(values.rounds) * pipelinesPerRound),
      ...(values.seed && { SEED: values.seed }),
    },
    stdio: 'inherit',
  },
);
process.exitCode = status ?? 1;
