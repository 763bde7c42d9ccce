/** What a change says of a key of kept entries in memory: its value, or that it is gone. */

interface Keyed<K, V> {
  set(key: K, value: V): unknown;
  delete(key: K): unknown;
}

export function setOrDelete<K, V>(entries: Keyed<K, V>, key: K, value: V | null): void {
  if (value === null) entries.delete(key);
  else entries.set(key, value);
}
