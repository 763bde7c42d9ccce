/**
 * What the name of a message attribute says: whether it seems to distinguish events, and so must be in the body too.
 * Names are compared word by word, however they are written: `SiteID`, `site_id`, `site-id` and `site.id` are the same.
 *
 * An entry of a list covers every name that ends with its words: `scene` covers `landsat_scene`. A contract's own lists
 * extend these; where both cover a name, the longer entry counts, and so does the contract's entry before one of ours.
 */

/** Covers names that identify or version something, and what this contract's seed calls critical. */
const criticalEntries = [
  ...['id', 'uuid', 'guid', 'ulid', 'key', 'version', 'sequence', 'seq', 'hash', 'checksum'],
  ...['site', 'aoi', 'scene', 'event timestamp', 'event time'],
];

/** A name with one of these words is about the attempt or the conversation, not about the event. */
const attemptWords = new Set([
  ...['trace', 'span', 'correlation', 'causation', 'request', 'session', 'parent'],
]);

/** A name with one of these words is about software, formats or routing. */
const routingWords = new Set([
  ...['api', 'app', 'sdk', 'protocol', 'schema', 'routing', 'partition', 'region'],
]);

/** The key itself: `dedupe_key`, `uniqueKey`, `Idempotency-Key`, … */
const keyFirstWords = new Set([
  ...['dedup', 'dedupe', 'deduplication', 'idempotency', 'idempotence', 'unique', 'uniqueness'],
]);

export interface NameLists {
  readonly critical: readonly string[];
  readonly harmless: readonly string[];
}

/** The words of a name in lower case: `APIVersion2` has `api`, `version` and `2`. */
export function wordsOf(name: string): string[] {
  const parts = /\p{Lu}+(?![\p{Ll}])|\p{Lu}?\p{Ll}+|\p{N}+|\p{Lo}+/gu;
  return (name.match(parts) ?? []).map((word) => word.toLowerCase());
}

/** Whether the name is one of a deduplication key. */
export function namesKey(name: string): boolean {
  const [first = '', last = ''] = wordsOf(name).slice(-2);
  return keyFirstWords.has(first) && (last === 'key' || last === 'id');
}

/** Whether the value of an attribute with this name must be in the body too. */
export function isCriticalName(name: string, lists: NameLists): boolean {
  const words = wordsOf(name);
  const [critical, harmless] = [lists.critical, lists.harmless].map((list) => longest(list, words));
  if (critical !== 0 || harmless !== 0) return (critical as number) >= (harmless as number);
  if (namesKey(name)) return true;
  if (words.some((word) => attemptWords.has(word) || routingWords.has(word))) return false;
  return longest(criticalEntries, words) > 0;
}

/** Whether two messages that differ in this attribute alone may be the same event, sent twice. */
export function namesAttempt(name: string, { critical, harmless }: NameLists): boolean {
  const words = wordsOf(name);
  if (longest(critical, words) >= Math.max(1, longest(harmless, words))) return false;
  return longest(harmless, words) > 0 || words.some((word) => attemptWords.has(word));
}

/** The number of words of the longest entry that the name ends with; 0 if there is none. */
function longest(entries: readonly string[], words: readonly string[]): number {
  return Math.max(
    0,
    ...entries.map((entry) => {
      const own = wordsOf(entry);
      const end = words.slice(-own.length);
      return own.length > 0 && own.join(' ') === end.join(' ') ? own.length : 0;
    }),
  );
}
