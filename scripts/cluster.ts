// Long runs of three nodes over one database, of which one after the other is harmed, while clients use all of them
// (packages/broker/test/crash/nodes-run.ts).
//
//   npm run test:nodes                            five minutes, a new seed
//   npm run test:nodes -- --minutes 30 --seed 7   longer, from that seed
//   npm run test:nodes -- --pause 90              nodes are frozen and cut off for up to 90 seconds
//   npm run test:nodes -- --manager patroni       the failovers are those of Debian's patroni and etcd-server
//   npm run test:nodes -- --planted lies          shows that commits which are none are found (or --planted loss)
//
// A run consists of rounds of some faults, each with a database of its own, a drain and a verdict. The first round with a violation,
// with commits that a node calls lost, or in which anybody waited for the dead for more than two seconds (`--wait`, for a busy
// machine), ends the run with exit code 1, and its history is kept. While the primary is replaced, nobody can be served.

import { randomInt } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { violationsText } from '#broker-test/crash/checker.js';
import { nodesRun } from '#broker-test/crash/nodes-run.js';

const faultsPerRound = 60;
const faultsPerFailover = 12;
const linesMax = 20;
const seedsMax = 1_000_000_000;

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '5' },
    seed: { type: 'string', default: String(randomInt(seedsMax)) },
    faults: { type: 'string', default: String(faultsPerRound) },
    pause: { type: 'string', default: '2.5' },
    manager: { type: 'string', default: 'none' },
    wait: { type: 'string', default: '2' },
    planted: { type: 'string' },
  },
});
const firstSeed = Number(values.seed);
const minutes = Number(values.minutes);
const { manager } = values;
if (manager !== 'none' && manager !== 'patroni') throw new Error(`There is no manager ${manager}.`);
const { planted } = values;
if (planted !== undefined && planted !== 'lies' && planted !== 'loss') {
  throw new Error(`There is no mistake ${planted}.`);
}
if (planted === 'loss' && manager !== 'none') {
  throw new Error(
    `--planted loss takes databases without a manager, which would not let it happen.`,
  );
}
const directory = mkdtempSync(join(tmpdir(), 'oncemq-nodes-'));
const began = performance.now();
const passed = (): number => (performance.now() - began) / 60_000;
const say = (text: string): void => console.log(`${passed().toFixed(1).padStart(6)} min  ${text}`);
const totals = new Map<string, number>();
const waits = new Map<string, { count: number; waitMs: number }>();
let isGood = true;

console.log(`${minutes} minutes from seed ${firstSeed}, in ${directory}`);
for (let round = 0; isGood && passed() < minutes; round += 1) {
  const seed = firstSeed + round;
  const roundDirectory = join(directory, `round-${round}`);
  const { tally, violations, faults, losses, failures } = await nodesRun({
    seed,
    faults: Number(values.faults),
    faultsPerFailover,
    harmMsMax: Number(values.pause) * 1000,
    manager,
    ...(planted === undefined ? {} : { planted }),
    directory: roundDirectory,
    onFault: (what, waitMs) => say(`${what}: the others waited for ${waitMs.toFixed(0)} ms`),
  });
  for (const [name, count] of Object.entries(tally)) {
    totals.set(name, (totals.get(name) ?? 0) + count);
  }
  for (const [what, { count, waitMs }] of faults) {
    const known = waits.get(what) ?? { count: 0, waitMs: 0 };
    waits.set(what, { count: known.count + count, waitMs: Math.max(known.waitMs, waitMs) });
  }
  const late = [...faults].filter(
    ([what, { waitMs }]) => what !== 'primary killed' && waitMs > Number(values.wait) * 1000,
  );
  say(`round ${round}, seed ${seed}: ${violations.length} violations, ${tally.deleted} messages`);
  if (violations.length > 0) console.log(violationsText(violations));
  for (const [what] of late) console.log(`waited too long: ${what}`);
  for (const line of [...losses, ...failures].slice(0, linesMax)) console.log(line);
  isGood = violations.length + losses.length + late.length === 0;
  if (isGood) rmSync(roundDirectory, { recursive: true });
}
for (const [name, count] of totals) console.log(`${name.padEnd(40)}${String(count).padStart(9)}`);
for (const [what, { count, waitMs }] of waits) {
  console.log(
    `${what.padEnd(40)}${String(count).padStart(9)} times, longest wait ${waitMs.toFixed(0)} ms`,
  );
}
if (isGood) rmSync(directory, { recursive: true });
else console.log(`History: ${directory}`);
process.exitCode = isGood ? 0 : 1;
