/**
 * `oncemq postgres`: the tables of a database and who may use them, for those who do not let servers create tables.
 */

import { databaseUrl } from '../server/config/database-text.ts';
import {
  grantRights,
  grantSql,
  migrateDatabase,
  migrationSql,
  nodesOf,
} from '../storage/postgres/tools.ts';
import { table } from './table.ts';
import { type Arguments, checkFlags, readArguments, UsageError } from './usage.ts';

export const postgresUsage: string = `Usage: oncemq postgres migrate [--dry-run] [--postgres URL]
       oncemq postgres grant --role ROLE [--dry-run] [--postgres URL]
       oncemq postgres nodes [--postgres URL]

migrate creates the tables, or brings them up to date. A server whose role may create tables does so itself when it starts.
grant lets a role serve: read and write the tables, and nothing else. Run both as the role that is to own the tables.
nodes lists the servers that were seen in the last minute; one that is silent may be gone.

  --dry-run        print the SQL instead of running it
  --role ROLE      the role that servers connect as
  --postgres URL   the database [ONCEMQ_POSTGRES]; repeated for its standbys
`;

export async function postgresCommand(args: readonly string[]): Promise<void> {
  const { words, flags } = readArguments(args, ['dry-run'], ['postgres']);
  const [verb] = words;
  if (words.length !== 1 || !['migrate', 'grant', 'nodes'].includes(verb as string)) {
    throw new UsageError(postgresUsage);
  }
  const isDryRun = flags['dry-run'] === 'true';
  if (verb === 'nodes') {
    checkFlags(flags, ['postgres'], postgresUsage, verb);
    await listNodes(urlsIn(flags));
  } else if (verb === 'migrate') {
    checkFlags(flags, ['dry-run', 'postgres'], postgresUsage, verb);
    await migrate(urlsIn(flags), isDryRun);
  } else {
    checkFlags(flags, ['dry-run', 'postgres', 'role'], postgresUsage, verb);
    await grant(flags, isDryRun);
  }
}

async function migrate(urls: readonly string[], isDryRun: boolean): Promise<void> {
  if (isDryRun) {
    process.stdout.write((await migrationSql({ urls })) || '-- The tables are up to date.\n');
    return;
  }
  const applied = await migrateDatabase({ urls });
  const text = applied.length === 0 ? 'the tables are up to date' : `applied ${applied.join(', ')}`;
  process.stdout.write(`${text}\n`);
}

async function grant(flags: Arguments['flags'], isDryRun: boolean): Promise<void> {
  const { role } = flags;
  if (role === undefined) throw new UsageError(`--role is missing.\n\n${postgresUsage}`);
  if (isDryRun) {
    process.stdout.write(grantSql(role));
    return;
  }
  await grantRights({ urls: urlsIn(flags) }, role);
  process.stdout.write(`the role ${role} may serve\n`);
}

async function listNodes(urls: readonly string[]): Promise<void> {
  const rows = (await nodesOf({ urls })).map((node) => [
    node.name ?? node.id,
    node.isRunning ? 'running' : 'silent',
    new Date(node.startedAt).toISOString(),
    new Date(node.seenAt).toISOString(),
    node.version,
    String(node.format),
  ]);
  const head = ['server', 'state', 'since', 'last seen', 'version', 'format'];
  process.stdout.write(`${rows.length === 0 ? 'no servers' : table(head, rows)}\n`);
}

function urlsIn(flags: Arguments['flags']): readonly string[] {
  const given = flags['postgres'] ?? process.env['ONCEMQ_POSTGRES'];
  if (!given) throw new UsageError(`--postgres is missing.\n\n${postgresUsage}`);
  const urls = given.split(',');
  if (urls.every((url) => databaseUrl.test(url))) return urls;
  throw new UsageError('--postgres must be a URL that begins with postgres://.');
}
