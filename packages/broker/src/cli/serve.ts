/**
 * `oncemq serve`: runs the server until SIGTERM or SIGINT. It prints one line for programs when it is ready and, in a
 * terminal, a banner with a command to copy and paste.
 */

import { type Config, readConfig } from '../server/config/config.ts';
import { databaseText } from '../server/config/database-text.ts';
import { settings } from '../server/config/settings.ts';
import { type Started, start } from '../server/start-server.ts';
import { version } from '../server/version.ts';
import { readArguments, UsageError } from './usage.ts';

export async function serve(args: readonly string[]): Promise<void> {
  const switches = Object.keys(settings).filter((name) => settings[name]?.value === undefined);
  const lists = Object.keys(settings).filter((name) => settings[name]?.isList === true);
  const { words, flags } = readArguments(args, switches, lists);
  if (words.length > 0)
    throw new UsageError(
      `Unexpected argument: ${words[0]}. serve takes only flags; see oncemq serve --help.`,
    );
  const config = readConfig(flags, process.env);
  // A reader may leave after the first line; a failure to print logs or spans later is no reason to stop.
  for (const output of [process.stdout, process.stderr]) output.on('error', () => {});
  const server = await start(config, { onProgress: progress(config) });
  const stopped = stopSignal();
  process.stdout.write(`${readyLine(server)}\n`);
  if (process.stderr.isTTY && server.config.log === 'pretty') {
    process.stderr.write(banner(server));
  }
  await stopped;
  await server.close();
  // An exporter may retry an unreachable collector for seconds; everything that matters is done.
  process.exit();
}

export function serveUsage(): string {
  const flags = Object.entries(settings).map(([name, { value }]) =>
    value === undefined ? `--${name}` : `--${name} ${value}`,
  );
  const width = Math.max(...flags.map(({ length }) => length));
  const lines = Object.values(settings).map(({ doc, default: fallback, notYet }, at) => {
    const text = notYet === undefined ? doc : `${doc} (not available yet)`;
    return `  ${flags[at]?.padEnd(width)} ${text}${fallback === undefined ? '' : ` [${fallback}]`}`;
  });
  return `Usage: oncemq serve [FLAGS]

${lines.join('\n')}

Each flag can also be set in the config file (publicUrl) or as a variable (ONCEMQ_PUBLIC_URL).
Flags override variables, and variables override the file.
`;
}

function readyLine({ url, config }: Started): string {
  const { clock, region, account, profile, auth, contract, ledger } = config;
  const options = [
    auth === 'off' ? '' : ` auth=${auth}`,
    contract === undefined ? '' : ` contract=${contract}`,
    ledger === undefined ? '' : ` ledger=${ledger.directory}`,
  ];
  return `oncemq ready ${url} ${storageText(config)} clock=${clock} region=${region} account=${account} profile=${profile}${options.join('')}`;
}

function storageText({ storage }: Config): string {
  if (storage.kind === 'memory') return 'storage=memory (nothing is kept on disk)';
  if (storage.kind === 'postgres') return `storage=postgres database=${databaseText(storage.urls)}`;
  const { directory, durability } = storage;
  const note =
    durability === 'os'
      ? ' (answers do not wait for the disk: a power cut can lose the latest)'
      : '';
  return `storage=lmdb data=${directory} durability=${durability}${note}`;
}

/** Reports progress about once a second while the data is read. */
function progress({ storage, log }: Config): (records: number) => void {
  let saidAt = performance.now();
  return (records) => {
    if (storage.kind !== 'data' || log === 'silent' || performance.now() - saidAt < 1000) return;
    saidAt = performance.now();
    const count = records.toLocaleString('en-US');
    process.stderr.write(`oncemq: reading ${storage.directory}: ${count} records so far\n`);
  };
}

function banner({ url, config }: Started): string {
  return `
  OnceMQ ${version}   ${url}
  Console        ${config.publicUrl ?? url}/_oncemq/

  ${keptText(config)}
  Try it with the AWS CLI:

    export ${keysText(config)} AWS_DEFAULT_REGION=${config.region}
    aws --endpoint-url ${url} sqs create-queue --queue-name hello.fifo \\
        --attributes FifoQueue=true,ContentBasedDeduplication=true

  Ctrl-C stops the server.
`;
}

/** Any keys work, unless signatures are checked. */
function keysText({ credentials, auth }: Config): string {
  const [first] = credentials;
  return auth === 'off' || first === undefined
    ? 'AWS_ACCESS_KEY_ID=test AWS_SECRET_ACCESS_KEY=test'
    : `AWS_ACCESS_KEY_ID=${first.accessKeyId} AWS_SECRET_ACCESS_KEY=...`;
}

function keptText({ storage }: Config): string {
  if (storage.kind === 'memory') {
    return 'In memory: queues and messages are lost when this process ends.';
  }
  const where = storage.kind === 'data' ? storage.directory : databaseText(storage.urls);
  return `Queues and messages are kept in ${where}.`;
}

function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => resolve());
  });
}
