/**
 * Prints a deduplication window, the same for queues and topics: each entry with its original, when it expires, and what
 * it suppressed.
 */

export interface ExplainAnswer {
  readonly entry?: ExplainedEntry;
  readonly entries?: readonly ExplainedEntry[];
}

interface ExplainedEntry {
  id: string;
  source: string;
  groupId: string;
  original: { messageId: string; sentAt: number };
  ageSeconds: number;
  expiresInSeconds: number;
  suppressed: {
    at: number;
    id: string;
    matchedBy: string;
    differed: string[];
    collision: boolean;
  }[];
}

/** `hashed` names what content-based ids are the hash of. */
export function tellWindow({ entry, entries }: ExplainAnswer, hashed: string): string {
  const all = entries ?? (entry === undefined ? [] : [entry]);
  if (all.length === 0) return 'The deduplication window is empty.';
  return all.map((each) => tellEntry(each, hashed)).join('\n\n');
}

/** The query string from those flags that the server understands. */
export function queryOf(flags: Readonly<Record<string, string>>): string {
  const asked = Object.entries(flags).filter(([name]) => ['id', 'group', 'limit'].includes(name));
  return asked.length === 0 ? '' : `?${new URLSearchParams(asked).toString()}`;
}

function tellEntry(entry: ExplainedEntry, hashed: string): string {
  const { id, source, original, ageSeconds, expiresInSeconds, suppressed, groupId } = entry;
  const origin = source === 'content' ? `the SHA-256 of the ${hashed}` : 'given by the sender';
  const lines = [
    `id         ${id}  (${origin})`,
    `original   ${original.messageId}, group ${groupId}, sent ${new Date(original.sentAt).toISOString()}`,
    `window     ${ageSeconds} s old, closes in ${expiresInSeconds} s`,
  ];
  for (const { at, id: own, differed, matchedBy, collision } of suppressed) {
    const difference =
      differed.length === 0 ? 'nothing differed' : `differed in ${differed.join(' and ')}`;
    const kind = collision ? ': a collision' : '';
    const named = own === id ? '' : `, id ${own}`;
    lines.push(
      `suppressed ${new Date(at).toISOString()}${named}, by ${matchedBy}, ${difference}${kind}`,
    );
  }
  if (suppressed.length === 0) lines.push('suppressed nothing yet');
  return lines.join('\n');
}
