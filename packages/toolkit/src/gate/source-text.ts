/**
 * Source text as the gate reads it: TypeScript and JavaScript with comments blanked out, at the same places, so that what
 * is only talked about is not found and lines keep their numbers. No parser: it must read whatever a repository holds.
 */

const text =
  /"[^"\\\n]*(?:\\.[^"\\\n]*)*"|'[^'\\\n]*(?:\\.[^'\\\n]*)*'|`[^`\\]*(?:\\[\s\S][^`\\]*)*`/;
/** A regular expression, where a value is expected, and not a division. Bounded, since what opens one may never close it. */
const pattern =
  /\/(?<=(?:[(,=:[!&|?{};>]|(?<!\+)\+|\breturn)\s*\/)(?![*/])(?:[^/\\\n[]|\\.|\[(?:[^\]\\\n]|\\.){0,500}\]){1,500}\//;
const comment = /\/\/[^\n]*|\/\*[\s\S]*?\*\//;

/** The text with every comment replaced by blanks; line breaks stay. */
export function withoutComments(source: string): string {
  // Texts and patterns are matched so that what looks like a comment inside of them is passed over.
  const token = new RegExp(`${text.source}|${pattern.source}|(?<comment>${comment.source})`, 'g');
  return source.replace(token, (found, ...rest) =>
    (rest.at(-1) as { comment?: string }).comment === undefined
      ? found
      : found.replace(/[^\n]/g, ' '),
  );
}

export function lineAt(source: string, index: number): number {
  return source.slice(0, index).split('\n').length;
}

/**
 * More is not looked through, a text counted as one: a bracket that nothing closes would lead to the end of the file, once
 * for each send.
 */
const argumentCharsMax = 10_000;

/** What stands between the bracket at the index and the one that closes it; nothing if that is too far to be looked for. */
export function argumentAt(source: string, index: number): string | undefined {
  let [depth, chars] = [0, 0];
  // A text is one token, and no bracket.
  const token = new RegExp(`${text.source}|[^"'\`()[\\]{}]+|[\\s\\S]`, 'y');
  token.lastIndex = index;
  for (let at = index; at < source.length; at = token.lastIndex) {
    const found = token.exec(source)?.[0] as string;
    if ('([{'.includes(found)) depth += 1;
    else if (')]}'.includes(found)) depth -= 1;
    if (depth === 0) return source.slice(index + 1, at);
    chars += /^["'`]/.test(found) ? 1 : found.length;
    if (chars > argumentCharsMax) return undefined;
  }
  return source.slice(index + 1);
}
