/**
 * Source text as the gate reads it: TypeScript and JavaScript with comments blanked out in place, so that matches inside
 * comments are ignored and line numbers stay the same. Not a parser, because it must read whatever a repository contains.
 */

const text =
  /"[^"\\\n]*(?:\\.[^"\\\n]*)*"|'[^'\\\n]*(?:\\.[^'\\\n]*)*'|`[^`\\]*(?:\\[\s\S][^`\\]*)*`/;
/** A regular expression literal (where a value is expected), not a division. Bounded, since it may never be closed. */
const pattern =
  /\/(?<=(?:[(,=:[!&|?{};>]|(?<!\+)\+|\breturn)\s*\/)(?![*/])(?:[^/\\\n[]|\\.|\[(?:[^\]\\\n]|\\.){0,500}\]){1,500}\//;
const comment = /\/\/[^\n]*|\/\*[\s\S]*?\*\//;

/** Replaces every comment with blanks; line breaks stay. */
export function withoutComments(source: string): string {
  // Strings and regular expressions are matched so that what looks like a comment inside them is skipped.
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
 * The search for a closing bracket ends here; a string counts as one character. Without a bound, an unclosed bracket would
 * mean reading to the end of the file for each send.
 */
const argumentCharsMax = 10_000;

/** The text between the bracket at the index and its closing one; undefined if that is too far away. */
export function argumentAt(source: string, index: number): string | undefined {
  let [depth, chars] = [0, 0];
  // A string is one token, so brackets inside it do not count.
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
