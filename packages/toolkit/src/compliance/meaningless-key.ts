/**
 * Finds keys that contain what a missing value or an object becomes as text: `undefined`, `[object Object]`, Python's
 * `None`. Such a key is the same for every event whose value is missing. A word that the event itself contains is a value.
 */

import { type Finding, finding } from './findings.ts';

const words =
  /(?<![A-Za-z0-9])(undefined|null|NaN|None|nil|Infinity|Invalid Date|\[object \w+\]|<[\w.]+ object at 0x[0-9a-f]+>)(?![A-Za-z0-9])/;
/** `key(…)` encodes brackets and spaces. */
const decode = (key: string): string => {
  try {
    return decodeURIComponent(key);
  } catch {
    return key;
  }
};

/** `event` is what the key was made from, or the payload if that is not known. */
export function meaninglessKey(key: string, event: unknown, body: string): Finding[] {
  const word = words.exec(decode(key))?.[1];
  if (word === undefined || containsText(event, word)) return [];
  return [finding('key-meaningless', { key, word }, body)];
}

/** Not recursive: an event may be nested as deeply as it is long. It may also contain itself. */
function containsText(event: unknown, word: string): boolean {
  const seen = new Set<unknown>();
  const open: unknown[] = [event];
  while (open.length > 0) {
    const next = open.pop();
    if (typeof next === 'string' && next.includes(word)) return true;
    if (typeof next !== 'object' || next === null || seen.has(next)) continue;
    seen.add(next);
    open.push(...Object.values(next));
  }
  return false;
}
