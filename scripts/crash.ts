// Crash runs of any length: the server is killed repeatedly under load, and a checker judges what its
// clients saw (packages/broker/test/crash/run.ts).
//
//   npm run test:crash                                100 kills, a new seed
//   npm run test:crash -- --kills 5000 --seed 7       many, from that seed
//   npm run test:crash -- --serve="--durability os"   with more flags for the server
//   npm run test:crash -- --memory                    nothing is kept: shows what the checker then finds
//
// A long run consists of rounds on the same data, each with its own drain and verdict, so that memory stays
// bounded and a violation is found soon. The first round with a violation ends the run with exit code 1, and
// its history and the data are kept.

import { randomInt } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { violationsText } from '#broker-test/crash/checker.js';
import { crashRun } from '#broker-test/crash/run.js';

const killsPerRound = 100;
const killsPerLine = 10;
const seedsMax = 1_000_000_000;

const values = readFlags();
const kills = wholeNumber('kills', values.kills);
if (kills === 0) refuse('--kills must be at least 1.');
const firstSeed = wholeNumber('seed', values.seed ?? String(randomInt(seedsMax)));
const flags = values.serve.split(' ').filter((flag) => flag !== '');
const directory = mkdtempSync(join(tmpdir(), 'oncemq-crash-'));
const data = values.memory ? {} : { data: join(directory, 'data') };
const began = performance.now();
const totals = new Map<string, number>();
let violations = 0;

console.log(`${kills} kills from seed ${firstSeed}, in ${directory}`);
for (let done = 0, round = 0; done < kills && violations === 0; done += killsPerRound, round += 1) {
  const seed = firstSeed + round;
  const roundDirectory = join(directory, `round-${round}`);
  const result = await crashRun({
    ...data,
    seed,
    round,
    flags,
    directory: roundDirectory,
    kills: Math.min(killsPerRound, kills - done),
    onKill: (count) => {
      if (count % killsPerLine === 0) say(`${done + count} of ${kills} kills`);
    },
  });
  for (const [name, count] of Object.entries(result.tally)) {
    totals.set(name, (totals.get(name) ?? 0) + count);
  }
  violations = result.violations.length;
  say(`round ${round}, seed ${seed}: ${violations} violations`);
  if (violations > 0) console.log(violationsText(result.violations));
  else rmSync(roundDirectory, { recursive: true });
}
for (const [name, count] of [...totals, ['violations', violations] as const]) {
  console.log(`${name.padEnd(26)}${String(count).padStart(9)}`);
}
if (violations > 0) {
  console.log(`The history is kept in ${directory}.`);
  process.exitCode = 1;
} else rmSync(directory, { recursive: true });

function say(text: string): void {
  const seconds = ((performance.now() - began) / 1000).toFixed(0);
  console.log(`${seconds.padStart(5)} s  ${text}`);
}

function readFlags() {
  try {
    const { values } = parseArgs({
      options: {
        kills: { type: 'string', default: '100' },
        seed: { type: 'string' },
        serve: { type: 'string', default: '' },
        memory: { type: 'boolean', default: false },
      },
    });
    return values;
  } catch (error) {
    return refuse((error as Error).message);
  }
}

function wholeNumber(name: string, text: string): number {
  if (!/^[1-9]\d{0,8}$|^0$/.test(text)) refuse(`--${name} must be a whole number, not ${text}.`);
  return Number(text);
}

function refuse(text: string): never {
  process.stderr.write(`crash: ${text}\n`);
  process.exit(2);
}
