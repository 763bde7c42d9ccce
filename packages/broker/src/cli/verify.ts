/**
 * `oncemq verify`: checks producers against the message contract, on a server of its own whose clock it controls. Producer
 * modules are loaded and run through the toolkit's compliance tests, in a separate process; a program in any language is
 * run three times and judged by what it sends. The toolkit defines the rules.
 *
 * Exit code 0 without findings, 1 with findings, 2 for wrong usage or a program that fails.
 */

import { existsSync } from 'node:fs';
import { judgeRuns } from '@oncemq/toolkit';
import { deduplicationSecondsDefault } from '../core/limits.ts';
import { checkFlags, readArguments, secondsOf, UsageError } from './usage.ts';
import { findProducerModules } from './verify/producer-modules.ts';
import { report, reportForms, type Verified } from './verify/report.ts';
import { runProgram } from './verify/run-program.ts';
import { verifyInTime } from './verify/verify-process.ts';
import { VerifyServer } from './verify/verify-server.ts';

export const verifyUsage: string = `Usage: oncemq verify [FILE | FOLDER | PATTERN]... [--format FORM] [--output FILE]
       oncemq verify --exec COMMAND --queue NAME.fifo [--input FILE] [--format FORM]

Tests producers against the message contract; by default, every *.producer.ts and *.producer.js below
this folder.

  --exec COMMAND    a producer in any language, run twice within the window and once after it, with
                    AWS_ENDPOINT_URL, AWS_REGION, AWS_DEFAULT_REGION, AWS_ACCESS_KEY_ID,
                    AWS_SECRET_ACCESS_KEY and QUEUE_URL; AWS CLI version 1 ignores the first, so pass it
                    --endpoint-url "$AWS_ENDPOINT_URL"
  --queue NAME      the FIFO queue that it sends to, with content-based deduplication
  --input FILE      its standard input, the same in each run
  --timeout N       time limit for each module, or each run of the program, in seconds [60]
  --namespace NAME  the first part of every event_source [kfm]
  --format FORM     ${Object.keys(reportForms).join(', ')} [table]
  --output FILE     write the report to FILE, and a table to standard output

Exit code 0: all checks pass. 1: there are findings. 2: wrong usage, or a program or module that fails
or does not end.
`;

/** Seconds for a module, or for a run of a program. */
export const timeoutDefault = 60;

/** Flags for programs only: modules define these themselves, or do not have them. */
const ofPrograms = ['queue', 'input', 'namespace'];
const known = ['exec', ...ofPrograms, 'timeout', 'format', 'output'];

export async function verify(args: readonly string[]): Promise<void> {
  const { words, flags } = readArguments(args, []);
  checkFlags(flags, known, verifyUsage);
  const { format = 'table' } = flags;
  if (!Object.hasOwn(reportForms, format)) {
    throw new UsageError(
      `--format must be one of ${Object.keys(reportForms).join(', ')}, not ${format}.`,
    );
  }
  const { exec } = flags;
  if (exec !== undefined && words.length > 0) {
    throw new UsageError(`With --exec no files can be given: ${words[0]}\n\n${verifyUsage}`);
  }
  const stray = ofPrograms.find((name) => exec === undefined && flags[name] !== undefined);
  if (stray !== undefined)
    throw new UsageError(`--${stray} can only be used with --exec.\n\n${verifyUsage}`);
  const all =
    exec === undefined ? await verifyFound(words, flags) : await verifyProgram(exec, flags);
  await report(all, format, flags['output']);
}

async function verifyFound(
  words: readonly string[],
  flags: Readonly<Record<string, string>>,
): Promise<Verified[]> {
  const secondsMax = secondsOf(flags, 'timeout', timeoutDefault);
  return verifyInTime(findProducerModules(words), secondsMax);
}

async function verifyProgram(
  command: string,
  flags: Readonly<Record<string, string>>,
): Promise<Verified[]> {
  const { queue, input: inputFile, namespace } = flags;
  if (queue === undefined)
    throw new UsageError(`--exec needs --queue NAME.fifo.\n\n${verifyUsage}`);
  if (!/^[\w-]{1,75}\.fifo$/.test(queue)) {
    throw new UsageError(
      `--queue must be the name of a FIFO queue (letters, digits, - and _, then .fifo), not ${queue}.`,
    );
  }
  const secondsMax = secondsOf(flags, 'timeout', timeoutDefault);
  if (inputFile !== undefined && !existsSync(inputFile)) {
    throw new UsageError(`There is no file ${inputFile}.`);
  }
  const server = await VerifyServer.start();
  try {
    const url = await server.createQueue(queue);
    server.watch(queue);
    const env = {
      AWS_ENDPOINT_URL: server.url,
      AWS_REGION: 'us-east-1',
      AWS_DEFAULT_REGION: 'us-east-1',
      AWS_ACCESS_KEY_ID: 'test',
      AWS_SECRET_ACCESS_KEY: 'test',
      AWS_EC2_METADATA_DISABLED: 'true',
      QUEUE_URL: url,
    };
    const run = async () => {
      const failure = await runProgram({ command, env, inputFile, msMax: secondsMax * 1000 });
      if (failure !== undefined) throw new UsageError(`The program failed: ${failure}`);
      return server.observe();
    };
    const first = await run();
    const replay = await run();
    await server.advance(deduplicationSecondsDefault);
    const afterWindow = await run();
    const rules = namespace === undefined ? {} : { namespace };
    return [{ subject: command, checks: judgeRuns({ first, replay, afterWindow }, rules) }];
  } finally {
    await server.close();
  }
}
