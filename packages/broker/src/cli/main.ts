#!/usr/bin/env node
// The `oncemq` command: reads argv, calls what the words ask for, prints text and sets the exit code.
//
// There is no server yet. `oncemq serve` says so, shows the engine at work and ends with success. Rules live in core,
// never here.

import { parseArgs } from 'node:util';
import { demonstrate } from './demonstration.ts';

const usage = `Usage: oncemq serve

Commands:
  serve    run the broker (not there yet: a demonstration of the engine)
`;

const { positionals } = parseArgs({ allowPositionals: true, strict: false });
const command = positionals[0];

if (command === 'serve') {
  demonstrate(console.log);
} else {
  console.error(usage);
  process.exitCode = 2;
}
