/**
 * What a change says of a key, done to entries in memory: the key has this value from now on, or, if there is none, it is
 * gone. For Maps and for entries by sequence alike.
 */

interface Keyed<K, V> {
  set(key: K, value: V): unknown;
  delete(key: K): unknown;
}

export function setOrDelete<K, V>(entries: Keyed<K, V>, key: K, value: V | null): void {
  if (value === null) entries.delete(key);
  else entries.set(key, value);
}
