/**
 * `oncemq events`: prints the events of a running server as they happen, one per line, until Ctrl-C or until the server
 * ends the stream.
 */

import { once } from 'node:events';
import { endWithReader } from './output.ts';
import { printable } from './printable.ts';
import { Remote } from './remote.ts';
import { checkFlags, readArguments, UsageError } from './usage.ts';

export const eventsUsage = `Usage: oncemq events [--queue NAME] [--topic NAME] [--type TYPE] [--group ID] [--bodies] [--url URL] [--json]

Prints the events of a running server as they happen, one per line. Separate several names by commas.

  --queue, --topic   only events that concern these
  --type TYPE        only events of these types: sent, duplicate, delivered, deleted, dead-lettered, …
  --group ID         only events that name one of these message groups
  --bodies           include bodies, truncated to 4,096 characters
  --url URL          the server [http://127.0.0.1:9324, or ONCEMQ_URL]
  --json             print each event as the server sends it, one JSON object per line
`;

const filters = ['queue', 'topic', 'type', 'group'];

export async function events(args: readonly string[]): Promise<void> {
  const { words, flags } = readArguments(args, ['json', 'bodies']);
  if (words.length > 0) throw new UsageError(eventsUsage);
  checkFlags(flags, [...filters, 'bodies', 'url', 'json'], eventsUsage);
  const query = new URLSearchParams();
  for (const name of filters) {
    for (const value of flags[name]?.split(',') ?? []) query.append(name, value);
  }
  if (flags['bodies'] === 'true') query.set('bodies', 'true');
  const remote = new Remote(flags);
  endWithReader();
  for await (const { type, data, event } of remote.follow(`events?${query}`)) {
    if (type === 'dropped') throw new Error(String(event['reason']));
    const line = `${flags['json'] === 'true' ? data : lineOf(event)}\n`;
    // Backpressure: while the output is blocked, nothing more is read; the server drops us if too much waits there.
    if (!process.stdout.write(line)) await once(process.stdout, 'drain');
  }
  throw new Error('The server ended the stream.');
}

/** Time, type, topic and queue, then all other fields of the event. */
function lineOf({ at, type, queue, topic, ...others }: Readonly<Record<string, unknown>>): string {
  const route = [topic, queue].filter((name) => name !== undefined).join(' → ');
  const time = new Date(Number(at)).toISOString();
  return [time, String(type).padEnd(18), route, ...namedValues(others, '')].join('  ');
}

function namedValues(fields: object, prefix: string): string[] {
  return Object.entries(fields).flatMap(([name, value]: [string, unknown]) => {
    const isNested = typeof value === 'object' && value !== null && !Array.isArray(value);
    if (isNested) return namedValues(value, `${prefix}${name}.`);
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    return [`${prefix}${name}=${printable(text.replaceAll(/\s+/g, ' '))}`];
  });
}
