// Each package is packed with its software bill of materials, which lists exactly its production dependencies, in the versions
// of the lockfile, and nothing about the machine that made it.
//
// What npm itself says about the lockfile is the measure. Form: CycloneDX 1.6; whoever changes it should check the result
// against the published schema.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { describe, test } from 'node:test';
import {
  type LockedPackage,
  packageFolders,
  readLockfile,
  type Sbom,
  sbomFile,
  sbomOf,
} from '../scripts/sbom.ts';

interface Tree {
  readonly version?: string;
  readonly dependencies?: Readonly<Record<string, Tree>>;
}

function npm<Answer>(...args: string[]): Answer {
  const isWindows = process.platform === 'win32';
  const done = spawnSync('npm', [...args, '--json'], { encoding: 'utf8', shell: isWindows });
  assert.equal(done.status, 0, done.stderr);
  return JSON.parse(done.stdout) as Answer;
}

/** npm also lists optional peers that are not installed; they have no version. */
function namesIn({ dependencies = {} }: Tree): string[] {
  return Object.entries(dependencies)
    .filter(([, { version }]) => version !== undefined)
    .flatMap(([name, tree]) => [`${name}@${tree.version}`, ...namesIn(tree)]);
}

for (const folder of packageFolders) {
  const { name, version, dependencies } = JSON.parse(
    readFileSync(`${folder}/package.json`, 'utf8'),
  ) as { name: string; version: string; dependencies: Record<string, string> };

  describe(`the bill of ${name}`, () => {
    const lockfile = readLockfile('.');
    const bill = sbomOf(folder, lockfile);

    test('is made and packed by npm pack, and is the same each time', () => {
      rmSync(`${folder}/${sbomFile}`, { force: true });
      const [packed] = npm<{ files: { path: string }[] }[]>('pack', '--dry-run', '-w', name);
      const paths = packed?.files.map(({ path }) => path) ?? [];
      assert.ok(paths.includes(sbomFile));
      assert.deepEqual(JSON.parse(readFileSync(`${folder}/${sbomFile}`, 'utf8')), bill);
    });

    test('lists what npm lists for production', () => {
      const options = ['--omit', 'dev', '--omit', 'peer', '--all', '--package-lock-only'];
      const listed = new Set(namesIn(npm<Tree>('ls', ...options, '-w', name)));
      listed.delete(`${name}@${version}`);
      const inBill = bill.components.map((each) => `${each.name}@${each.version}`);
      assert.deepEqual(inBill.toSorted(), [...listed].sort());
    });

    test('has the license and hash of each, and says what needs what', () => {
      for (const { name: each, hashes, licenses } of bill.components) {
        assert.equal(licenses?.length, 1, each);
        if (!each.startsWith('@oncemq/'))
          assert.match(hashes?.[0]?.content ?? '', /^[0-9a-f]{128}$/);
      }
      const refs = [bill.metadata.component, ...bill.components].map((each) => each['bom-ref']);
      assert.deepEqual(
        bill.dependencies.map(({ ref }) => ref),
        refs.toSorted(),
      );
      const own = bill.dependencies.find(({ ref }) => ref === bill.metadata.component['bom-ref']);
      assert.equal(own?.dependsOn.length, Object.keys(dependencies).length);
      for (const { dependsOn } of bill.dependencies) {
        for (const ref of dependsOn) assert.ok(refs.includes(ref), ref);
      }
    });

    test('names no host and no path', () => {
      const { $schema, ...rest } = bill;
      const text = JSON.stringify(rest);
      for (const part of ['://', 'registry', 'node_modules', process.cwd(), homedir()]) {
        assert.ok(!text.includes(part), part);
      }
    });
  });
}

describe('a lockfile is read as Node.js finds packages', () => {
  const bill = (packages: Record<string, LockedPackage>): Sbom =>
    sbomOf('packages/a', new Map(Object.entries(packages)));
  const versions = ({ components }: Sbom): string[] =>
    components.map((each) => `${each.name} ${each.version} ${each.scope}`);

  test('the nearest version counts, and both if both are needed', () => {
    const found = bill({
      'packages/a': { name: 'a', version: '1.0.0', dependencies: { b: '1', c: '1' } },
      'node_modules/b': { version: '1.0.0', dependencies: { c: '2' } },
      'node_modules/b/node_modules/c': { version: '2.0.0' },
      'node_modules/c': { version: '1.0.0' },
      'node_modules/unused': { version: '1.0.0' },
    });
    assert.deepEqual(versions(found), ['b 1.0.0 required', 'c 1.0.0 required', 'c 2.0.0 required']);
  });

  test('what only something optional needs is optional; an optional peer is not listed', () => {
    const found = bill({
      'packages/a': {
        name: 'a',
        version: '1.0.0',
        dependencies: { b: '1' },
        optionalDependencies: { c: '1' },
        peerDependencies: { e: '1', f: '1' },
        peerDependenciesMeta: { f: { optional: true } },
      },
      'node_modules/b': { version: '1.0.0' },
      'node_modules/c': { version: '1.0.0', dependencies: { b: '1', d: '1' } },
      'node_modules/d': { version: '1.0.0' },
      'node_modules/e': { version: '1.0.0' },
      'node_modules/f': { version: '1.0.0' },
    });
    assert.deepEqual(versions(found), [
      'b 1.0.0 required',
      'c 1.0.0 optional',
      'd 1.0.0 optional',
      'e 1.0.0 required',
    ]);
  });

  test('a workspace is followed to its folder, and a missing package is an error', () => {
    const found = bill({
      'packages/a': { name: 'a', version: '1.0.0', dependencies: { '@x/b': '1' } },
      'node_modules/@x/b': { link: true, resolved: 'packages/b' },
      'packages/b': { name: '@x/b', version: '1.2.0', license: '(MIT OR ISC)' },
    });
    assert.deepEqual(versions(found), ['@x/b 1.2.0 required']);
    assert.equal(found.components[0]?.purl, 'pkg:npm/%40x/b@1.2.0');
    assert.deepEqual(found.components[0]?.licenses, [{ expression: '(MIT OR ISC)' }]);
    assert.throws(
      () => bill({ 'packages/a': { name: 'a', version: '1.0.0', dependencies: { gone: '1' } } }),
      /has no gone, which packages\/a needs/,
    );
  });
});
