// Writes dist/sbom.cdx.json into each package: its software bill of materials in CycloneDX, with every production dependency in the
// version of the lockfile, its license and its hash, and which package needs which. npm packs it with the package.
//
// `npm pack` and `npm publish` run it first (prepack), and so does `npm run sbom`. It reads the lockfile, asks nobody, and writes no
// time, no random number, no path and no host: the same lockfile gives the same file. `npm sbom` writes a time, a random number
// and hosts, and refuses a repository whose root has no version.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const packageFolders = ['packages/broker', 'packages/toolkit'] as const;
export const sbomFile = 'dist/sbom.cdx.json';

/** One package of a lockfile, version 3. A workspace appears twice: as a link, and by its folder. */
export interface LockedPackage {
  readonly name?: string;
  readonly version?: string;
  readonly license?: string;
  readonly integrity?: string;
  readonly link?: boolean;
  /** Of a link: the folder it leads to. */
  readonly resolved?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
}

/** By path from the root, as `node_modules/ajv`. */
export type Lockfile = ReadonlyMap<string, LockedPackage>;

export interface Component {
  readonly type: 'library';
  readonly 'bom-ref': string;
  readonly name: string;
  readonly version: string;
  /** Optional ones are for other platforms, or the package works without them. */
  readonly scope?: 'required' | 'optional';
  readonly hashes?: readonly { readonly alg: 'SHA-512'; readonly content: string }[];
  readonly licenses?: readonly License[];
  readonly purl: string;
}

/** One license by its SPDX id, or an expression of several. */
type License = { readonly license: { readonly id: string } } | { readonly expression: string };

export interface Sbom {
  readonly $schema: string;
  readonly bomFormat: 'CycloneDX';
  readonly specVersion: '1.6';
  readonly version: 1;
  readonly metadata: { readonly component: Component };
  readonly components: readonly Component[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}

interface Need {
  readonly path: string;
  readonly isOptional: boolean;
}

/** The bill of the package in the folder. */
export function sbomOf(folder: string, lockfile: Lockfile): Sbom {
  const needs = new Map<string, readonly Need[]>();
  // Breadth first through what is required, then through the rest: what both reach is required.
  const required = new Set([folder]);
  for (const path of required) {
    const found = needsOf(path, lockfile);
    needs.set(path, found);
    for (const need of found) if (!need.isOptional) required.add(need.path);
  }
  const all = new Set(required);
  for (const path of all) {
    const found = needs.get(path) ?? needsOf(path, lockfile);
    needs.set(path, found);
    for (const need of found) all.add(need.path);
  }
  const refOf = (path: string): string => purlOf(path, lockfile);
  const components = new Map<string, Component>();
  for (const path of all) {
    if (path === folder) continue;
    const component = componentOf(path, lockfile, required.has(path) ? 'required' : 'optional');
    // A version that is installed twice is one component, and required if one of the two is.
    if (components.get(component.purl)?.scope !== 'required') {
      components.set(component.purl, component);
    }
  }
  const edges = new Map<string, Set<string>>();
  for (const [path, found] of needs) {
    const dependsOn = edges.get(refOf(path)) ?? new Set();
    for (const need of found) dependsOn.add(refOf(need.path));
    edges.set(refOf(path), dependsOn);
  }
  return {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: { component: componentOf(folder, lockfile) },
    components: [...components.values()].sort((a, b) => compare(a.purl, b.purl)),
    dependencies: [...edges]
      .map(([ref, dependsOn]) => ({ ref, dependsOn: [...dependsOn].sort(compare) }))
      .sort((a, b) => compare(a.ref, b.ref)),
  };
}

/** What a package needs in production, by path. A peer that is not optional is needed as well; npm installs it. */
function needsOf(path: string, lockfile: Lockfile): Need[] {
  const {
    dependencies = {},
    optionalDependencies = {},
    peerDependencies = {},
    peerDependenciesMeta: meta = {},
  } = packageAt(path, lockfile);
  const peers = Object.keys(peerDependencies).filter((name) => meta[name]?.optional !== true);
  const optional = Object.keys(optionalDependencies);
  const names = new Set([...Object.keys(dependencies), ...peers, ...optional]);
  return [...names].map((name) => ({
    path: resolved(name, path, lockfile),
    isOptional: optional.includes(name),
  }));
}

/** As Node.js finds it: in the nearest node_modules of the folder or of those above. */
function resolved(name: string, from: string, lockfile: Lockfile): string {
  const parts = from.split('/');
  for (let length = parts.length; length >= 0; length -= 1) {
    const path = [...parts.slice(0, length), 'node_modules', name].join('/');
    const found = lockfile.get(path);
    if (found !== undefined) return found.link === true ? (found.resolved ?? path) : path;
  }
  throw new Error(`The lockfile has no ${name}, which ${from} needs.`);
}

function componentOf(path: string, lockfile: Lockfile, scope?: Component['scope']): Component {
  const { version = '', license, integrity } = packageAt(path, lockfile);
  const purl = purlOf(path, lockfile);
  const digest = /^sha512-(\S+)$/.exec(integrity ?? '')?.[1];
  const content = digest && Buffer.from(digest, 'base64').toString('hex');
  return {
    type: 'library',
    'bom-ref': purl,
    name: nameOf(path, lockfile),
    version,
    ...(scope && { scope }),
    ...(content && { hashes: [{ alg: 'SHA-512', content }] }),
    ...(license && { licenses: [licenseOf(license)] }),
    purl,
  };
}

function licenseOf(text: string): License {
  return /^[\w.+-]+$/.test(text) ? { license: { id: text } } : { expression: text };
}

/** A package URL; the @ of a scope is written as %40. */
function purlOf(path: string, lockfile: Lockfile): string {
  const name = nameOf(path, lockfile).replace('@', '%40');
  return `pkg:npm/${name}@${packageAt(path, lockfile).version}`;
}

function nameOf(path: string, lockfile: Lockfile): string {
  return packageAt(path, lockfile).name ?? path.slice(path.lastIndexOf('node_modules/') + 13);
}

function packageAt(path: string, lockfile: Lockfile): LockedPackage {
  const found = lockfile.get(path);
  if (found === undefined) throw new Error(`The lockfile has no ${path}.`);
  return found;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

export function readLockfile(root: string): Lockfile {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    readonly packages: Readonly<Record<string, LockedPackage>>;
  };
  return new Map(Object.entries(packages));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = fileURLToPath(new URL('../..', import.meta.url));
  const lockfile = readLockfile(root);
  for (const folder of packageFolders) {
    const file = join(root, folder, sbomFile);
    const text = `${JSON.stringify(sbomOf(folder, lockfile), undefined, 2)}\n`;
    writeFileSync(file, text);
  }
}
