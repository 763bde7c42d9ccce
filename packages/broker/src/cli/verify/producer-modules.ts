/**
 * Finds producer modules by name (`*.producer.ts`, `.js`, …) and loads them. Every exported producer counts; a module that
 * cannot be loaded, or exports none, is a finding and no reason to stop.
 */

import { existsSync, readdirSync, statSync } from 'node:fs';
import { register } from 'node:module';
import { join, resolve, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type AnyProducer, type Finding, finding, isProducer } from '@oncemq/toolkit';
import { UsageError } from '../usage.ts';
import { hooksUrl } from './typescript-hooks.ts';

export interface LoadedModule {
  readonly file: string;
  readonly producers: readonly { readonly name: string; readonly producer: AnyProducer }[];
  readonly findings: readonly Finding[];
}

export const producerForm: RegExp = /\.producer\.[mc]?[jt]s$/;

/** Skipped, because they hold build output and downloads, not source. */
const skippedFolders = /^(node_modules|dist|build|coverage|\..*)$/;
const filesMax = 10_000;

/**
 * The producer modules that the arguments name: files, folders, or patterns with `*` and `**`; by default, all below. There
 * must be one, unless there is something else to verify.
 */
export function findProducerModules(
  words: readonly string[],
  { isRequired }: { readonly isRequired: boolean },
): string[] {
  const found = (words.length === 0 ? ['.'] : words).flatMap((word) => {
    const modules = modulesNamed(word);
    // Every argument must match something: a CI job would silently skip what it does not find.
    if (modules.length > 0 || !isRequired) return modules;
    const where = word === '.' ? 'here' : `in ${word}`;
    throw new UsageError(
      `No producers found: there is no *.producer.ts or *.producer.js ${where}.`,
    );
  });
  return [...new Set(found)].sort();
}

function modulesNamed(word: string): string[] {
  if (existsSync(word)) return statSync(word).isDirectory() ? modulesBelow(word) : [word];
  if (!/[*?{]/.test(word)) throw new UsageError(`There is no file or folder ${word}.`);
  const form = patternForm(word.replace(/^\.\//, ''));
  const folder = /^[^*?{]*\//.exec(word)?.[0] ?? '.';
  if (!existsSync(folder)) throw new UsageError(`There is no folder ${folder}.`);
  return modulesBelow(folder).filter((file) => form.test(file.split(sep).join('/')));
}

function modulesBelow(folder: string): string[] {
  const files = filesBelow(folder).filter(
    (file) => producerForm.test(file) && !file.endsWith('.d.ts'),
  );
  if (files.length > filesMax)
    throw new UsageError(`${folder} has more than ${filesMax} producers.`);
  return files;
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (!entry.isDirectory()) return entry.isFile() ? [path] : [];
    return skippedFolders.test(entry.name) ? [] : filesBelow(path);
  });
}

/** `**` matches any folders, `*` and `?` match within a name, `{a,b}` matches either. */
export function patternForm(pattern: string): RegExp {
  const parts = /\*\*\/|\*\*|\*|\?|\{[^}]*\}|[\s\S]/g;
  const text = (pattern.match(parts) ?? []).map((part) => {
    if (part === '**/') return '(?:.*/)?';
    if (part === '**') return '.*';
    if (part === '*') return '[^/]*';
    if (part === '?') return '[^/]';
    if (part.length > 1) return `(?:${part.slice(1, -1).split(',').map(escaped).join('|')})`;
    return escaped(part);
  });
  return new RegExp(`^${text.join('')}$`);
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
}

export async function loadProducerModules(
  files: readonly string[],
  onBegin: (file: string) => void,
): Promise<LoadedModule[]> {
  if (files.some((file) => /ts$/.test(file))) register(hooksUrl);
  const modules: LoadedModule[] = [];
  for (const file of files) {
    onBegin(file);
    modules.push(await loadModule(file));
  }
  return modules;
}

async function loadModule(file: string): Promise<LoadedModule> {
  try {
    const exported: unknown = await import(pathToFileURL(resolve(file)).href);
    const producers = producersIn(exported as Record<string, unknown>);
    return {
      file,
      producers,
      findings: producers.length === 0 ? [finding('producer-missing')] : [],
    };
  } catch (error) {
    const reason = reasonOf(error);
    return { file, producers: [], findings: [finding('module-broken', { reason })] };
  }
}

/** The type stripper throws objects that are not Errors. */
function reasonOf(error: unknown): string {
  const { message } = Object(error) as { message?: unknown };
  return typeof message === 'string' ? message.trim() : String(error);
}

/** A CommonJS module has all its exports in `default`, and perhaps by name too: that is one producer, not two. */
function producersIn(exported: Readonly<Record<string, unknown>>): LoadedModule['producers'] {
  const inDefault = isProducer(exported['default']) ? {} : Object(exported['default']);
  const all = Object.entries({ ...(inDefault as object), ...exported });
  return all.flatMap(([name, value]) => (isProducer(value) ? [{ name, producer: value }] : []));
}
