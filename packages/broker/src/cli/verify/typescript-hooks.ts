/**
 * Lets Node import TypeScript of the user's, on versions that cannot by themselves: types are stripped, nothing is
 * checked. Registered as module hooks, which run on a thread of their own, before the first producer module is loaded.
 *
 * An import of './x.js' that is not there leads to './x.ts', as the compiler writes it.
 */

import { existsSync, readFileSync } from 'node:fs';
import type { LoadHook, ResolveHook } from 'node:module';
import { fileURLToPath } from 'node:url';

/** Where the hooks are, for `module.register`. */
export const hooksUrl: string = import.meta.url;

const sourceForm = /\.[mc]?ts$/;

export const resolve: ResolveHook = (specifier, context, next) => {
  const isRelative = /^\.{0,2}\/|^file:/.test(specifier);
  if (isRelative && /\.[mc]?js$/.test(specifier)) {
    const url = new URL(specifier, context.parentURL);
    const source = new URL(url.href.replace(/js$/, 'ts'));
    if (!existsSync(fileURLToPath(url)) && existsSync(fileURLToPath(source))) {
      return next(source.href, context);
    }
  }
  return next(specifier, context);
};

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
