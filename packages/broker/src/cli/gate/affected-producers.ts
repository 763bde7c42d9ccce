/**
 * The producer modules that a change affects: those that changed themselves, and those that directly or indirectly import
 * a changed file of the repository. A helper that makes keys is a part of every producer that uses it.
 */

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { producerForm } from '../verify/producer-modules.ts';
import { importCandidates } from './scan/script/script-file.ts';

export function affectedProducers(
  root: string,
  all: readonly string[],
  changed: readonly string[],
): string[] {
  // Includes deleted files: a producer that imports one is broken.
  const known = new Set([...all, ...changed]);
  const imports = new Map<string, string[]>();
  const importsOf = (file: string): string[] => {
    const found = imports.get(file) ?? localImports(root, file, known);
    imports.set(file, found);
    return found;
  };
  const reaches = (file: string): boolean => {
    const seen = new Set<string>();
    const open = [file];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      if (changed.includes(next)) return true;
      if (seen.has(next)) continue;
      seen.add(next);
      open.push(...importsOf(next));
    }
    return false;
  };
  const isThere = (file: string): boolean => existsSync(join(root, file));
  return all.filter((file) => producerForm.test(file) && isThere(file) && reaches(file));
}

/** The files of the repository that a file imports by a relative path. */
export function localImports(root: string, file: string, known: ReadonlySet<string>): string[] {
  if (!existsSync(join(root, file))) return [];
  const text = readFileSync(join(root, file), 'utf8');
  const forms = /(?:\bfrom|\bimport|\brequire\s*\(|\bimport\s*\()\s*['"](\.{1,2}\/[^'"]+)['"]/g;
  return [...text.matchAll(forms)].flatMap(([, specifier = '']) => {
    const found = importCandidates(file, specifier).find((candidate) => known.has(candidate));
    return found === undefined ? [] : [found];
  });
}
