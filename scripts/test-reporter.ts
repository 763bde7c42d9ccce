/**
 * What `npm test` prints: how far it is, each failure whole when it happens, and at its end the skipped tests with their
 * reasons, the failed ones again, the slowest files, and the totals in the words of Node's own reporter.
 *
 * On a terminal one line is rewritten; elsewhere a line comes every 250 tests, and after 30 seconds at the latest. What a test
 * file printed (its seeds, diagnostics, warnings) is kept until it is known whether one of its tests failed: then it is shown
 * with the failure, else dropped. `--verbose` is Node's own reporter "spec", which shows everything.
 *
 * Node reports tests in the order of their files, not in the order in which they end: a failure can be reported later than
 * it happened.
 */

import { basename, relative } from 'node:path';
import { Transform, type TransformCallback } from 'node:stream';
import type { TestEvent } from 'node:test/reporters';
import { inspect } from 'node:util';
import { type Coverage, coverageTable } from './coverage-table.ts';

interface Failed {
  readonly title: string;
  readonly where: string;
}

/** The fields of Node's events that are used here; which of them an event has depends on its type. */
interface EventData {
  readonly name?: string;
  readonly nesting?: number;
  readonly file?: string;
  readonly line?: number;
  readonly column?: number;
  readonly message?: string;
  readonly skip?: string | boolean;
  readonly todo?: string | boolean;
  readonly details?: {
    readonly duration_ms?: number;
    readonly type?: string;
    readonly passed?: boolean;
    readonly error?: Error & { readonly failureType?: string };
  };
  readonly summary?: Coverage;
}

const testsPerLine = 250;
const msPerLine = 30_000;
const msPerRewrite = 100;
/** Of each file the newest output is kept; of skipped and failed tests, so many are listed. */
const outputCharsMax = 32_768;
const listedMax = 500;
/** The slowest files are listed where there are more than a few: what to shorten when the whole takes too long. */
const slowestMax = 12;
/** Node 20 and 22 report every test that `--test-name-pattern` leaves out; the user asked for that. */
const leftOut = 'test name does not match pattern';
const eraseLine = '\r\x1b[2K';

const isTerminal = process.stdout.isTTY === true;

class TestReporter extends Transform {
  readonly #startedAt = performance.now();
  readonly #timer: NodeJS.Timeout;
  /** The titles of what is being reported, the outermost first; Node reports one test file after the other. */
  readonly #titles: string[] = [];
  readonly #outputs = new Map<string, string>();
  readonly #failedFiles = new Set<string>();
  readonly #failed: Failed[] = [];
  readonly #skipped: string[] = [];
  readonly #totals: string[] = [];
  readonly #fileMs = new Map<string, number>();
  #filesBegun = 0;
  #filesEnded = 0;
  #done = 0;
  #failures = 0;
  #skips = 0;
  #doneAtLine = 0;
  #lineAt = 0;
  #coverage: Coverage | undefined;

  constructor() {
    super({ writableObjectMode: true });
    const everyMs = isTerminal ? msPerRewrite : msPerLine / 10;
    this.#timer = setInterval(() => this.#showProgress(), everyMs).unref();
  }

  override _transform(event: TestEvent, _: BufferEncoding, done: TransformCallback): void {
    this.#take(event.type, event.data as EventData);
    done();
  }

  override _flush(done: TransformCallback): void {
    clearInterval(this.#timer);
    this.#clearLine();
    for (const file of this.#failedFiles) this.#showOutput(file);
    if (this.#coverage !== undefined) this.push(`\n${coverageTable(this.#coverage)}\n`);
    this.#list('skipped', this.#skips, this.#skipped);
    const failed = this.#failed.map(({ title, where }) => `${title} (${where})`);
    this.#list('failed', this.#failures, failed);
    if (this.#fileMs.size > slowestMax) this.#list('slowest files', slowestMax, this.#slowest());
    this.push(`\n${this.#totals.map((total) => `ℹ ${total}\n`).join('')}`);
    done();
  }

  #take(type: TestEvent['type'], data: EventData): void {
    const { nesting = 0, name = '', message = '' } = data;
    const file = sourceOf(data.file);
    if (type === 'test:enqueue' && isFile(data)) this.#filesBegun += 1;
    if (type === 'test:complete' && isFile(data)) {
      this.#filesEnded += 1;
      this.#fileMs.set(file, data.details?.duration_ms ?? 0);
      // A test may be defined in another file than the one that ran, so this tells best whose output matters.
      if (data.details?.passed === false) this.#failedFiles.add(file);
    }
    if (type === 'test:start') this.#titles.splice(nesting, Infinity, name);
    if (type === 'test:stdout' || type === 'test:stderr') this.#keep(file, message);
    if (type === 'test:coverage') this.#coverage = data.summary;
    if (type === 'test:diagnostic') {
      if (file === '') this.#totals.push(message);
      else this.#keep(file, `ℹ ${message}\n`);
    }
    if (type === 'test:pass' || type === 'test:fail') this.#count(data, type === 'test:fail');
  }

  #count(data: EventData, isFailure: boolean): void {
    const { nesting = 0, name = '', skip, todo, details = {} } = data;
    const title = [...this.#titles.slice(0, nesting), name].join(' › ');
    if (details.type !== 'suite') this.#done += 1;
    if (skip !== undefined && skip !== false && skip !== leftOut) {
      this.#skips += 1;
      if (this.#skipped.length < listedMax) {
        this.#skipped.push(
          `${title}: ${typeof skip === 'string' && skip !== '' ? skip : 'no reason given'}`,
        );
      }
    }
    // That a test within it failed is no failure of its own.
    const isOwn = isFailure && details.error?.failureType !== 'subtestsFailed';
    if (isOwn && (todo === undefined || todo === false)) this.#fail(title, data);
    this.#showProgress();
  }

  #fail(title: string, data: EventData): void {
    const { line, column, details = {} } = data;
    const file = sourceOf(data.file);
    const shown = relative('.', file);
    const where = line === undefined ? shown : `${shown}:${line}:${column}`;
    this.#failures += 1;
    this.#failedFiles.add(file);
    if (this.#failed.length < listedMax) this.#failed.push({ title, where });
    this.#clearLine();
    const ms = details.duration_ms === undefined ? '' : `, ${Math.round(details.duration_ms)} ms`;
    // Node wraps what the test threw; a file that died has only a text there, but its exit code beside it.
    const { error: wrapped } = details;
    const thrown = typeof wrapped?.cause === 'object' ? wrapped.cause : wrapped;
    const error = inspect(thrown, { colors: isTerminal, depth: 6 });
    this.push(`\n✖ ${title} (${where}${ms})\n${indented(error)}\n`);
    this.#showOutput(file);
  }

  #keep(file: string, text: string): void {
    const kept = `${this.#outputs.get(file) ?? ''}${text}`;
    this.#outputs.set(file, kept.slice(-outputCharsMax));
  }

  #showOutput(file: string): void {
    const output = this.#outputs.get(file)?.trimEnd() ?? '';
    this.#outputs.delete(file);
    if (output !== '') this.push(`  ${relative('.', file)} printed:\n${indented(output)}\n`);
  }

  #list(what: string, count: number, titles: readonly string[]): void {
    if (count === 0) return;
    const more = count > titles.length ? [`and ${count - titles.length} more`] : [];
    const lines = [...titles, ...more].map((title) => `  ${title}\n`);
    this.push(`\n${what}: ${count}\n${lines.join('')}`);
  }

  #slowest(): string[] {
    return [...this.#fileMs]
      .sort(([, a], [, b]) => b - a)
      .slice(0, slowestMax)
      .map(([file, ms]) => `${relative('.', file)}: ${Math.round(ms / 1000)} s`);
  }

  #showProgress(): void {
    const now = performance.now();
    const isDue = isTerminal
      ? now - this.#lineAt >= msPerRewrite
      : this.#done - this.#doneAtLine >= testsPerLine || now - this.#lineAt >= msPerLine;
    if (!isDue || this.readableEnded) return;
    this.#lineAt = now;
    this.#doneAtLine = this.#done;
    const seconds = Math.round((now - this.#startedAt) / 1000);
    const line = `${this.#done} tests, ${this.#failures} failed, ${this.#skips} skipped; ${this.#filesEnded} of ${this.#filesBegun} files; ${seconds} s`;
    this.push(isTerminal ? `${eraseLine}${line}` : `${line}\n`);
  }

  #clearLine(): void {
    if (isTerminal) this.push(eraseLine);
  }
}

/** A whole file is a test, too: one that is named after its path. */
function isFile({ name = '', nesting, file = '' }: EventData): boolean {
  return nesting === 0 && file !== '' && basename(name) === basename(file);
}

/** Node maps where a test is to its source, but names a file's output after the compiled file. */
function sourceOf(file = ''): string {
  return file
    .replace(/([/\\])\.build[/\\]/, '$1')
    .replace(/([/\\])dist[/\\](test[/\\])/, '$1$2')
    .replace(/\.js$/, '.ts');
}

function indented(text: string): string {
  return text.replace(/^(?=.)/gm, '  ');
}

// biome-ignore lint/style/noDefaultExport: Node takes a reporter from its module's default export.
export default TestReporter;
