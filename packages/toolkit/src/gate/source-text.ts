/**
 * Source text as the gate reads it: TypeScript and JavaScript with comments blanked out, at the same places, so that what
 * is only talked about is not found and lines keep their numbers. No parser: it must read whatever a repository holds.
 */

/** The text with every comment replaced by blanks; line breaks stay. */
export function withoutComments(source: string): string {
  // Texts are matched so that what looks like a comment inside of them is passed over.
  const token =
    /"[^"\\\n]*(?:\\.[^"\\\n]*)*"|'[^'\\\n]*(?:\\.[^'\\\n]*)*'|`[^`\\]*(?:\\[\s\S][^`\\]*)*`|\/\/[^\n]*|\/\*[\s\S]*?\*\//g;
  return source.replace(token, (text) =>
    text.startsWith('/') ? text.replace(/[^\n]/g, ' ') : text,
  );
}

export function lineAt(source: string, index: number): number {
  return source.slice(0, index).split('\n').length;
}

/** What stands between the bracket at the index and the one that closes it; to the end if none does. */
export function argumentAt(source: string, index: number): string {
  let depth = 0;
  for (let at = index; at < source.length; at += 1) {
    const character = source[at] as string;
    if ('([{'.includes(character)) depth += 1;
    else if (')]}'.includes(character)) depth -= 1;
    if (depth === 0) return source.slice(index + 1, at);
  }
  return source.slice(index + 1);
}
