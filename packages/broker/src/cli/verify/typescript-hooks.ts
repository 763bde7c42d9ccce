/**
 * Lets Node import the user's TypeScript, on versions that cannot do so themselves: types are stripped, nothing is
 * checked. Registered as module hooks, which run on a separate thread, before the first producer module is loaded.
 *
 * An import without a matching file resolves as in the compiler: './x.js' to './x.ts', './x' to './x.ts' or
 * './x/index.ts'.
 */

import { readFileSync, statSync } from 'node:fs';
import type { LoadHook, ResolveHook } from 'node:module';
import { fileURLToPath } from 'node:url';

/** The URL of the hooks, for `module.register`. */
export const hooksUrl: string = import.meta.url;

const sourceForm = /\.[mc]?ts$/;

export const resolve: ResolveHook = (specifier, context, next) => {
  const isLocal = /^\.{1,2}\/|^file:/.test(specifier);
  const found = isLocal ? sourceFor(new URL(specifier, context.parentURL)) : undefined;
  return next(found ?? specifier, context);
};

function sourceFor(url: URL): string | undefined {
  const { href } = url;
  if (isFile(href)) return undefined;
  const candidates = [
    href.replace(/\.([mc]?)js$/, '.$1ts'),
    ...['.ts', '.mts', '.js', '/index.ts', '/index.js'].map((ending) => `${href}${ending}`),
  ];
  return candidates.find(isFile);
}

function isFile(href: string): boolean {
  return statSync(fileURLToPath(href), { throwIfNoEntry: false })?.isFile() === true;
}

export const load: LoadHook = async (url, context, next) => {
  const isOurs = url.startsWith('file:') && sourceForm.test(url) && !url.endsWith('.cts');
  if (!isOurs) return next(url, context);
  const { transform } = await import('@swc/wasm-typescript');
  const { code } = await transform(readFileSync(fileURLToPath(url), 'utf8'), {
    filename: fileURLToPath(url),
    mode: 'transform',
    sourceMap: false,
  });
  return { format: 'module', source: code, shortCircuit: true };
};
