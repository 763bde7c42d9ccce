/**
 * `oncemq serve`: runs the server until SIGTERM or SIGINT. Prints one line when it is ready, for programs, and in a
 * terminal a banner with something to copy and paste.
 */

import { readConfig, settings } from '../server/config.ts';
import { type Started, start, version } from '../server/start-server.ts';
import { readArguments, UsageError } from './usage.ts';

export async function serve(args: readonly string[]): Promise<void> {
  const switches = Object.keys(settings).filter((name) => settings[name]?.value === undefined);
  const { words, flags } = readArguments(args, switches);
  if (words.length > 0) throw new UsageError(`serve takes flags only, not ${words[0]}.`);
  const server = await start(readConfig(flags, process.env));
  process.stdout.write(`${readyLine(server)}\n`);
  if (process.stderr.isTTY && server.config.log === 'pretty') {
    process.stderr.write(banner(server));
  }
  await stopSignal();
  await server.close();
}

export function serveUsage(): string {
  const lines = Object.entries(settings).map(
    ([name, { value, doc, default: fallback, notYet }]) => {
      const flag = `--${name}${value === undefined ? '' : ` ${value}`}`;
      const text = notYet === undefined ? doc : `${doc} (not there yet)`;
      return `  ${flag.padEnd(20)} ${text}${fallback === undefined ? '' : ` [${fallback}]`}`;
    },
  );
  return `Usage: oncemq serve [FLAGS]

${lines.join('\n')}

Each flag is also a key of the config file (publicUrl) and a variable (ONCEMQ_PUBLIC_URL);
flags win over variables, variables over the file.
`;
}

function readyLine({ url, config }: Started): string {
  const { clock, region, account, profile } = config;
  const storage = 'storage=memory (nothing is kept on disk)';
  return `oncemq ready ${url} ${storage} clock=${clock} region=${region} account=${account} profile=${profile}`;
}

function banner({ url, config }: Started): string {
  return `
  OnceMQ ${version}   ${url}

  In memory: queues and messages end with this process.
  Try it with the AWS CLI:

    export AWS_ACCESS_KEY_ID=test AWS_SECRET_ACCESS_KEY=test AWS_DEFAULT_REGION=${config.region}
    aws --endpoint-url ${url} sqs create-queue --queue-name hello.fifo \\
        --attributes FifoQueue=true,ContentBasedDeduplication=true

  Ctrl-C stops it.
`;
}

function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => resolve());
  });
}
