#!/usr/bin/env node
/**
 * The `oncemq` command: reads argv, calls what the words ask for, sets the exit code. 0 is success, 1 a failure that
 * the text explains, 2 a wrong use. Rules live in core, never here.
 */

import { ConfigError } from '../server/config.ts';
import { queueCommand, queueUsage } from './queue.ts';
import { serve, serveUsage } from './serve.ts';
import { UsageError } from './usage.ts';

const usage = `Usage: oncemq COMMAND

  serve     run the server
  queue     look at queues of a running server, purge and redrive them
  verify    hold producers to the message contract
  gate      what a merge must pass: producers that a git range changes, sends past them

oncemq COMMAND --help says more.
`;

const [command, ...args] = process.argv.slice(2);
const asksForHelp = args.includes('--help') || args.includes('-h');

try {
  if (command === 'serve') {
    if (asksForHelp) process.stdout.write(serveUsage());
    else await serve(args);
  } else if (command === 'queue') {
    if (asksForHelp) process.stdout.write(queueUsage);
    else await queueCommand(args);
  } else if (command === 'verify') {
    // Loaded when it is asked for: a server needs no JSON Schema to start.
    const { verify, verifyUsage } = await import('./verify.ts');
    if (asksForHelp) process.stdout.write(verifyUsage);
    else await verify(args);
  } else if (command === 'gate') {
    const { gate, gateUsage } = await import('./gate.ts');
    if (asksForHelp) process.stdout.write(gateUsage);
    else await gate(args);
  } else if (command === undefined || command === '--help' || command === '-h') {
    process.stdout.write(usage);
    process.exitCode = command === undefined ? 2 : 0;
  } else {
    throw new UsageError(`There is no command ${command}.\n\n${usage}`);
  }
} catch (error) {
  const isOurs = error instanceof ConfigError || error instanceof UsageError;
  process.stderr.write(`oncemq: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = isOurs ? 2 : 1;
}
