/**
 * Finds a member that an object of a JSON text has twice. JSON.parse keeps the last one, other readers the first, so a
 * body with a repeated member means different events to different readers (RFC 8259, 4; RFC 7493, 2.3).
 *
 * Names are compared as they read: `"a"` and its escaped form `"\u0061"` are the same. Not recursive, because an untrusted
 * body may be nested as deeply as it is long.
 */

const tokens = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],]/g;

/** The first repeated name in a valid JSON text; undefined if there is none. */
export function repeatedMember(json: string): string | undefined {
  /** The names of each open object; undefined for an open array. */
  const open: (Set<string> | undefined)[] = [];
  let isName = false;
  for (const [token] of json.matchAll(tokens)) {
    const names = open.at(-1);
    if (token === '{' || token === '[') {
      open.push(token === '{' ? new Set() : undefined);
      isName = token === '{';
    } else if (token === '}' || token === ']') {
      open.pop();
      isName = false;
    } else if (token === ',') {
      isName = names !== undefined;
    } else if (isName) {
      const name = token.includes('\\') ? (JSON.parse(token) as string) : token.slice(1, -1);
      if (names?.has(name)) return name;
      names?.add(name);
      isName = false;
    }
  }
  return undefined;
}
