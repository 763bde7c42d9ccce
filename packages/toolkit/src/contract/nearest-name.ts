/**
 * Finds the known name that an unknown setting, flag or filter was probably meant to be, so that the refusal can suggest
 * it. A word that resembles none of them gets no suggestion: a wrong one is worse than none.
 */

/** A word of at least this length may be the beginning of a name. */
const beginningLengthMin = 4;

export function nearestName(word: string, known: readonly string[]): string | undefined {
  const longer = known.filter((name) => name.toLowerCase().startsWith(word.toLowerCase()));
  if (longer.length === 1 && word.length >= beginningLengthMin) return longer[0];
  const distances = known.map((name) => ({ name, distance: editDistance(word, name) }));
  const best = distances.sort((a, b) => a.distance - b.distance)[0];
  const isNear = best !== undefined && best.distance <= Math.max(2, Math.floor(word.length / 3));
  return isNear ? best.name : undefined;
}

/** Levenshtein distance, one row at a time. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const replaced = (row[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min((row[j] as number) + 1, (next[j - 1] as number) + 1, replaced));
    }
    row = next;
  }
  return row[b.length] as number;
}
