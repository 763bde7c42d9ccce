/**
 * Checks that a key is unambiguous. Two different events get the same key if a separator inside a value looks like one
 * between values ("a-b" and "c", "a" and "b-c"), or if there is no separator at all ("ab" and "c", "a" and "bc").
 *
 * From each sample, pairs of neighbors are generated: events that differ only in which of two values has the characters
 * around a separator. The values are strings and numbers at any depth, and lists; the separators are common ones, and what
 * stands between the two values in the sample's own key. Events that the producer refuses prove nothing.
 * program-escaping.ts does the same for programs.
 */

import { inspect } from 'node:util';
import type { AnyProducer } from '../producer/define-producer.ts';
import { isPlain, messageOf } from './determinism.ts';
import { type Finding, finding } from './findings.ts';

/** Every ASCII character that is neither letter nor digit, some that people use to be safe, and some pairs. */
const separators = [
  ...['', ' ', '\t', '\n', '\r', '\0', '\u001e', '\u001f', '\u00a0', '\u200b'],
  ...'!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~·•→§¦',
  ...['::', '--', '__', '//', '||', '##', '->', '=>', ', ', ' - ', '%2F', '%7C', '","', '\\"'],
];
/** Further values of a sample, samples, and characters between two values are left out. */
const valuesMax = 16;
const samplesMax = 50;
const separatorCharsMax = 64;
const depthMax = 16;

export type Path = readonly string[];
export type Changes = readonly (readonly [Path, unknown])[];
export interface Neighbors {
  readonly one: Changes;
  readonly other: Changes;
}

export function ambiguousKeys(producer: AnyProducer, samples: readonly unknown[]): Finding[] {
  return samples.slice(0, samplesMax).flatMap((sample) => ambiguousKey(producer, sample));
}

function ambiguousKey(producer: AnyProducer, sample: unknown): Finding[] {
  // Only the key is built for most neighbors: there are thousands.
  const keyOf = (changes: Changes): string | undefined => {
    try {
      const key: unknown = producer.options.dedupeKey(changed(sample, changes));
      return typeof key === 'string' ? key : undefined;
    } catch {
      return undefined;
    }
  };
  const own = keyOf([]);
  if (own === undefined) return [];
  const paths = valuePaths(sample)
    .filter((path) => keyOf([[path, alteredValue(valueAt(sample, path))]]) !== own)
    .slice(0, valuesMax);
  const marks = (a: string, b: string): readonly string[] => [...separators, ...between(own, a, b)];
  for (const { one, other } of neighborsOf(sample, paths, marks)) {
    const key = keyOf(one);
    if (key === undefined || key !== keyOf(other)) continue;
    const areSent = [one, other].every(
      (changes) => messageOf(producer, changed(sample, changes)) !== undefined,
    );
    if (!areSent) continue;
    return [ambiguous({ one, other }, key, sample)];
  }
  return [];
}

export function ambiguous({ one, other }: Neighbors, key: string, sample: unknown): Finding {
  const fields = [...new Set([...one, ...other].map(([path]) => path.join('.')))].join(' and ');
  return finding('key-ambiguous', { fields, key }, inspect(sample));
}

/** Which separators to try between two texts. */
export type Marks = (a: string, b: string) => readonly string[];

/** What stands between two texts in the key, in either order; where the key does not show them, every separator. */
export function likelyMarks(key: string): Marks {
  return (a, b) => {
    const shown = [...between(key, a, b), ...between(key, b, a)];
    return shown.length > 0 ? shown : separators;
  };
}

export function* neighborsOf(
  sample: unknown,
  paths: readonly Path[],
  marks: Marks,
): Generator<Neighbors> {
  for (const a of paths) {
    const first = valueAt(sample, a);
    if (Array.isArray(first)) yield* listNeighbors(a, first);
    for (const b of paths.filter((path) => path !== a)) {
      const second = valueAt(sample, b);
      if (Array.isArray(first) && Array.isArray(second)) yield* movedElement(a, b);
      for (const [left, right] of splits(first, second, marks)) {
        yield {
          one: [
            [a, left[0]],
            [b, left[1]],
          ],
          other: [
            [a, right[0]],
            [b, right[1]],
          ],
        };
      }
    }
  }
}

type Pair = readonly [unknown, unknown];

/** The same characters, divided between two values in two ways. */
function* splits(first: unknown, second: unknown, marks: Marks): Generator<readonly [Pair, Pair]> {
  const kinds = `${typeof first} ${typeof second}`;
  if (kinds === 'string string') {
    const [a, b] = [first as string, second as string];
    for (const mark of new Set(marks(a, b))) {
      yield [
        [`${a}${mark}${b}`, b],
        [a, `${b}${mark}${b}`],
      ];
    }
  } else if (kinds === 'number number') {
    yield* [
      pairs([1, 23], [12, 3]),
      // With a point between them.
      pairs([1.5, 2], [1, 5.2]),
    ];
  } else if (kinds === 'string number') {
    yield* [
      pairs([`${first}1`, 23], [`${first}12`, 3]),
      pairs([`${first}.1`, 5], [`${first}`, 1.5]),
      pairs([`${first}-`, 5], [`${first}`, -5]),
    ];
  } else if (kinds === 'number string') {
    yield* [
      pairs([1, `2${second}`], [12, `${second}`]),
      pairs([1.5, `${second}`], [1, `5.${second}`]),
    ];
  }
}

function pairs(left: Pair, right: Pair): readonly [Pair, Pair] {
  return [left, right];
}

/** What stands between two values in the key, where it is short enough to be a separator. */
function between(key: string, a: string, b: string): string[] {
  if (a === '' || b === '') return [];
  const from = key.indexOf(a);
  const to = key.indexOf(b, from + a.length);
  if (from < 0 || to < 0) return [];
  const mark = key.slice(from + a.length, to);
  return mark.length <= separatorCharsMax ? [mark] : [];
}

/** A list of two against a list of one that looks like two. */
function* listNeighbors(path: Path, list: readonly unknown[]): Generator<Neighbors> {
  const isNumbers = typeof list[0] === 'number';
  if (isNumbers) yield { one: [[path, [1, 23]]], other: [[path, [12, 3]]] };
  if (isNumbers || (list.length > 0 && typeof list[0] !== 'string')) return;
  for (const mark of separators) {
    yield { one: [[path, [`a${mark}b`]]], other: [[path, ['a', 'b']]] };
  }
}

/** The last element of one list as the first of the next. */
function* movedElement(a: Path, b: Path): Generator<Neighbors> {
  yield {
    one: [
      [a, ['a', 'b']],
      [b, ['c']],
    ],
    other: [
      [a, ['a']],
      [b, ['b', 'c']],
    ],
  };
}

export function alteredValue(value: unknown): unknown {
  if (typeof value === 'string') return `${value}x`;
  if (typeof value === 'number') return value + 1;
  return Array.isArray(value) ? [...value, typeof value[0] === 'number' ? 1 : 'x'] : value;
}

/** Where the strings, numbers and lists of a sample are. */
export function valuePaths(value: unknown, path: Path = []): Path[] {
  if (typeof value === 'string' || typeof value === 'number') return path.length > 0 ? [path] : [];
  if (path.length >= depthMax) return [];
  const below = isPlain(value) || Array.isArray(value) ? Object.entries(value) : [];
  const own = Array.isArray(value) && path.length > 0 ? [path] : [];
  return [...own, ...below.flatMap(([name, member]) => valuePaths(member, [...path, name]))];
}

export function valueAt(value: unknown, path: Path): unknown {
  return path.reduce((part, name) => Object(part)[name], value);
}

/** A copy of the sample with other values at some paths. */
export function changed(sample: unknown, changes: Changes): unknown {
  return changes.reduce((copy, [path, value]) => replaced(copy, path, value), sample);
}

function replaced(part: unknown, path: Path, value: unknown): unknown {
  const [name, ...rest] = path;
  if (name === undefined) return value;
  const member = replaced(Object(part)[name], rest, value);
  if (Array.isArray(part)) return part.map((each, at) => (String(at) === name ? member : each));
  return { ...(part as object), [name]: member };
}
