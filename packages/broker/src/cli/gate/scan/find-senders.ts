/**
 * Finds sends to FIFO queues and topics that bypass every producer, in the source of any of the languages that the gate
 * knows: TypeScript and JavaScript by their syntax tree, the others by patterns. Also finds producers that are defined
 * where `oncemq verify` does not look for them.
 */

import { type Finding, finding } from '@oncemq/toolkit';
import { findByPattern } from './find-by-pattern.ts';
import { interpreterOf, languages, scriptLanguage } from './languages.ts';
import { producerDefinitions, SendFinder } from './script/find-sends.ts';
import { Scripts } from './script/script-file.ts';

export interface SourceFile {
  readonly path: string;
  readonly text: string;
}

const script = scriptLanguage.files;
const producerModule = /\.producer\.[mc]?[jt]s$/;
/** Tests may send anything; declarations send nothing; what others wrote is theirs. */
const leftOut =
  /\.d\.[mc]?ts$|(?:^|\/)(?:node_modules|vendor|third_party|__tests__|__mocks__|testdata)\/|(?:^|\/)src\/(?:test|androidTest)\//;

/** Whether the gate reads files of this name. */
export function isSource(path: string): boolean {
  if (leftOut.test(path) || isTest(path)) return false;
  return script.test(path) || languages.some(({ files }) => files.test(path));
}

/** Files of these names are seldom about sends: only what is found in them is worth a line. */
export function isMostlyData(path: string): boolean {
  return /\.(?:json|ya?ml|template)$/.test(path) || hasNoExtension(path);
}

function hasNoExtension(path: string): boolean {
  return /(?:^|\/)[^./]+$/.test(path);
}

/** By the conventions of each language's test runners. */
export function isTest(path: string): boolean {
  const name = path.slice(path.lastIndexOf('/') + 1);
  return (
    /\.(?:test|spec)\.[mc]?[jt]sx?$|^test_\w+\.py$|_test\.(?:py|go|rb|exs?)$|_spec\.rb$|^conftest\.py$/.test(
      name,
    ) || /(?:Tests?|IT|Spec)\.(?:java|kt|scala|groovy|cs|php)$|\.(?:bats|tftest\.hcl)$/.test(name)
  );
}

export class SenderScan {
  readonly #scripts: Scripts;
  readonly #sends: SendFinder = new SendFinder();

  /** `read` returns the text of a file of the repository, for files that others import. */
  constructor(read: (path: string) => string | undefined = () => undefined) {
    this.#scripts = new Scripts(read);
  }

  find({ path, text }: SourceFile): Finding[] {
    if (!isSource(path)) return [];
    const isScript =
      script.test(path) || (hasNoExtension(path) && interpreterOf(text) === scriptLanguage);
    const found = isScript ? this.#inScript(path, text) : inOtherLanguage(path, text);
    return found.sort((a, b) => (a.line ?? 0) - (b.line ?? 0));
  }

  #inScript(path: string, text: string): Finding[] {
    const file = this.#scripts.open(path, text);
    if (file === undefined) return findByPattern(scriptLanguage, text).map(bypass);
    const hidden = producerModule.test(path) ? [] : producerDefinitions(file);
    return [
      ...hidden.map((line) => ({ ...finding('producer-hidden'), line })),
      ...this.#sends.find(file).sends.map(bypass),
    ];
  }
}

function inOtherLanguage(path: string, text: string): Finding[] {
  const interpreter = hasNoExtension(path) ? interpreterOf(text) : undefined;
  const found = (
    interpreter ? [interpreter] : languages.filter(({ files }) => files.test(path))
  ).flatMap((language) => findByPattern(language, text));
  return found.map(bypass);
}

function bypass({ line, name }: { readonly line: number; readonly name: string }): Finding {
  return { ...finding('send-bypasses-producer', { name }), line };
}
