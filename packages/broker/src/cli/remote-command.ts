/**
 * Runs the commands that talk to a running server, `oncemq queue …` and `oncemq topic …`: finds the command in a table,
 * checks its arguments and flags, and prints a text for people or, with `--json`, the server's own answer.
 */

import { endWithReader } from './output.ts';
import { Remote } from './remote.ts';
import { checkFlags, readArguments, UsageError } from './usage.ts';

export interface RemoteCall {
  readonly remote: Remote;
  /** The arguments after the command's name. */
  readonly words: readonly string[];
  readonly flags: Readonly<Record<string, string>>;
  /** Creates the text only if it is printed. */
  print(value: unknown, text: () => string): void;
}

export interface RemoteCommand {
  /** The maximum number of arguments. */
  readonly words: number;
  /**
   * The flags that it accepts, besides url and json. Any other is refused: one that was meant to narrow a purge must not be
   * ignored.
   */
  readonly flags: readonly string[];
  run(call: RemoteCall): Promise<void>;
}

export interface RemoteCommands {
  readonly usage: string;
  readonly commands: Readonly<Record<string, RemoteCommand>>;
}

export async function runRemoteCommand(
  args: readonly string[],
  { usage, commands }: RemoteCommands,
): Promise<void> {
  const { words, flags } = readArguments(args, ['json']);
  const [name = '', ...rest] = words;
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (command === undefined) {
    const known = Object.keys(commands).join(', ');
    throw new UsageError(
      name === '' ? usage : `There is no command ${name}; the commands are ${known}.\n\n${usage}`,
    );
  }
  const extra = rest[command.words];
  if (extra !== undefined) {
    throw new UsageError(`Unexpected argument after ${name}: ${extra}\n\n${usage}`);
  }
  checkFlags(flags, ['url', 'json', ...command.flags], usage, name);
  const remote = new Remote(flags);
  endWithReader();
  const print: RemoteCall['print'] = (value, text) => {
    const output = flags['json'] === 'true' ? JSON.stringify(value, undefined, 2) : text();
    process.stdout.write(`${output}\n`);
  };
  await command.run({ remote, words: rest, flags, print });
}
