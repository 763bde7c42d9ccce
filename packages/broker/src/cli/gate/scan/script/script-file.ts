/**
 * The TypeScript and JavaScript files of a repository, parsed when they are needed: the files that are scanned, and those
 * that they import by a relative path.
 */

import { posix } from 'node:path';
import { Scopes } from './scopes.ts';
import { type Node, syntaxTree } from './syntax-tree.ts';
import type { Value } from './values.ts';

export interface ScriptFile {
  readonly path: string;
  readonly program: Node;
  readonly scopes: Scopes;
  /** Values of expressions, remembered by values.ts. */
  readonly values: Map<Node, Value | undefined>;
  /** The file that a relative specifier in this one names. */
  imported(specifier: string): ScriptFile | undefined;
}

/** Files parsed in one run, beyond which imports are no longer followed. Trees are large. */
const filesMax = 2_000;
const endings = [
  '.ts',
  '.tsx',
  '.mts',
  '.cts',
  '.js',
  '.jsx',
  '.mjs',
  '.cjs',
  '/index.ts',
  '/index.js',
];

export class Scripts {
  readonly #files: Map<string, ScriptFile | undefined> = new Map();
  readonly #read: (path: string) => string | undefined;

  /** `read` returns the text of a file of the repository, or undefined if there is none. */
  constructor(read: (path: string) => string | undefined) {
    this.#read = read;
  }

  /** undefined if the file does not exist or cannot be parsed. */
  open(path: string, text: string | undefined = this.#read(path)): ScriptFile | undefined {
    const known = this.#files.get(path);
    if (known !== undefined || this.#files.has(path)) return known;
    const program = text === undefined ? undefined : syntaxTree(path, text);
    const file = program && this.#scriptFile(path, program);
    this.#files.set(path, file);
    return file;
  }

  #scriptFile(path: string, program: Node): ScriptFile {
    return {
      path,
      program,
      scopes: new Scopes(program),
      values: new Map(),
      imported: (specifier) => this.#imported(path, specifier),
    };
  }

  #imported(from: string, specifier: string): ScriptFile | undefined {
    if (this.#files.size >= filesMax) return undefined;
    const path = importCandidates(from, specifier).find((each) => this.#read(each) !== undefined);
    return path === undefined ? undefined : this.open(path);
  }
}

/** The paths that a relative specifier may mean, most likely first: `./x.js` is often `./x.ts`. */
export function importCandidates(from: string, specifier: string): string[] {
  const path = posix.join(posix.dirname(from), specifier);
  const bare = path.replace(/\.[mc]?jsx?$/, '');
  return [path, ...endings.map((ending) => `${bare}${ending}`)];
}
