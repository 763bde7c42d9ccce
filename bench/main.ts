/**
 * `npm run bench [-- QUESTION [FLAGS]]`: runs one benchmark, or all of them. One file a question; README.md says what
 * each measures and what it does not. Every run prints the machine, the versions and the spread.
 */

import { cpus, totalmem } from 'node:os';
import { benchEngine } from './engine.ts';
import { benchHttp } from './http.ts';
import { benchSns } from './sns.ts';

const questions: Readonly<Record<string, (flags: readonly string[]) => Promise<void>>> = {
  engine: benchEngine,
  http: benchHttp,
  sns: benchSns,
};

const [asked, ...flags] = process.argv.slice(2);
const names = asked === undefined || asked.startsWith('--') ? Object.keys(questions) : [asked];
const unknown = names.find((name) => !Object.hasOwn(questions, name));
if (unknown !== undefined) {
  process.stderr.write(
    `bench: there is no question ${unknown}. Known: ${Object.keys(questions).join(', ')}.\n`,
  );
  process.exit(2);
}

const isFileAsked = process.argv.includes('--json') || process.argv.includes('--svg');
if (isFileAsked && names.length > 1) {
  process.stderr.write('bench: name the question whose results the file is for.\n');
  process.exit(2);
}

const processor = cpus()[0]?.model.trim() ?? 'unknown processor';
const memory = Math.round(totalmem() / 2 ** 30);
process.stdout.write(
  `node ${process.version}, ${cpus().length} × ${processor}, ${memory} GiB, ${process.platform}\n`,
);
for (const name of names) {
  await questions[name]?.(asked === name ? flags : process.argv.slice(2));
}
