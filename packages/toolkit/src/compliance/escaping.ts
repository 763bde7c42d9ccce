/**
 * Checks that a key is unambiguous. Two different events get the same key if a separator inside a value looks like one
 * between values ("a-b" and "c", "a" and "b-c"), or if there is no separator at all ("ab" and "c", "a" and "bc").
 *
 * Every pair of string fields of a sample on which the key depends is tried, by splitting the same characters between the
 * two fields in two ways. Events that the producer refuses prove nothing.
 */

import { inspect } from 'node:util';
import type { AnyProducer } from '../producer/define-producer.ts';
import { type Finding, finding } from './findings.ts';

const separators = ['', '/', ':', '-', '|', '_', '.', '#', ',', ' ', '%'];
const fieldsMax = 8;

type Fields = Readonly<Record<string, unknown>>;
export function ambiguousKeys(producer: AnyProducer, sample: unknown): Finding[] {
  if (typeof sample !== 'object' || sample === null || Array.isArray(sample)) return [];
  const event = sample as Fields;
  const keyOf = (changes: Fields): string | undefined => {
    try {
      const checked = producer.check({ ...event, ...changes });
      return checked.ok ? checked.envelope.dedupe_key : undefined;
    } catch {
      return undefined;
    }
  };
  const own = keyOf({});
  const names = Object.keys(event)
    .filter(
      (name) => typeof event[name] === 'string' && own !== keyOf({ [name]: `${event[name]}x` }),
    )
    .slice(0, fieldsMax);
  for (const a of names) {
    for (const b of names.filter((name) => name !== a)) {
      for (const mark of separators) {
        const [first, second] = [String(event[a]), String(event[b])];
        const one = keyOf({ [a]: `${first}${mark}${second}`, [b]: second });
        const other = keyOf({ [a]: first, [b]: `${second}${mark}${second}` });
        if (one !== undefined && one === other) {
          return [finding('key-ambiguous', { fields: `${a} and ${b}`, key: one }, inspect(event))];
        }
      }
    }
  }
  return [];
}
