/**
 * `npm run bench [-- QUESTION [FLAGS]]`: runs one benchmark, or all of them. There is one file per question; README.md
 * says what each measures and what it does not. Every run prints the machine, the versions and the spread.
 */

import { benchCommit } from './commit.ts';
import { benchEngine } from './engine.ts';
import { isFlagError } from './flags.ts';
import { benchFlat } from './flat.ts';
import { benchHttp } from './http.ts';
import { benchLatency } from './latency.ts';
import { benchPostgres } from './postgres.ts';
import { machineText, print } from './report/results.ts';
import { benchReuse } from './reuse.ts';
import { benchSize } from './size.ts';
import { benchSns } from './sns.ts';
import { benchTelemetry } from './telemetry.ts';

const questions: Readonly<Record<string, (flags: readonly string[]) => Promise<void>>> = {
  engine: benchEngine,
  http: benchHttp,
  sns: benchSns,
  commit: benchCommit,
  latency: benchLatency,
  size: benchSize,
  flat: benchFlat,
  reuse: benchReuse,
  telemetry: benchTelemetry,
  postgres: benchPostgres,
};

const [asked, ...flags] = process.argv.slice(2);
if (asked === '--help' || asked === 'help') {
  print(`Usage: npm run bench [-- QUESTION [FLAGS]]. Without a question it measures all of them, which takes a while.

Questions: ${Object.keys(questions).join(', ')}.
bench/README.md explains what each measures, and its flags.`);
  process.exit();
}
const names = asked === undefined || asked.startsWith('--') ? Object.keys(questions) : [asked];
const unknown = names.find((name) => !Object.hasOwn(questions, name));
if (unknown !== undefined) {
  refuse(`there is no question ${unknown}. Known: ${Object.keys(questions).join(', ')}.`);
}

const isFileAsked = process.argv.includes('--json') || process.argv.includes('--svg');
if (isFileAsked && names.length > 1)
  refuse('a results file needs a question: name the one whose results it is for.');

print(machineText());
for (const name of names) {
  if (names.length > 1) print(`\n${name}`);
  await questions[name]?.(asked === name ? flags : process.argv.slice(2)).catch(refuseFlags);
}

/** Reports a wrong flag as a usage error; any other error is shown with its stack. */
function refuseFlags(error: unknown): never {
  if (isFlagError(error)) refuse(error.message);
  throw error;
}

function refuse(text: string): never {
  process.stderr.write(`bench: ${text}\n`);
  process.exit(2);
}
