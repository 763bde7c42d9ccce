/**
 * `oncemq gate --base REV`: a check before merging. Every producer that the range adds or changes must pass `verify`, must
 * send what it sent before, and must keep its tests; and no file that the range adds or changes may send to a FIFO queue
 * without a producer. The toolkit defines the rules.
 *
 * Exit code 0: no findings. 1: there are findings. 2: wrong usage, a module that does not end, or a repository that git
 * cannot read.
 */

import { lstatSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { finding, type RegisteredProducer } from '@oncemq/toolkit';
import { affectedProducers } from './gate/affected-producers.ts';
import { type AllowList, allowFileDefault, readAllowList } from './gate/allow-list.ts';
import { BaseTree } from './gate/base-tree.ts';
import { type Compared, compareModules, compareProgram } from './gate/compare-with-base.ts';
import { ContractChange } from './gate/contract-change.ts';
import { deletedTests, unregistered } from './gate/deleted-tests.ts';
import { allFiles, changedFiles, mergeBase, repositoryRoot, untrackedFiles } from './gate/git.ts';
import { isMostlyData, isSource, SenderScan } from './gate/scan/find-senders.ts';
import { checkFlags, readArguments, secondsOf, UsageError } from './usage.ts';
import { contractFileFor } from './verify/contract-for.ts';
import { report, reportForms, type Verified, writeReport } from './verify/report.ts';
import { type WithBodies, withSharedKeys } from './verify/shared-keys.ts';
import { verifyProducers } from './verify/verify-producers.ts';
import { verifyProgram } from './verify/verify-program.ts';
import { timeoutDefault } from './verify.ts';

export const gateUsage: string = `Usage: oncemq gate --base REV [--contract FILE] [--allow FILE] [--timeout N] [--format FORM] [--output FILE]
                   [--sarif FILE] [--junit FILE]

Checks everything that changed since this branch left REV. Run it in a git repository.

  --base REV      the branch to merge into, such as origin/main
  --contract FILE the contract file [oncemq.contract.json at the root or above, if there is one]
  --allow FILE    exceptions, each with a reason [${allowFileDefault}, if it exists]
  --timeout N     time limit for each producer module, or each run of a program, in seconds [${timeoutDefault}]
  --format FORM   ${[...reportForms.keys()].join(', ')} [table]
  --output FILE   write the report to FILE, and a table to standard output
  --sarif FILE    also write the report as SARIF to FILE
  --junit FILE    also write the report as JUnit XML to FILE

Exit code 0: no findings. 1: there are findings. 2: wrong usage, or a module that does not end.
`;

/** Nobody writes a longer one. */
const fileBytesMax = 32 * 1024 * 1024;

/** Reports that can be written besides the one of --format. */
const extraForms = ['sarif', 'junit'];
const known = ['base', 'contract', 'allow', 'timeout', 'format', 'output', ...extraForms];

export async function gate(args: readonly string[]): Promise<void> {
  const { words, flags } = readArguments(args, []);
  checkFlags(flags, known, gateUsage);
  if (words.length > 0) throw new UsageError(`Unexpected argument: ${words[0]}\n\n${gateUsage}`);
  const { base: revision, allow, format = 'table', output } = flags;
  if (revision === undefined) throw new UsageError(`--base is missing.\n\n${gateUsage}`);
  if (!reportForms.has(format)) {
    throw new UsageError(
      `--format must be one of ${[...reportForms.keys()].join(', ')}, not ${format}.`,
    );
  }
  const secondsMax = secondsOf(flags, 'timeout', timeoutDefault);
  const root = repositoryRoot();
  const exceptions = readAllowList(root, allow);
  const contractFile = contractFileFor(flags, root);
  const start = mergeBase(root, revision);
  const tree = { root, files: allFiles(root), changed: changedFiles(root, start) };
  const reportFile = output === undefined ? undefined : resolve(output);
  const extras = extraForms.flatMap((form) => {
    const file = flags[form];
    return file === undefined ? [] : [{ form, file: resolve(file) }];
  });
  const rules = [resolve(allow ?? join(root, allowFileDefault)), contractFile];
  for (const file of [reportFile, ...extras.map((extra) => extra.file)]) {
    if (file === undefined || !rules.includes(file)) continue;
    throw new UsageError(`The report would overwrite ${file}. Give it another name.`);
  }
  // Modules are named, loaded and reported by paths relative to the root.
  process.chdir(root);
  const base = new BaseTree(root, start);
  const all: Verified[] = [];
  try {
    const contract = new ContractChange(root, contractFile, tree.changed, base);
    const compared = { root, base, contract, secondsMax };
    const touched = contract.areRulesChanged ? tree.files : tree.changed;
    const modules = affectedProducers(root, tree.files, touched);
    const producers: WithBodies[] = await verifyProducers(modules, secondsMax, contractFile);
    const comparisons = compareModules(modules, compared);
    for (const program of contract.affected(tree.changed)) {
      const { verified, comparison } = await checkedProgram(program, compared);
      producers.push(verified);
      comparisons.push(...comparison);
    }
    all.push(...withSharedKeys(producers), ...comparisons);
    all.push(...deletedTests(tree, base, contract), ...unregistered(tree, contract));
    all.push(...scanned(tree.changed, root, contract));
  } finally {
    base.close();
  }
  tellOfUntracked(
    untrackedFiles(root).filter((file) => isSource(file) && !isMostlyData(file)).length,
  );
  const excused = all.map((each) => withExceptions(each, exceptions));
  for (const { form, file } of extras) writeReport(excused, form, file);
  await report(excused, format, reportFile);
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

/** A program that fails is a finding, so that the other checks are reported, too. */
async function checkedProgram(
  program: RegisteredProducer,
  compared: Compared,
): Promise<{ verified: WithBodies; comparison: Verified[] }> {
  const { root, contract, secondsMax } = compared;
  const file = contract.file === undefined ? {} : { file: contract.file };
  const folder = join(root, contract.folder);
  try {
    const rules = { contract: contract.contract, secondsMax };
    const verified = await verifyProgram({ ...program, folder }, rules);
    const comparison = await compareProgram(program, compared);
    return { verified: { ...verified, ...file }, comparison };
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    const findings = [finding('program-failed', { reason: error.message })];
    const title = 'the registered program runs';
    const checks = [{ check: 'program', title, findings }];
    return { verified: { subject: program.name, ...file, checks, bodies: [] }, comparison: [] };
  }
}

function scanned(changed: readonly string[], root: string, contract: ContractChange): Verified[] {
  const textOf = (file: string): string | undefined =>
    sizeOf(join(root, file)) <= fileBytesMax ? readFileSync(join(root, file), 'utf8') : undefined;
  const scan = new SenderScan(textOf);
  return changed.filter(isSource).flatMap((file) => {
    if (!isPlainFile(join(root, file))) return [];
    const text = textOf(file);
    const owner = contract.ownerOf(file);
    const findings =
      owner === undefined && text !== undefined ? scan.find({ path: file, text }) : [];
    if (findings.length === 0 && isMostlyData(file)) return [];
    const title =
      text === undefined
        ? `not read: it has more than ${fileBytesMax} bytes`
        : owner === undefined
          ? 'nothing is sent to a FIFO queue or topic without a producer'
          : `a part of the registered producer ${owner.name}`;
    return [{ subject: file, file, checks: [{ check: 'bypass', title, findings }] }];
  });
}

/** Not a link, which may be dangling, nor a nested repository. */
function isPlainFile(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

/** The size of a plain file; anything else cannot be read. */
function sizeOf(path: string): number {
  return isPlainFile(path) ? lstatSync(path).size : Number.POSITIVE_INFINITY;
}

/** Without the findings that the allow-list excuses; the reason takes the place of the title. */
function withExceptions({ file, checks, ...rest }: Verified, exceptions: AllowList): Verified {
  if (file === undefined) return { ...rest, checks };
  const excused = checks.map(({ findings, title, ...check }) => {
    const reasonOf = (code: string): string | undefined => exceptions.reasonFor(file, code);
    const left = findings.filter(({ code }) => reasonOf(code) === undefined);
    const [reason] = findings.flatMap(({ code }) => reasonOf(code) ?? []);
    const told = reason === undefined ? title : `${findings[0]?.code} is allowed: ${reason}`;
    return { ...check, title: told, findings: left };
  });
  return { ...rest, file, checks: excused };
}
