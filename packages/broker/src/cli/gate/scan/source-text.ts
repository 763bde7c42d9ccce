/**
 * Source text as patterns read it: with comments blanked out in place, so that matches inside comments are ignored and line
 * numbers stay the same. Not a parser, because it must read whatever a repository contains.
 */

/** How a language writes comments: `//`, `#`, both, or `#` and texts that stand alone as Python's documentation does. */
export type Comments = 'slashes' | 'hashes' | 'both' | 'python';

const text =
  /"[^"\\\n]*(?:\\.[^"\\\n]*)*"|'[^'\\\n]*(?:\\.[^'\\\n]*)*'|`[^`\\]*(?:\\[\s\S][^`\\]*)*`/;
/** A regular expression literal (where a value is expected), not a division. Bounded, since it may never be closed. */
const pattern =
  /\/(?<=(?:[(,=:[!&|?{};>]|(?<!\+)\+|\breturn)\s*\/)(?![*/])(?:[^/\\\n[]|\\.|\[(?:[^\]\\\n]|\\.){0,500}\]){1,500}\//;
const slashes = /\/\/[^\n]*|\/\*[\s\S]*?\*\//;
/** At the start of a word: `$#` and `a#b` are no comments. */
const hash = /(?<![^\s;{}()])#[^\n]*/;
const documentation = /^[ \t]*(?:"""[\s\S]*?"""|'''[\s\S]*?''')/;

const forms: Readonly<Record<Comments, RegExp>> = {
  slashes: tokens(`${text.source}|${pattern.source}`, slashes.source),
  hashes: tokens(text.source, hash.source),
  both: tokens(text.source, `${slashes.source}|${hash.source}`),
  python: tokens(text.source, `${documentation.source}|${hash.source}`),
};

/** Strings and regular expressions are matched so that what looks like a comment inside them is skipped. */
function tokens(skipped: string, comment: string): RegExp {
  return new RegExp(`(?<comment>${comment})|${skipped}`, 'gm');
}

/** Replaces every comment with blanks; line breaks stay. */
export function withoutComments(source: string, comments: Comments): string {
  return source.replace(forms[comments], (found, ...rest) =>
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

/** The rest of a command or statement: to the end of its line, and on where a line ends in one of these marks. */
export function restOfLine(source: string, index: number, goesOn: RegExp): string {
  let end = index;
  do {
    const next = source.indexOf('\n', end + 1);
    end = next < 0 ? source.length : next;
  } while (
    end < source.length &&
    end - index < argumentCharsMax &&
    goesOn.test(source.slice(Math.max(index, end - 80), end))
  );
  return source.slice(index, end);
}
