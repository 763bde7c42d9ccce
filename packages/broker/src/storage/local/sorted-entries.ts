/**
 * The two things that kept entries in Maps need: setting a key or deleting it, as a change says, and reading them back in
 * the order of their sequence, which an engine is loaded in.
 */

export function inSequence<V>(entries: Map<number, V>): [number, V][] {
  return [...entries].sort(([a], [b]) => a - b);
}

export function setOrDelete<K, V>(map: Map<K, V>, key: K, value: V | null): void {
  if (value === null) map.delete(key);
  else map.set(key, value);
}
