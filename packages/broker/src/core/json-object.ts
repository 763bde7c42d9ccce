/**
 * Reads the JSON that clients put into attribute values and messages: policies, redrive policies, structured messages. Anything
 * but an object, such as a list or broken JSON, gives undefined; each attribute has its own refusal for that. So does a text
 * beyond `objectBounds`, which no real policy is: parsing and writing it could exhaust the stack, or hold up every other request.
 *
 * `JSON.parse` takes up to half a microsecond for each value, and a value takes two characters: three million of them fit into a
 * request. So the values are counted first, which takes a nanosecond for each character, and stops early.
 */

/** What parsing a text creates: `levels` of lists and objects in one another, and `values` in all of them together. */
export interface JsonSize {
  readonly levels: number;
  readonly values: number;
}

const levelsMax = 32;
const valuesMax = 10_000;
const objectBounds: JsonSize = { levels: levelsMax, values: valuesMax };

export function parseObject(text: string): Record<string, unknown> | undefined {
  const value = parseWithin(objectBounds, text);
  const isMap = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isMap ? (value as Record<string, unknown>) : undefined;
}

/** Undefined for a text that is not JSON, or is beyond the bounds; no JSON text has that value. */
export function parseWithin(bounds: JsonSize, text: string): unknown {
  const { levels, values } = jsonSizeOf(text, bounds);
  return levels > bounds.levels || values > bounds.values ? undefined : parseJson(text);
}

/** Only for a text whose size is known to be harmless. Undefined if it is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const quote = 0x22;
const comma = 0x2c;
const openList = 0x5b;
const backslash = 0x5c;
const closeList = 0x5d;
const openObject = 0x7b;
const closeObject = 0x7d;

/**
 * How large JSON is, found without parsing it; means nothing for a text that is not JSON. An empty list counts as if it had a
 * value. Counts no further than beyond the bounds.
 */
export function jsonSizeOf(text: string, bounds: JsonSize): JsonSize {
  let levels = 0;
  let values = 1;
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    switch (text.charCodeAt(at)) {
      case quote:
        at = endOfString(text, at);
        break;
      case openList:
      case openObject:
        depth += 1;
        values += 1;
        if (depth > levels) levels = depth;
        break;
      case closeList:
      case closeObject:
        depth -= 1;
        break;
      case comma:
        values += 1;
        break;
    }
    if (levels > bounds.levels || values > bounds.values) break;
  }
  return { levels, values };
}

/**
 * A key that an object in the text has twice, of which `JSON.parse` would silently take the last. Undefined if there is none;
 * means nothing for a text that is not JSON.
 */
export function repeatedKeyIn(text: string): string | undefined {
  /** The keys of each object that is open; a list has none. */
  const open: Set<string>[] = [];
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === openList || code === openObject) open.push(new Set());
    else if (code === closeList || code === closeObject) open.pop();
    if (code !== quote) continue;
    const start = at;
    at = endOfString(text, start);
    afterKey.lastIndex = at + 1;
    if (!afterKey.test(text)) continue;
    const key = JSON.parse(text.slice(start, at + 1)) as string;
    const keys = open.at(-1);
    if (keys?.has(key)) return key;
    keys?.add(key);
  }
  return undefined;
}

const afterKey = /[ \t\r\n]*:/y;

/** How many characters are looked at one by one before a quote is searched for. */
const nearbyChars = 64;

/**
 * Where the string that begins at `start` ends: at the next quote that is not escaped. `indexOf` takes a tenth of the time of a
 * loop over the characters, unless there are many escaped quotes.
 */
function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length) {
    for (const far = at + nearbyChars; at < far; at += 1) {
      const code = text.charCodeAt(at);
      if (code === backslash) at += 1;
      else if (code === quote) return at;
    }
    const next = text.indexOf('"', at);
    if (next < 0) break;
    let before = next;
    while (before > at && text.charCodeAt(before - 1) === backslash) before -= 1;
    if ((next - before) % 2 === 0) return next;
    at = next + 1;
  }
  return text.length;
}
