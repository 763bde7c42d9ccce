/**
 * Reports what was verified, in seven formats: a table for people; TAP, JUnit XML, SARIF and JSON for programs; GitHub's
 * annotations and GitLab's code quality report.
 */

import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import type { CheckResult, Finding } from '@oncemq/toolkit';
import { table } from '../table.ts';
import { UsageError } from '../usage.ts';
import { sarifReport } from './sarif.ts';

export interface Verified {
  /** The producer's name, or the command. */
  readonly subject: string;
  readonly file?: string;
  readonly checks: readonly CheckResult[];
  /** What could not be tested here. */
  readonly notes?: readonly string[];
}

export const reportForms: ReadonlyMap<string, (all: readonly Verified[]) => string> = new Map([
  ['table', tableReport],
  ['tap', tapReport],
  ['junit', junitReport],
  ['json', jsonReport],
  ['github', githubReport],
  ['gitlab', gitlabReport],
  ['sarif', sarifReport],
]);

/** Writes the report and ends the process with its exit code. */
export async function report(
  all: readonly Verified[],
  format: string,
  output: string | undefined,
): Promise<void> {
  const form = reportForms.get(output === undefined ? format : 'table');
  if (output !== undefined) writeReport(all, format, output);
  await new Promise<void>((resolve) => {
    process.stdout.write(`${form?.(all)}\n`, () => resolve());
  });
  // Exits explicitly: a loaded module may keep a connection or a timer open.
  process.exit(hasFindings(all) ? 1 : 0);
}

export function writeReport(all: readonly Verified[], format: string, output: string): void {
  try {
    writeFileSync(output, `${reportForms.get(format)?.(all)}\n`);
  } catch (cause) {
    throw new UsageError(`The report cannot be written: ${(cause as Error).message}.`, { cause });
  }
}

function hasFindings(all: readonly Verified[]): boolean {
  return all.some(({ checks }) => checks.some(({ findings }) => findings.length > 0));
}

function tableReport(all: readonly Verified[]): string {
  if (all.length === 0) return 'There is nothing to check.';
  const rows = namedApart(all).flatMap(({ subject, checks }) =>
    checks.map(({ check, title, findings }) => [
      subject,
      check,
      findings.length === 0 ? 'passed' : 'FAILED',
      title,
    ]),
  );
  const told = all.flatMap((each) =>
    each.checks.flatMap(({ check, findings }) =>
      findings.map((found) => {
        const file = withFile(each);
        const where = found.line === undefined ? file : `${file}:${found.line}`;
        return `${where}, ${check}: ${found.code}\n${indented(story(found), '  ')}`;
      }),
    ),
  );
  const notes = notesOf(all).join('\n');
  const parts = [table(['subject', 'check', 'result', 'what holds'], rows), ...told, notes];
  return parts.filter((part) => part !== '').join('\n\n');
}

function notesOf(all: readonly Verified[]): string[] {
  return [...new Set(all.flatMap(({ notes = [] }) => notes))];
}

/** Adds the file to distinguish producers of the same name; otherwise the table would be too wide. */
function namedApart(all: readonly Verified[]): Verified[] {
  const counts = new Map<string, number>();
  for (const { subject } of all) counts.set(subject, (counts.get(subject) ?? 0) + 1);
  return all.map((each) =>
    counts.get(each.subject) === 1 ? each : { ...each, subject: withFile(each) },
  );
}

function withFile({ subject, file }: Verified): string {
  return file === undefined || file === subject ? subject : `${subject} in ${file}`;
}

function tapReport(all: readonly Verified[]): string {
  const lines = all.flatMap(({ subject, checks }) =>
    checks.map(({ check, findings }) => ({ name: `${subject}: ${check}`, findings })),
  );
  const tests = lines.flatMap(({ name, findings }, index) => {
    // In a description, # starts a directive and \ escapes it.
    const title = `${index + 1} - ${name.replace(/[\\#]/g, '\\$&').replaceAll('\n', ' ')}`;
    if (findings.length === 0) return [`ok ${title}`];
    const notes = findings.map((each) => `    - ${JSON.stringify(each)}`);
    return [`not ok ${title}`, '  ---', '  findings:', ...notes, '  ...'];
  });
  const notes = notesOf(all).map((note) => `# ${note}`);
  return ['TAP version 14', `1..${lines.length}`, ...tests, ...notes].join('\n');
}

function junitReport(all: readonly Verified[]): string {
  const suites = all.map(({ subject, file, checks }) => {
    const failures = checks.filter(({ findings }) => findings.length > 0).length;
    const fileAttribute = file === undefined ? '' : ` file="${xml(file)}"`;
    const cases = checks.map(({ check, title, findings }) => {
      const open = `    <testcase classname="${xml(subject)}" name="${xml(`${check}: ${title}`)}"${fileAttribute}`;
      if (findings.length === 0) return `${open}/>`;
      const told = findings.map((each) => {
        const message = xml(each.text);
        return `      <failure type="${xml(each.code)}" message="${message}">${xml(story(each))}</failure>`;
      });
      return [`${open}>`, ...told, '    </testcase>'].join('\n');
    });
    const counts = `tests="${checks.length}" failures="${failures}" errors="0" skipped="0"`;
    return [`  <testsuite name="${xml(subject)}" ${counts}>`, ...cases, '  </testsuite>'].join(
      '\n',
    );
  });
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<testsuites>',
    ...suites,
    '</testsuites>',
  ].join('\n');
}

function jsonReport(all: readonly Verified[]): string {
  return JSON.stringify({ ok: !hasFindings(all), subjects: all }, undefined, 2);
}

function githubReport(all: readonly Verified[]): string {
  const lines = all.flatMap(({ subject, file, checks }) =>
    checks.flatMap(({ check, findings }) =>
      findings.map((each) => annotation(file, `${subject}: ${check}`, each)),
    ),
  );
  const count = all.reduce((sum, { checks }) => sum + checks.length, 0);
  const told = `${count} checks of ${all.length} subjects, ${lines.length} findings`;
  return [...lines, ...notesOf(all).map((note) => `::notice::${data(note)}`), told].join('\n');
}

function annotation(file: string | undefined, title: string, finding: Finding): string {
  const { line } = finding;
  const properties = { file, line, title };
  const written = Object.entries(properties).flatMap(([name, value]) =>
    value === undefined
      ? []
      : [`${name}=${data(String(value)).replaceAll(':', '%3A').replaceAll(',', '%2C')}`],
  );
  return `::error ${written.join(',')}::${data(story(finding))}`;
}

/** Escapes data as GitHub's workflow commands require. */
function data(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

/** GitLab's code quality format. A finding without a file has the subject as its path. */
function gitlabReport(all: readonly Verified[]): string {
  const issues = all.flatMap(({ subject, file, checks }) =>
    checks.flatMap(({ check, findings }) =>
      findings.map((each, index) => ({
        description: `${subject}: ${each.text}`,
        check_name: each.code,
        fingerprint: createHash('sha256')
          .update(JSON.stringify([subject, file, check, each.code, index]))
          .digest('hex'),
        severity: 'major',
        location: { path: file ?? subject, lines: { begin: each.line ?? 1 } },
      })),
    ),
  );
  return JSON.stringify(issues, undefined, 2);
}

/** How much of a message people see; the JSON format has all of it. */
const messageCharsMax = 2_000;

function story({ text, docs, message = '' }: Finding): string {
  const isLong = message.length > messageCharsMax;
  const shown = isLong ? `${message.slice(0, messageCharsMax)}…` : message;
  const about = message === '' ? '' : `\nmessage: ${shown}`;
  return `${text}${about}\nsee ${docs}`;
}

function indented(text: string, by: string): string {
  return text.replace(/^/gm, by);
}

function xml(text: string): string {
  return (
    text
      // Characters that XML 1.0 cannot represent in any form.
      .replace(/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, '\uFFFD')
      .replaceAll('&', '&amp;')
      .replaceAll('<', '&lt;')
      .replaceAll('>', '&gt;')
      .replaceAll('"', '&quot;')
      .replaceAll('\n', '&#10;')
  );
}
