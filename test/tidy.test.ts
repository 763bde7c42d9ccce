// The repository's own rules, which neither the compiler nor Biome enforces alone.
//
// Each rule is a pure function from files (path and text) to complaints; no complaint means tidy.
// First every rule must fail on a small planted example, so that a rule that sees nothing is noticed;
// then all rules check the real tree. Files are found by walking the tree, not by asking git, so that
// a new file is checked before it is committed and a copy without history can be tested. Folders named
// in .gitignore are not part of the repository.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { describe, test } from 'node:test';

interface RepositoryFile {
  /** From the root, with forward slashes. */
  readonly path: string;
  readonly text: string;
}

const broker = 'packages/broker/src';
const toolkit = 'packages/toolkit/src';

/** What users import or run. A source file that neither these nor the tools reach is dead. */
const publicEntries = [
  `${broker}/index.ts`,
  `${broker}/testing.ts`,
  `${broker}/cli/main.ts`,
  `${broker}/console/main.ts`,
  `${toolkit}/index.ts`,
];

/** Lowest first: a layer may use those before it. The console is not listed, since it only talks HTTP. */
const layers = ['core', 'storage', 'api', 'server', 'cli'];

/** The only external import allowed in core, and the only file that may have it. */
const coreOutsideImport = { from: `${broker}/core/digest.ts`, specifier: 'node:crypto' };

describe('no source file is dead', () => {
  const tree = [
    file(`${broker}/index.ts`, "import './used.ts';"),
    file(`${broker}/used.ts`),
    file(`${broker}/benched.ts`),
    file(`${broker}/tested.ts`),
    file(`${broker}/unused.ts`),
    file('bench/main.ts', "import { b } from '#broker/benched.js';"),
    file('packages/broker/test/tested.test.ts', "import { t } from '../src/tested.ts';"),
  ];

  test('a file that only a test imports is reported, and so is one that nobody imports', () => {
    assert.deepEqual(deadFiles(tree), [
      `${broker}/tested.ts: only tests import it`,
      `${broker}/unused.ts: nobody imports it`,
    ]);
  });

  test('this repository has none', () => holds(deadFiles));
});

describe('nothing imports upwards across the layers', () => {
  const wrong = [
    file(`${broker}/core/a.ts`, "import type { B } from '../storage/backend.ts';"),
    file(`${broker}/core/b.ts`, "import { readFileSync } from 'node:fs';"),
    file(`${broker}/core/c.ts`, "import { createHash } from 'node:crypto';"),
    file(`${broker}/storage/local/d.ts`, "export * from './../../api/shapes/x.ts';"),
    file(`${broker}/api/e.ts`, "import { l } from '../storage/local/store.ts';"),
    file(`${broker}/server/f.ts`, "const main = await import('../cli/main.ts');"),
    file(`${broker}/cli/g.ts`, "import '../index.ts';"),
    file(`${broker}/console/h.ts`, "import { limits } from '../core/limits.ts';"),
    file(`${toolkit}/i.ts`, "import { startServer } from 'oncemq';"),
    file(`${toolkit}/j.ts`, "import { limits } from '../../broker/src/core/limits.ts';"),
  ];
  const right = [
    file(coreOutsideImport.from, "import { createHash } from 'node:crypto';"),
    file(`${broker}/core/queue/queue.ts`, "import { limits } from '../limits.ts';"),
    file(`${broker}/api/send.ts`, "import type { Backend } from '../storage/backend.ts';"),
    file(`${broker}/api/receive.ts`, "import type { Message } from '../core/engine.ts';"),
    file(`${broker}/cli/main.ts`, "import { engine } from '../core/engine.ts';"),
    file(`${broker}/server/contract.ts`, "import type { Envelope } from '@oncemq/toolkit';"),
    file('packages/toolkit/test/a.test.ts', "import { s } from 'oncemq/testing';"),
  ];

  test('every kind of forbidden import is reported', () => {
    assert.deepEqual(
      upwardImports(wrong).map((complaint) => complaint.split(' ')[0]),
      wrong.map((planted) => `${planted.path}:`),
    );
  });

  test('what the layers allow is not reported', () => assert.deepEqual(upwardImports(right), []));

  test('this repository has none', () => holds(upwardImports));
});

describe('no file names a registry or a path of one machine', () => {
  // Assembled at run time, because this file is checked by its own rules.
  const host = ['registry', 'example', 'org'].join('.');
  const home = ['', 'home', 'somebody', 'oncemq'].join('/');

  test('a resolved address, a registry host and a home folder are reported', () => {
    const planted = [
      file('package-lock.json', `{ "resolved": "https${':'}//packages.example/a.tgz" }`),
      file('.npmrc', `registry=https://${host}/`),
      file('docs/guide.md', `Run it in ${home}.`),
      file('biome.json', '{ "path": "/elsewhere/main/x" }'),
    ];
    assert.deepEqual(addresses(planted, ['/elsewhere']), [
      'package-lock.json: says where a package was fetched from',
      '.npmrc: names a package registry',
      'docs/guide.md: holds a path of one machine',
      'biome.json: holds a path of one machine',
    ]);
  });

  test('links to workspace folders and relative paths are not reported', () => {
    const planted = [
      file('package-lock.json', '{ "resolved": "packages/broker", "link": true }'),
      file('README.md', 'See packages/elsewhere/main and ./elsewhere/main.'),
    ];
    assert.deepEqual(addresses(planted, ['/elsewhere']), []);
  });

  test('this repository holds neither', () => {
    // The parent of a clone directly below / is /, with which every absolute path starts.
    const folders = [path.dirname(process.cwd()), homedir()].filter((folder) => folder !== '/');
    holds((files) => addresses(files, folders));
  });
});

describe('every source file opens with a comment of three lines or more', () => {
  test('a missing and a short opening are reported, a shebang before it is not', () => {
    const planted = [
      file('a.ts', 'export const a = 1;'),
      file('b.ts', '// Too short.\nexport const b = 1;'),
      file('c.ts', '#!/usr/bin/env node\n// One.\n//\n// Three.\nexport const c = 1;'),
      file('d.ts', '/*\n * Two.\n */\nexport const d = 1;'),
    ];
    assert.deepEqual(missingOpenings(planted), [
      'a.ts: opens with 0 lines of comment',
      'b.ts: opens with 1 lines of comment',
    ]);
  });

  test('this repository has such an opening everywhere', () => holds(missingOpenings));
});

describe('every relative link in a page leads to a file', () => {
  test('a link to nothing is reported, a link in code or to the web is not', () => {
    const planted = [
      file('docs/a.md', '[b](b.md#part) [up](../LICENSE) [folder](.) [web](https://a.example/)'),
      file('docs/b.md', '[gone](gone.md) `[code](code.md)`\n```\n[block](block.md)\n```\n[x](#x)'),
      file('LICENSE'),
    ];
    assert.deepEqual(deadLinks(planted), ['docs/b.md: links to gone.md, which is not there']);
  });

  test('this repository has no dead link', () => holds(deadLinks));
});

describe('no test is left out', () => {
  test('a test marked to be skipped, done later or run alone is reported', () => {
    const planted = [
      ...['skip', 'todo', 'only'].map((mark) => file(`${mark}.test.ts`, `test.${mark}('a');`)),
      ...['skip', 'todo', 'only'].map((mark) => file(`o-${mark}.test.ts`, `{ ${mark}: true }`)),
      file('context.test.ts', `t.${'skip'}();`),
      file('always.test.ts', `return t.${'skip'}('no disk here');`),
      file('unexplained.test.ts', `if (disk === undefined) return t.${'skip'}();`),
      file('fine.test.ts', "test('only one is kept', () => skip(todo));"),
      file('explained.test.ts', `if (disk === undefined) return t.${'skip'}('no disk here');`),
    ];
    assert.deepEqual(
      testsLeftOut(planted),
      planted.slice(0, -2).map(({ path }) => `${path}: leaves a test out`),
    );
  });

  test('this repository runs all its tests', () => holds(testsLeftOut));
});

function deadFiles(files: readonly RepositoryFile[]): string[] {
  const isTest = (name: string) => /(^|\/)test\//.test(name);
  const isTool = (name: string) => /^(bench|examples|scripts)\//.test(name);
  const shipped = reachable(files, (name) => publicEntries.includes(name) || isTool(name));
  const tested = reachable(files, isTest);
  return files
    .map(({ path }) => path)
    .filter((name) => /^packages\/[^/]+\/src\/.*\.ts$/.test(name) && !shipped.has(name))
    .map((name) => `${name}: ${tested.has(name) ? 'only tests import it' : 'nobody imports it'}`);
}

function reachable(
  files: readonly RepositoryFile[],
  isStart: (name: string) => boolean,
): Set<string> {
  const byPath = new Map(files.map((each) => [each.path, each]));
  const seen = new Set<string>(files.map(({ path }) => path).filter(isStart));
  // Iterating a set includes items added meanwhile, so this ends when nothing new is found.
  for (const name of seen) {
    const from = byPath.get(name);
    if (from) for (const specifier of importsOf(from)) seen.add(target(from, specifier));
  }
  return seen;
}

function upwardImports(files: readonly RepositoryFile[]): string[] {
  return files
    .filter(({ path }) => path.startsWith('packages/') && path.endsWith('.ts'))
    .flatMap((from) =>
      importsOf(from)
        .filter((specifier) => !mayImport(from, specifier))
        .map((specifier) => `${from.path}: may not import ${specifier}`),
    );
}

function mayImport(from: RepositoryFile, specifier: string): boolean {
  const to = target(from, specifier);
  if (from.path.startsWith('packages/toolkit/test/') && specifier === 'oncemq/testing') return true;
  if (from.path.startsWith('packages/toolkit/')) return !to.startsWith('packages/broker/');
  const layer = layerOf(from.path);
  if (layer === undefined) return true;
  if (layer === 'core' && !to.startsWith('packages/')) {
    return from.path === coreOutsideImport.from && specifier === coreOutsideImport.specifier;
  }
  if (layer === 'console') return !to.startsWith(`${broker}/`) || layerOf(to) === 'console';
  if (!to.startsWith(`${broker}/`)) return layer !== 'core';
  if (layer === 'api' && layerOf(to) === 'storage') return to === `${broker}/storage/backend.ts`;
  return layers.slice(0, layers.indexOf(layer) + 1).includes(layerOf(to) ?? 'entry');
}

/** The folder directly below the broker's src; undefined for its entries, its tests and everything else. */
function layerOf(name: string): string | undefined {
  return new RegExp(`^${broker}/([^/]+)/`).exec(name)?.[1];
}

function importsOf({ text }: RepositoryFile): string[] {
  const statement = /^\s*(?:import|export)\b[^'"`;]*?\bfrom\s*['"]([^'"]+)['"]/gm;
  const bare = /^\s*import\s*['"]([^'"]+)['"]/gm;
  const dynamic = /\bimport\(\s*['"]([^'"]+)['"]/g;
  return [statement, bare, dynamic].flatMap((form) =>
    [...text.matchAll(form)].map((match) => match[1] ?? ''),
  );
}

/** The source file that an import resolves to; the specifier itself if it leads out of the repository. */
function target(from: RepositoryFile, specifier: string): string {
  const asSource = (name: string) => name.replace(/\.js$/, '.ts');
  if (specifier.startsWith('.')) {
    return asSource(path.posix.join(path.posix.dirname(from.path), specifier));
  }
  if (specifier.startsWith('#broker/')) return asSource(specifier.replace('#broker', broker));
  if (specifier === 'oncemq') return `${broker}/index.ts`;
  if (specifier.startsWith('oncemq/')) return `${specifier.replace('oncemq', broker)}.ts`;
  if (specifier === '@oncemq/toolkit') return `${toolkit}/index.ts`;
  return specifier;
}

function addresses(files: readonly RepositoryFile[], folders: readonly string[]): string[] {
  const fetched = /"resolved":\s*"\w+:/;
  const registry = /\bregistry\.[\w-]+\.\w|:\/\/[^\s"'/]*registry/;
  const homes = ['/home/\\w', '/Users/\\w', '[A-Z]:\\\\+Users'];
  const starts = [...homes, ...folders.map((folder) => `${folder.replace(/\W/g, '\\$&')}/`)];
  // Only where a path can start: "packages/elsewhere/x" is not a path below "/elsewhere".
  const machine = new RegExp(`(^|[\\s"'\`(=:<]|file://)(${starts.join('|')})`, 'm');
  return files.flatMap(({ path, text }) => [
    ...(fetched.test(text) ? [`${path}: says where a package was fetched from`] : []),
    ...(registry.test(text) ? [`${path}: names a package registry`] : []),
    ...(machine.test(text) ? [`${path}: holds a path of one machine`] : []),
  ]);
}

function missingOpenings(files: readonly RepositoryFile[]): string[] {
  const opening = /^(?:#!.*\n)?((?:\/\/.*\n)+|\/\*[\s\S]*?\*\/\n)/;
  return files
    .filter(({ path }) => path.endsWith('.ts'))
    .map(({ path, text }) => ({ path, lines: opening.exec(text)?.[1]?.split('\n').length ?? 1 }))
    .filter(({ lines }) => lines - 1 < 3)
    .map(({ path, lines }) => `${path}: opens with ${lines - 1} lines of comment`);
}

function deadLinks(files: readonly RepositoryFile[]): string[] {
  const there = new Set(files.flatMap((each) => [each.path, ...foldersAbove(each.path)]));
  return files
    .filter(({ path }) => path.endsWith('.md'))
    .flatMap((page) => {
      const prose = page.text.replace(/^```[\s\S]*?^```/gm, '').replace(/`[^`\n]*`/g, '');
      return [...prose.matchAll(/\]\(([^)\s]+)[^)]*\)/g)]
        .map((match) => (match[1] ?? '').replace(/#.*$/, ''))
        .filter((link) => link !== '' && !/^[a-z]+:/i.test(link))
        .filter((link) => !there.has(path.posix.join(path.posix.dirname(page.path), link)))
        .map((link) => `${page.path}: links to ${link}, which is not there`);
    });
}

function foldersAbove(name: string): string[] {
  const parts = name.split('/').slice(0, -1);
  return ['.', ...parts.map((_, index) => parts.slice(0, index + 1).join('/'))];
}

/** A test may be skipped where the machine lacks what it needs, with a reason that the report shows. */
function testsLeftOut(files: readonly RepositoryFile[]): string[] {
  const marked = /\b\w+\.(skip|todo|only)\(|\b(skip|todo|only)\s*:\s*[^f\s]/;
  const explained = /\bif \(.+\) return t\.skip\('[^']+'\)/g;
  return files
    .filter(
      ({ path, text }) => path.endsWith('.test.ts') && marked.test(text.replace(explained, '')),
    )
    .map(({ path }) => `${path}: leaves a test out`);
}

function holds(rule: (files: readonly RepositoryFile[]) => string[]): void {
  assert.deepEqual(rule(repositoryFiles()), []);
}

function repositoryFiles(): RepositoryFile[] {
  const ignored = readFileSync('.gitignore', 'utf8')
    .split('\n')
    .filter((line) => line.endsWith('/'))
    .map((line) => line.slice(0, -1));
  const namesUnder = (folder: string): string[] =>
    readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.name !== '.git' && !ignored.includes(entry.name))
      .flatMap((entry) => {
        const name = path.posix.join(folder, entry.name);
        if (entry.isDirectory()) return namesUnder(name);
        return entry.isFile() ? [name] : [];
      });
  return namesUnder('.').map((name) => file(name, readFileSync(name, 'utf8')));
}

function file(path: string, text = ''): RepositoryFile {
  return { path, text };
}
