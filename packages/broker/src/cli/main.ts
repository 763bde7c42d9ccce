#!/usr/bin/env node
/**
 * The `oncemq` command: reads argv, runs the command, sets the exit code. 0 is success, 1 a failure that the message
 * explains, 2 wrong usage. Rules live in core, never here.
 */

import { nearestName } from '@oncemq/toolkit/nearest-name';
import { ConfigError } from '../server/config/config.ts';
import { version } from '../server/version.ts';
import { events, eventsUsage } from './events.ts';
import { isChild } from './is-child.ts';
import { watchOutput } from './output.ts';
import { queueCommand, queueUsage } from './queue.ts';
import { serve, serveUsage } from './serve.ts';
import { topicCommand, topicUsage } from './topic.ts';
import { trace, traceUsage } from './trace.ts';
import { UsageError } from './usage.ts';

interface Command {
  readonly usage: string;
  run(args: readonly string[]): Promise<void>;
}

/** What only some commands need is imported on demand: a server needs no JSON Schema to start, and in memory no LMDB. */
const commands: Readonly<Record<string, () => Promise<Command>>> = {
  serve: async () => ({ usage: serveUsage(), run: serve }),
  queue: async () => ({ usage: queueUsage, run: queueCommand }),
  topic: async () => ({ usage: topicUsage, run: topicCommand }),
  events: async () => ({ usage: eventsUsage, run: events }),
  trace: async () => ({ usage: traceUsage, run: trace }),
  backup: async () => {
    const { backup, backupUsage } = await import('./data.ts');
    return { usage: backupUsage, run: backup };
  },
  check: async () => {
    const { check, checkUsage } = await import('./data.ts');
    return { usage: checkUsage, run: check };
  },
  copy: async () => {
    const { copyCommand, copyUsage } = await import('./copy.ts');
    return { usage: copyUsage, run: copyCommand };
  },
  postgres: async () => {
    const { postgresCommand, postgresUsage } = await import('./postgres.ts');
    return { usage: postgresUsage, run: postgresCommand };
  },
  verify: async () => {
    const { verify, verifyUsage } = await import('./verify.ts');
    return { usage: verifyUsage, run: verify };
  },
  gate: async () => {
    const { gate, gateUsage } = await import('./gate.ts');
    return { usage: gateUsage, run: gate };
  },
  relay: async () => {
    const { relay, relayUsage } = await import('./relay.ts');
    return { usage: relayUsage, run: relay };
  },
  outbox: async () => {
    const { outboxCommand, outboxUsage } = await import('./outbox.ts');
    return { usage: outboxUsage, run: outboxCommand };
  },
  replay: async () => {
    const { replay, replayUsage } = await import('./replay.ts');
    return { usage: replayUsage, run: replay };
  },
};

const usage = `Usage: oncemq COMMAND

  serve     run the server
  queue     inspect, purge and redrive the queues of a running server
  topic     inspect the topics of a running server
  events    follow the events of a running server
  trace     show what happened to one event, from a ledger
  backup    copy the data of a running or stopped server
  check     verify the data of a stopped server
  copy      move everything between a data directory and PostgreSQL
  postgres  create the tables of a database, grant rights on them, list the servers that use it
  verify    test producers against the message contract
  gate      check the producers and sends that a branch changes, before it is merged
  relay     send what producers put into an outbox
  outbox    show, retry or skip the messages of an outbox that were refused
  replay    send messages of an outbox again

oncemq COMMAND --help explains a command; oncemq --version prints the version.
`;

const [name, ...args] = process.argv.slice(2);
const asksForHelp = args.includes('--help') || args.includes('-h');
if (name !== 'serve' || asksForHelp) watchOutput();

try {
  if (name === undefined || name === '--help' || name === '-h' || name === 'help') {
    process.stdout.write(usage);
    process.exitCode = name === undefined ? 2 : 0;
  } else if (name === '--version' || name === '-v' || name === 'version') {
    process.stdout.write(`oncemq ${version}\n`);
  } else if (!Object.hasOwn(commands, name)) {
    const near = nearestName(name, Object.keys(commands));
    const guess = near === undefined ? '' : ` Did you mean ${near}?`;
    throw new UsageError(`There is no command ${name}.${guess}\n\n${usage}`);
  } else {
    const command = await (commands[name] as () => Promise<Command>)();
    if (asksForHelp) process.stdout.write(command.usage);
    else await command.run(args);
  }
} catch (error) {
  const isOurs = error instanceof ConfigError || error instanceof UsageError;
  process.stderr.write(`oncemq: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = isOurs ? 2 : 1;
  // If a store could not be opened, lmdb leaves a timer behind that throws.
  if (isChild) process.exit();
}
