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
  `${broker}/console/app/main.ts`,
  `${toolkit}/index.ts`,
  `${toolkit}/testing.ts`,
];

/** Lowest first: a layer may use those before it. The console is not listed, since it only talks HTTP. */
const layers = ['core', 'storage', 'api', 'server', 'cli'];

/** What each layer may import of storage. */
const storageDoors: Readonly<Record<string, readonly string[]>> = {
  api: ['backend.ts'],
  server: [
    'backend.ts',
    'clock.ts',
    'make-directory.ts',
    'lmdb/open.ts',
    'memory/open.ts',
    'postgres/open.ts',
  ],
  cli: ['lmdb/tools.ts', 'postgres/tools.ts', 'copying/copy.ts'],
};

/** The only external import allowed in core, and the only file that may have it. */
const coreOutsideImport = { from: `${broker}/core/digest/digests.ts`, specifier: 'node:crypto' };

/**
 * Objects with any text as a key that are read and written without a check. The names never come from outside: they are those of
 * the object's own table or shape, or of its own members, or the form of the names leaves out what every object inherits.
 */
const ownNames: readonly string[] = [
  `${broker}/api/actions/sqs/attribute-selection.ts: selected`,
  `${broker}/api/handler.ts: functions`,
  `${broker}/api/protocol/json.ts: entries`,
  `${broker}/api/protocol/json.ts: given`,
  `${broker}/api/protocol/query-json.ts: value`,
  `${broker}/api/protocol/query.ts: members`,
  `${broker}/api/protocol/xml.ts: entities`,
  `${broker}/api/protocol/xml.ts: value`,
  `${broker}/cli/usage.ts: flags`,
  `${broker}/cli/verify.ts: flags`,
  `${broker}/console/views/queue-list.ts: sortValues`,
  `${broker}/core/queue/queues.ts: given`,
  `${broker}/core/errors.ts: detail`,
  `${broker}/core/queue/attributes.ts: changed`,
  `${broker}/core/queue/attributes.ts: shown`,
  `${broker}/core/queue/attributes.ts: stored`,
  `${broker}/core/topic/delivery-policy.ts: above`,
  `${broker}/core/topic/delivery-policy.ts: retry`,
  `${broker}/core/topic/envelope.ts: messageFor`,
  `${broker}/core/topic/subscribe.ts: after`,
  `${broker}/core/topic/subscribe.ts: before`,
  `${broker}/core/topic/subscription-attributes.ts: attributes`,
  `${broker}/core/topic/subscription-attributes.ts: changed`,
  `${broker}/core/topic/topic-attributes.ts: current`,
  `${broker}/core/topic/topic-attributes.ts: stored`,
  `${broker}/server/config/config.ts: given`,
  `${broker}/server/config/setting-sources.ts: found`,
  `${broker}/server/config/setting-sources.ts: settings`,
  `${broker}/server/config/settings.ts: settings`,
  `${broker}/server/http/listener.ts: statusOfError`,
  `${broker}/server/http/request-head.ts: headers`,
  `${broker}/server/telemetry/otel-environment.ts: environment`,
  `${broker}/storage/records/json-record.ts: this`,
  `${toolkit}/compliance/findings.ts: detail`,
  `${toolkit}/contract/refusals.ts: detail`,
  `${toolkit}/guard/guarded-messages.ts: entry`,
];

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
    file(`${broker}/storage/lmdb/d.ts`, "export * from './../../api/shapes/x.ts';"),
    file(`${broker}/storage/running/d.ts`, "import { m } from '../memory/open.ts';"),
    file(`${broker}/storage/d.ts`, "import type { L } from './lmdb/lmdb-store.ts';"),
    file(`${broker}/storage/observers/d.ts`, "import { k } from '../lmdb/records/keys.ts';"),
    file(`${broker}/storage/memory/d.ts`, "import { k } from '../lmdb/open.ts';"),
    file(`${broker}/api/e.ts`, "import { l } from '../storage/store.ts';"),
    file(`${broker}/server/f.ts`, "const main = await import('../cli/main.ts');"),
    file(`${broker}/server/g.ts`, "import { s } from '../storage/lmdb/lmdb-store.ts';"),
    file(`${broker}/server/h.ts`, "import { t } from '../storage/lmdb/tools.ts';"),
    file(`${broker}/server/i.ts`, "import { w } from '../storage/running/writer.ts';"),
    file(`${broker}/cli/g.ts`, "import '../index.ts';"),
    file(`${broker}/cli/h.ts`, "import { o } from '../storage/lmdb/open.ts';"),
    file(`${broker}/cli/i.ts`, "import { d } from '../storage/lmdb/file/data-error.ts';"),
    file(`${broker}/console/h.ts`, "import { limits } from '../core/limits.ts';"),
    file(`${toolkit}/i.ts`, "import { startServer } from 'oncemq';"),
    file(`${toolkit}/j.ts`, "import { limits } from '../../broker/src/core/limits.ts';"),
  ];
  const right = [
    file(coreOutsideImport.from, "import { createHash } from 'node:crypto';"),
    file(`${broker}/core/queue/queue.ts`, "import { limits } from '../limits.ts';"),
    file(`${broker}/storage/memory/open.ts`, "import { w } from '../running/writer.ts';"),
    file(`${broker}/api/send.ts`, "import type { Backend } from '../storage/backend.ts';"),
    file(`${broker}/api/receive.ts`, "import type { Message } from '../core/engine.ts';"),
    file(`${broker}/cli/main.ts`, "import { engine } from '../core/engine.ts';"),
    file(`${broker}/server/start.ts`, "import { o } from '../storage/lmdb/open.ts';"),
    file(`${broker}/cli/data.ts`, "import { c } from '../storage/lmdb/tools.ts';"),
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

describe('every page is reached from README', () => {
  test('a page that no page links to is reported, and one that only such a page links to', () => {
    const planted = [
      file('README.md', '[a](docs/a.md#part)'),
      file('docs/a.md', '[b](b.md)'),
      file('docs/b.md'),
      file('docs/c.md', '[d](d.md)'),
      file('docs/d.md'),
    ];
    assert.deepEqual(unreachedPages(planted), [
      'docs/c.md: no page that README leads to links to it',
      'docs/d.md: no page that README leads to links to it',
    ]);
  });

  test('this repository has no such page', () => holds(unreachedPages));
});

describe('every file that a page or a comment names exists', () => {
  test('a file and a folder that are gone are reported, wherever the path begins', () => {
    const planted = [
      file(
        'docs/a.md',
        'See `core/gone.ts`, `gone-too.ts`, `core/queue` and `packages/x/src/core`.',
      ),
      file('docs/b.md', 'See `core/queue/queue.ts`, `queue.ts`, `src/core/queue` and `test/…`.'),
      file('packages/x/src/core/queue/queue.ts'),
    ];
    assert.deepEqual(goneFiles(planted), [
      'docs/a.md: names core/gone.ts, which is not there',
      'docs/a.md: names gone-too.ts, which is not there',
    ]);
    assert.deepEqual(goneFiles([file('docs/c.md', 'See `core/gone` and `docs/gone/x.md`.')]), [
      'docs/c.md: names core/gone, which is not there',
      'docs/c.md: names docs/gone/x.md, which is not there',
    ]);
  });

  test('a file that only a comment still names is reported', () => {
    const planted = [
      file(`${broker}/core/a.ts`, '/**\n * As b.ts and core/gone.ts do.\n */'),
      file(`${broker}/core/b.ts`, "import { gone } from 'elsewhere/gone.ts';"),
      file(`${broker}/cli/gate/c.ts`, '// A file of the user: src/mailer.ts.'),
    ];
    assert.deepEqual(goneFiles(planted), [
      `${broker}/core/a.ts: names core/gone.ts, which is not there`,
    ]);
  });

  test('a file of the reader, and a path in a block, are not reported', () => {
    const planted = [
      file(
        'docs/guide/a.md',
        'Write `orders.producer.ts` or `src/orders.ts`.\n```\ncore/x.ts\n```',
      ),
    ];
    assert.deepEqual(goneFiles(planted), []);
  });

  test('this repository names no such file', () => holds(goneFiles));
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

describe('no name from outside is looked up in a plain object', () => {
  test('a bare lookup is reported, of a table as well as of what an interface declares', () => {
    const planted = [
      file(
        `${broker}/core/a.ts`,
        'const table: Readonly<Record<string, Row>> = { a: 1 };\nconst row = table[name];',
      ),
      file(
        `${toolkit}/b.ts`,
        'function f(given: Record<string, string>) {\n  given[key.toLowerCase()] = text;\n}',
      ),
      file(`${broker}/core/c.ts`, 'interface Kept {\n  readonly tags: Record<string, string>;\n}'),
      file(`${broker}/core/d.ts`, 'return kept.tags[key] ?? kept.tags?.[other];'),
      file(`${toolkit}/e.ts`, 'export type Tags = Readonly<Record<string, string>>;'),
      file(`${toolkit}/f.ts`, 'const has = (tags: Tags) => tags[key] !== undefined;'),
    ];
    assert.deepEqual(bareLookups(planted), [
      `${broker}/core/a.ts: looks table[name] up without Object.hasOwn`,
      `${toolkit}/b.ts: looks given[key.toLowerCase()] up without Object.hasOwn`,
      `${broker}/core/d.ts: looks tags[key] up without Object.hasOwn`,
      `${broker}/core/d.ts: looks tags[other] up without Object.hasOwn`,
      `${toolkit}/f.ts: looks tags[key] up without Object.hasOwn`,
    ]);
  });

  test('a list, a known name, a checked one and an object without a prototype are not reported', () => {
    const planted = [
      file(`${broker}/core/a.ts`, 'const list: readonly string[] = [];\nconst a = list[index];'),
      file(`${broker}/core/b.ts`, "const t: Record<string, Row> = {};\nconst a = t['a'];"),
      file(
        `${broker}/core/c.ts`,
        'const t: Record<string, Row> = {};\nif (Object.hasOwn(t, name)) {\n  return t[name];\n}',
      ),
      file(
        `${broker}/core/d.ts`,
        'const bag: Record<string, Row> = Object.create(null);\nbag[name] = row;',
      ),
      file(
        `${broker}/core/e.ts`,
        'function f(all: Record<string, Row>) {\n  for (const name in all) give(all[name]);\n}',
      ),
      file(`${broker}/core/f.ts`, 'const t: Record<Kind, Row> = rows;\nconst a = t[kind];'),
    ];
    assert.deepEqual(bareLookups(planted), []);
  });

  test('this repository has none, except with names of its own', () => {
    const files = repositoryFiles();
    assert.deepEqual(bareLookups(files, ownNames), []);
    // An exception that is no longer needed would hide the next one.
    for (const name of ownNames) {
      const others = ownNames.filter((other) => other !== name);
      assert.notDeepEqual(bareLookups(files, others), [], `${name} needs no exception`);
    }
  });
});

/** Tests that take real time on purpose, each with its reason. Everywhere else time is an argument, or a signal is awaited. */
const mayWait: Readonly<Record<string, string>> = {
  // Kills and restarts take real time, and come at random moments of it.
  'packages/broker/test/crash/client.ts': 'reconnects to a server that is being restarted',
  'packages/broker/test/crash/consumer.ts': 'gives up on a queue that is not drained in time',
  'packages/broker/test/crash/fan-out.test.ts': 'kills the server at random moments',
  'packages/broker/test/crash/lane.ts': 'steps of a client come at random moments',
  'packages/broker/test/crash/nemesis.ts': 'freezes and cuts nodes off for a while',
  'packages/broker/test/crash/nodes-run.ts': 'harms nodes at random moments',
  'packages/broker/test/crash/run.ts': 'kills the server at random moments',
  'packages/broker/test/crash/topic-lane.ts': 'steps of a client come at random moments',
  'packages/broker/test/crash/workers.ts': 'looks now and then whether queues are empty',
  // Consumers in real processes.
  'packages/toolkit/test/crash/chaos-child.ts': 'gives a kill the time to hit a handler',
  'packages/toolkit/test/crash/chaos.test.ts': 'kills and pauses consumers at random moments',
  // A client that is slow on purpose.
  'packages/broker/test/fuzz/connection.ts': 'sends a few bytes at a time',
};

describe('no test sleeps', () => {
  test('every way to sleep is reported, a deadline and a program in a text are not', () => {
    const planted = [
      file('a.test.ts', "import { setTimeout as pause } from 'node:timers/promises';"),
      file('test/b.ts', "import { setTimeout } from 'timers/promises';"),
      file('c.test.ts', 'await new Promise((resolve) => setTimeout(resolve, 100));'),
      file('d.test.ts', 'return new Promise((done) => {\n  setTimeout(() => done(), 5);\n});'),
      file('e.test.ts', 'const sleep = promisify(setTimeout);'),
      file('f.test.ts', "await timers.setTimeout(5);\nimport timers from 'node:timers/promises';"),
      file('g.test.ts', 'Atomics.wait(cell, 0, 0, 100);'),
      file('fine.test.ts', "const forced = setTimeout(() => child.kill('SIGKILL'), 10_000);"),
      file('deadline.test.ts', 'socket.setTimeout(5, () => reject(new Error()));'),
      file('text.test.ts', "'await new Promise((done) => setTimeout(done, 1e6));',"),
      file('signal.test.ts', "await once(child, 'exit', { signal: AbortSignal.timeout(5) });"),
      file('src/source.ts', "import { setTimeout } from 'node:timers/promises';"),
    ];
    assert.deepEqual(
      sleepers(planted),
      planted.slice(0, 7).map(({ path }) => `${path}: sleeps`),
    );
  });

  test('this repository has no other than those that say why', () =>
    holds((files) => sleepers(files.filter(({ path }) => !Object.hasOwn(mayWait, path)))));
});

describe('no directory of a user is made by a recursive mkdir', () => {
  test('it is reported in source, not in tools', () => {
    const planted = [
      file(`${broker}/a.ts`, 'mkdirSync(directory, { recursive: true });'),
      file(`${toolkit}/b.ts`, 'await mkdir(\n  folder,\n  { recursive: isNew },\n);'),
      file(`${broker}/c.ts`, 'mkdirSync(directory); rmSync(directory, { recursive: true });'),
      file('scripts/d.ts', 'mkdirSync(folder, { recursive: true });'),
    ];
    assert.deepEqual(recursiveDirectories(planted), [
      `${broker}/a.ts: mkdir with recursive never ends below /proc`,
      `${toolkit}/b.ts: mkdir with recursive never ends below /proc`,
    ]);
  });

  test('this repository has none', () => holds(recursiveDirectories));
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
  if (layer !== 'storage' && layerOf(to) === 'storage') {
    return storageDoors[layer]?.includes(to.slice(`${broker}/storage/`.length)) === true;
  }
  if (layer === 'storage' && isStore(to) && storeOf(from.path) !== storeOf(to)) return false;
  return layers.slice(0, layers.indexOf(layer) + 1).includes(layerOf(to) ?? 'entry');
}

/** What every backend shares knows no store, and no store knows another. */
function isStore(name: string): boolean {
  return ['memory', 'lmdb'].includes(storeOf(name) ?? '');
}

/** The folder below storage. */
function storeOf(name: string): string | undefined {
  return new RegExp(`^${broker}/storage/([^/]+)/`).exec(name)?.[1];
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

/** Found by their declarations: in the same file or, for members, in any. `excepted` are files with the name of an object. */
function bareLookups(files: readonly RepositoryFile[], excepted: readonly string[] = []): string[] {
  const sources = files.filter(({ path }) => /^packages\/[^/]+\/src\/.*\.ts$/.test(path));
  const namesIn = (form: RegExp, { text }: RepositoryFile): string[] =>
    Array.from(text.matchAll(form), (match) => match[1] ?? '');
  const record = '(?:Readonly<)?(?:Partial<)?Record<string,';
  const alias = new RegExp(`\\btype (\\w+) = (?:${record}|\\{ readonly \\[\\w+: string\\])`, 'g');
  const named = sources.flatMap((each) => namesIn(alias, each)).map((name) => `${name}\\b`);
  const anyKey = `(?:${[record, ...named].join('|')})`;
  const members = new Set(
    sources.flatMap((each) => namesIn(new RegExp(`^  readonly (\\w+)\\??: ${record}`, 'gm'), each)),
  );
  return sources.flatMap((from) => {
    const own = new Set(
      namesIn(new RegExp(`(\\w+)\\??: ${anyKey}(?!.*= Object\\.create\\(null)`, 'g'), from),
    );
    const lines = from.text.split('\n').map((line) => line.replace(/^\s*(\*|\/[/*]).*/, ''));
    return lines.flatMap((line, index) =>
      Array.from(line.matchAll(/(\.?)\b(\w+)(?:\?\.)?\[([a-z][^\]]*)\]/gi), (match) => {
        const [, dot, name = '', key = ''] = match;
        const before = lines.slice(Math.max(0, index - 5), index + 1).join('\n');
        const isChecked = new RegExp(
          `Object\\.hasOwn\\([\\w.]*\\b${name}, ${escaped(key)}\\)|\\(const ${escaped(key)} in `,
        ).test(before);
        const isBare = (dot === '.' ? members : own).has(name) && !isChecked;
        return isBare && !excepted.includes(`${from.path}: ${name}`)
          ? `${from.path}: looks ${name}[${key}] up without Object.hasOwn`
          : '';
      }).filter((complaint) => complaint !== ''),
    );
  });
}

function escaped(text: string): string {
  return text.replace(/\W/g, '\\$&');
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
    .flatMap((page) =>
      linksOf(page)
        .filter(({ to }) => !there.has(to))
        .map(({ link }) => `${page.path}: links to ${link}, which is not there`),
    );
}

function unreachedPages(files: readonly RepositoryFile[]): string[] {
  const pages = new Map(
    files.filter(({ path }) => path.endsWith('.md')).map((page) => [page.path, page]),
  );
  const reached = new Set(['README.md']);
  for (const name of reached) {
    const page = pages.get(name);
    if (page) for (const { to } of linksOf(page)) reached.add(to);
  }
  return [...pages.keys()]
    .filter((name) => name.startsWith('docs/') && !reached.has(name))
    .map((name) => `${name}: no page that README leads to links to it`);
}

/** The relative links in a page's prose, as they are written and as paths from the root. */
function linksOf(page: RepositoryFile): { link: string; to: string }[] {
  const prose = page.text.replace(/^```[\s\S]*?^```/gm, '').replace(/`[^`\n]*`/g, '');
  return Array.from(prose.matchAll(/\]\(([^)\s]+)[^)]*\)/g), ([, target = '']) =>
    target.replace(/#.*$/, ''),
  )
    .filter((link) => link !== '' && !/^[a-z]+:/i.test(link))
    .map((link) => ({ link, to: path.posix.join(path.posix.dirname(page.path), link) }));
}

/** Named in the prose of a page or in a comment. A path may leave out where it begins. */
function goneFiles(files: readonly RepositoryFile[]): string[] {
  const paths = [...new Set(files.flatMap((each) => [each.path, ...foldersAbove(each.path)]))];
  const there = new Set(paths.flatMap((name) => endsOf(name)));
  return files.flatMap((each) =>
    namedFiles(each)
      .filter((name) => !there.has(name))
      .map((name) => `${each.path}: names ${name}, which is not there`),
  );
}

/** Readers of the guides have files of their own, and so have users of the command line. */
function namedFiles({ path, text }: RepositoryFile): string[] {
  if (/^packages\/\w+\/src\/(?!cli\/).*\.ts$/.test(path)) {
    const comments = text.match(/^\s*(?:\/\/|\/?\*).*/gm) ?? [];
    return comments.flatMap((line) => line.match(/(?<![\w*./-])\w[\w./-]*\.ts\b/g) ?? []);
  }
  if (!path.endsWith('.md')) return [];
  const inFolder =
    /^(?:packages|docs|bench|scripts|examples|test|core|storage|api|server|console|cli)\/[\w./-]+$/;
  const isGuide = path.startsWith('docs/guide/');
  const prose = text.replace(/^```[\s\S]*?^```/gm, '');
  return Array.from(prose.matchAll(/`([^`\n]+)`/g), ([, code = '']) => code).filter(
    (code) => inFolder.test(code) || (!isGuide && /^[\w./-]+\.ts$/.test(code)),
  );
}

/** A path and what is left of it without its first folders: a/b/c, b/c, c. */
function endsOf(name: string): string[] {
  const parts = name.split('/');
  return parts.map((_, index) => parts.slice(index).join('/'));
}

function foldersAbove(name: string): string[] {
  const parts = name.split('/').slice(0, -1);
  return ['.', ...parts.map((_, index) => parts.slice(0, index + 1).join('/'))];
}

/** A test may be skipped where the machine lacks what it needs, with a reason that the report shows. */
function testsLeftOut(files: readonly RepositoryFile[]): string[] {
  const marked = /\b(t|test|it|describe|suite)\.(skip|todo|only)\(|\b(skip|todo|only)\s*:\s*[^f\s]/;
  const explained = /\bif \(.+\) return t\.skip\('[^']+'\)/g;
  return files
    .filter(
      ({ path, text }) => path.endsWith('.test.ts') && marked.test(text.replace(explained, '')),
    )
    .map(({ path }) => `${path}: leaves a test out`);
}

/** Sleeping: a promise that time alone resolves. Programs in texts are not part of a test. */
function sleepers(files: readonly RepositoryFile[]): string[] {
  const forms = [
    /from '(node:)?timers\/promises'/,
    /new Promise\b[^;]{0,200}?(?<![.\w])setTimeout\(/,
    /promisify\(setTimeout\)/,
    /\bAtomics\.wait\(/,
  ];
  const isTest = (name: string) => /(^|\/)test\/|\.test\.ts$/.test(name);
  return files
    .filter(({ path }) => isTest(path) && path !== 'test/tidy.test.ts')
    .filter(({ text }) => {
      const code = text.replace(/^\s*'.*',$/gm, '');
      return forms.some((form) => form.test(code));
    })
    .map(({ path }) => `${path}: sleeps`);
}

function recursiveDirectories(files: readonly RepositoryFile[]): string[] {
  return files
    .filter(({ path }) => path.startsWith(broker) || path.startsWith(toolkit))
    .filter(({ text }) => /\bmkdir(Sync)?\([^;]*\brecursive\b/.test(text.replace(/^ \*.*$/gm, '')))
    .map(({ path }) => `${path}: mkdir with recursive never ends below /proc`);
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
