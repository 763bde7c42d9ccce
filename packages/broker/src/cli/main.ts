#!/usr/bin/env node
// The `oncemq` command: reads argv, calls what the words ask for, prints text and sets the exit code.
//
// There is no server yet. `oncemq serve` says so and ends with success, so that `npm start` on a fresh
// clone already proves the way from source to a running program. Rules live in core, never here.

import { parseArgs } from 'node:util';

const usage = `Usage: oncemq serve

Commands:
  serve    run the broker (not there yet: says so and ends)
`;

const { positionals } = parseArgs({ allowPositionals: true, strict: false });
const command = positionals[0];

if (command === 'serve') {
  console.log('oncemq: there is no server yet; the engine comes first, the server follows.');
} else {
  console.error(usage);
  process.exitCode = 2;
}
