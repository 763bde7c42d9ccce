#!/usr/bin/env node
/**
 * The `oncemq` command: reads argv, calls what the words ask for, sets the exit code. 0 is success, 1 a failure that
 * the text explains, 2 a wrong use. Rules live in core, never here.
 */

import { ConfigError } from '../server/config.ts';
import { backup, backupUsage, check, checkUsage } from './data.ts';
import { queueCommand, queueUsage } from './queue.ts';
import { serve, serveUsage } from './serve.ts';
import { topicCommand, topicUsage } from './topic.ts';
import { UsageError } from './usage.ts';

const usage = `Usage: oncemq COMMAND

  serve     run the server
  queue     look at queues of a running server, purge and redrive them
  topic     look at topics of a running server
  backup    copy the data of a running or stopped server
  check     verify the data of a stopped server

oncemq COMMAND --help says more.
`;

interface CliCommand {
  readonly run: (args: readonly string[]) => Promise<void>;
  readonly usage: () => string;
}

const commands: Readonly<Record<string, CliCommand>> = {
  serve: { run: serve, usage: serveUsage },
  queue: { run: queueCommand, usage: () => queueUsage },
  topic: { run: topicCommand, usage: () => topicUsage },
  backup: { run: backup, usage: () => backupUsage },
  check: { run: check, usage: () => checkUsage },
};

const [name, ...args] = process.argv.slice(2);
const asksForHelp = args.includes('--help') || args.includes('-h');

try {
  if (name === undefined || name === '--help' || name === '-h') {
    process.stdout.write(usage);
    process.exitCode = name === undefined ? 2 : 0;
  } else {
    const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
    if (command === undefined) throw new UsageError(`There is no command ${name}.\n\n${usage}`);
    if (asksForHelp) process.stdout.write(command.usage());
    else await command.run(args);
  }
} catch (error) {
  const isOurs = error instanceof ConfigError || error instanceof UsageError;
  process.stderr.write(`oncemq: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = isOurs ? 2 : 1;
}
