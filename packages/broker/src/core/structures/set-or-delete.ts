/**
 * Applies a change of one key to entries in memory: sets the key to the value, or deletes it if there is none. For Maps
 * and for entries by sequence alike.
 */

interface Keyed<K, V> {
  set(key: K, value: V): unknown;
  delete(key: K): unknown;
}

export function setOrDelete<K, V>(entries: Keyed<K, V>, key: K, value: V | null): void {
  if (value === null) entries.delete(key);
  else entries.set(key, value);
}
