/**
 * `oncemq gate --base REV`: a check before merging. Every producer that the range adds or changes must pass `verify`, and
 * no file that it adds or changes may send to a FIFO queue without a producer. The toolkit defines the rules.
 *
 * Exit code 0: no findings. 1: there are findings. 2: wrong usage, a module that does not end, or a repository that git
 * cannot read.
 */

import { lstatSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { findBypasses, sourceForm } from '@oncemq/toolkit';
import { affectedProducers } from './gate/affected-producers.ts';
import { type AllowList, allowFileDefault, readAllowList } from './gate/allow-list.ts';
import { allFiles, changedFiles, repositoryRoot, untrackedFiles } from './gate/git.ts';
import { checkFlags, readArguments, secondsOf, UsageError } from './usage.ts';
import { report, reportForms, type Verified } from './verify/report.ts';
import { verifyInTime } from './verify/verify-process.ts';
import { timeoutDefault } from './verify.ts';

export const gateUsage: string = `Usage: oncemq gate --base REV [--allow FILE] [--timeout N] [--format FORM] [--output FILE]

Checks everything that changed since this branch left REV. Run it in a git repository.

  --base REV      the branch to merge into, such as origin/main
  --allow FILE    exceptions, each with a reason [${allowFileDefault}, if it exists]
  --timeout N     time limit for each producer module, in seconds [${timeoutDefault}]
  --format FORM   ${Object.keys(reportForms).join(', ')} [table]
  --output FILE   write the report to FILE, and a table to standard output

Exit code 0: no findings. 1: there are findings. 2: wrong usage, or a module that does not end.
`;

const known = ['base', 'allow', 'timeout', 'format', 'output'];

export async function gate(args: readonly string[]): Promise<void> {
  const { words, flags } = readArguments(args, []);
  checkFlags(flags, known, gateUsage);
  if (words.length > 0) throw new UsageError(`Unexpected argument: ${words[0]}\n\n${gateUsage}`);
  const { base, allow, format = 'table', output } = flags;
  if (base === undefined) throw new UsageError(`--base is missing.\n\n${gateUsage}`);
  if (!Object.hasOwn(reportForms, format)) {
    throw new UsageError(
      `--format must be one of ${Object.keys(reportForms).join(', ')}, not ${format}.`,
    );
  }
  const secondsMax = secondsOf(flags, 'timeout', timeoutDefault);
  const root = repositoryRoot();
  const exceptions = readAllowList(root, allow);
  const changed = changedFiles(root, base);
  const reportFile = output === undefined ? undefined : resolve(output);
  // Modules are named, loaded and reported by paths relative to the root.
  process.chdir(root);
  const producers = affectedProducers(root, allFiles(root), changed);
  const all = [
    ...(await verifyInTime(producers, secondsMax)),
    ...changed
      .filter((file) => sourceForm.test(file) && isPlainFile(join(root, file)))
      .map((file) => scanned(root, file, exceptions)),
  ];
  tellOfUntracked(untrackedFiles(root).filter((file) => sourceForm.test(file)).length);
  await report(all, format, reportFile);
}

/** To standard error, because the report may be for a program. */
function tellOfUntracked(count: number): void {
  if (count === 0) return;
  const files =
    count === 1 ? 'file that git does not track was' : 'files that git does not track were';
  process.stderr.write(
    `oncemq: ${count} source ${files} not checked. Add what belongs to the change with git add.\n`,
  );
}

/** Not a link, which may be dangling, nor a nested repository. */
function isPlainFile(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

function scanned(root: string, file: string, exceptions: AllowList): Verified {
  const text = readFileSync(join(root, file), 'utf8');
  const found = findBypasses({ path: file, text });
  const findings = found.filter(({ code }) => exceptions.reasonFor(file, code) === undefined);
  const [allowed] = found.flatMap(({ code }) => exceptions.reasonFor(file, code) ?? []);
  const title =
    allowed === undefined
      ? 'nothing is sent to a FIFO queue or topic without a producer'
      : `sends without a producer are allowed: ${allowed}`;
  return { subject: file, file, checks: [{ check: 'bypass', title, findings }] };
}
