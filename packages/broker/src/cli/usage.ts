/**
 * Parses flags, the same for every command: `--name value`, `--name=value`, or `--name` alone for a switch. Each command
 * decides which names it knows.
 */

import { nearestName } from '@oncemq/toolkit/nearest-name';

/** The command was used wrongly; the message says how to use it. */
export class UsageError extends Error {
  override readonly name: string = 'UsageError';
}

export interface Arguments {
  readonly words: readonly string[];
  /** By name without dashes; a switch is `true`. */
  readonly flags: Readonly<Record<string, string>>;
}

/** The values of a flag among `lists` that is repeated are joined by commas; otherwise the last one counts. */
export function readArguments(
  args: readonly string[],
  switches: readonly string[],
  lists: readonly string[] = [],
): Arguments {
  const words: string[] = [];
  const flags = new Map<string, string>();
  const add = (name: string, value: string): void => {
    const before = lists.includes(name) ? flags.get(name) : undefined;
    flags.set(name, before === undefined ? value : `${before},${value}`);
  };
  for (let at = 0; at < args.length; at += 1) {
    const arg = args[at] as string;
    if (!arg.startsWith('--')) {
      words.push(arg);
      continue;
    }
    const equals = arg.indexOf('=');
    const name = equals < 0 ? arg.slice(2) : arg.slice(2, equals);
    if (equals >= 0) add(name, arg.slice(equals + 1));
    else if (switches.includes(name)) flags.set(name, 'true');
    else {
      const value = args[at + 1];
      const hasValue = value !== undefined && !value.startsWith('--');
      // An unknown flag without a value is kept, so that the command can name it in its error.
      add(name, hasValue ? value : '');
      if (hasValue) at += 1;
    }
  }
  return { words, flags: Object.fromEntries(flags) };
}

/** Refuses unknown flags, and flags without a value. `command` is named where the usage is that of several. */
export function checkFlags(
  flags: Arguments['flags'],
  known: readonly string[],
  usage: string,
  command?: string,
): void {
  const where = command === undefined ? '' : ` for ${command}`;
  for (const [name, value] of Object.entries(flags)) {
    if (!known.includes(name)) {
      const near = nearestName(name, known);
      const hint = near === undefined ? '' : ` Did you mean --${near}?`;
      throw new UsageError(`There is no flag --${name}${where}.${hint}\n\n${usage}`);
    }
    if (value === '') throw new UsageError(`--${name} needs a value.\n\n${usage}`);
  }
}

/** A flag that takes a number of seconds. */
export function secondsOf(flags: Arguments['flags'], name: string, fallback: number): number {
  const text = flags[name] ?? String(fallback);
  if (!/^[1-9]\d{0,4}$/.test(text))
    throw new UsageError(`--${name} must be a number of seconds from 1 to 99999, not ${text}.`);
  return Number(text);
}
