/**
 * `oncemq verify`: checks producers against the message contract, on a server of its own whose clock it controls. Producer
 * modules are run through the toolkit's compliance tests, in processes of their own; a program in any language, given by
 * `--exec` or in the contract file, is run three times and judged by what it sends. The toolkit defines the rules.
 *
 * Exit code 0 without findings, 1 with findings, 2 for wrong usage or a program that fails.
 */

import { dirname } from 'node:path';
import { checkFlags, readArguments, secondsOf, UsageError } from './usage.ts';
import { contractFileFor, contractFor, contractLists } from './verify/contract-for.ts';
import { findProducerModules } from './verify/producer-modules.ts';
import { report, reportForms } from './verify/report.ts';
import { type WithBodies, withSharedKeys } from './verify/shared-keys.ts';
import { verifyProducers } from './verify/verify-producers.ts';
import { verifyProgram } from './verify/verify-program.ts';

export const verifyUsage: string = `Usage: oncemq verify [FILE | FOLDER | PATTERN]... [--format FORM] [--output FILE]
       oncemq verify --exec COMMAND --queue NAME.fifo [--input FILE] [--format FORM]
                     [--critical NAME]... [--harmless NAME]...

Tests producers against the message contract; by default, every *.producer.ts and *.producer.js below
this folder, and the producers that the contract file names. Each runs in processes that differ in time
zone, locale, clock, host, folders and variables; the report names what changed a message.

  --exec COMMAND    a producer in any language, run twice within the window and once after it, with
                    AWS_ENDPOINT_URL, AWS_REGION, AWS_DEFAULT_REGION, AWS_ACCESS_KEY_ID,
                    AWS_SECRET_ACCESS_KEY and QUEUE_URL; AWS CLI version 1 ignores the first, so pass it
                    --endpoint-url "$AWS_ENDPOINT_URL"
  --queue NAME      the FIFO queue that it sends to, with content-based deduplication
  --input FILE      its standard input, the same in each run
  --timeout N       time limit for each module, or each run of the program, in seconds [60]
  --namespace NAME  the first part of every event_source [the contract's, else kfm]
  --critical NAME   an attribute whose value must also be in the body; may be given again
  --harmless NAME   an attribute that never distinguishes events; may be given again
  --contract FILE   the contract file [oncemq.contract.json here or in a folder above, if there is one]
  --format FORM     ${[...reportForms.keys()].join(', ')} [table]
  --output FILE     write the report to FILE, and a table to standard output

Exit code 0: all checks pass. 1: there are findings. 2: wrong usage, or a program or module that fails
or does not end.
`;

/** Seconds for a module, or for a run of a program. */
export const timeoutDefault = 60;

/** Flags for programs only: modules define these themselves, or do not have them. */
const ofPrograms = ['queue', 'input', 'namespace', 'critical', 'harmless'];
const known = ['exec', ...ofPrograms, 'contract', 'timeout', 'format', 'output'];

export async function verify(args: readonly string[]): Promise<void> {
  const { words, flags } = readArguments(args, [], contractLists);
  checkFlags(flags, known, verifyUsage);
  const { format = 'table' } = flags;
  if (!reportForms.has(format)) {
    throw new UsageError(
      `--format must be one of ${[...reportForms.keys()].join(', ')}, not ${format}.`,
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
    exec === undefined ? await verifyFound(words, flags) : await verifyCommand(exec, flags);
  await report(withSharedKeys(all), format, flags['output']);
}

/** The producer modules that are named; without names, all below this folder and the programs of the contract file. */
async function verifyFound(
  words: readonly string[],
  flags: Readonly<Record<string, string>>,
): Promise<WithBodies[]> {
  const secondsMax = secondsOf(flags, 'timeout', timeoutDefault);
  const contractFile = contractFileFor(flags);
  const contract = contractFor(flags);
  const programs = words.length === 0 ? contract.producers : [];
  const modules = findProducerModules(words, { isRequired: programs.length === 0 });
  const all = await verifyProducers(modules, secondsMax, contractFile);
  const folder = dirname(contractFile ?? '.');
  for (const program of programs) {
    all.push(await verifyProgram({ ...program, folder }, { contract, secondsMax }));
  }
  return all;
}

async function verifyCommand(
  command: string,
  flags: Readonly<Record<string, string>>,
): Promise<WithBodies[]> {
  const { queue, input } = flags;
  if (queue === undefined)
    throw new UsageError(`--exec needs --queue NAME.fifo.\n\n${verifyUsage}`);
  if (!/^[\w-]{1,75}\.fifo$/.test(queue)) {
    throw new UsageError(
      `--queue must be the name of a FIFO queue (letters, digits, - and _, then .fifo), not ${queue}.`,
    );
  }
  const secondsMax = secondsOf(flags, 'timeout', timeoutDefault);
  const program = {
    name: command,
    command,
    queue,
    folder: process.cwd(),
    ...(input === undefined ? {} : { input }),
  };
  return [await verifyProgram(program, { contract: contractFor(flags), secondsMax })];
}
