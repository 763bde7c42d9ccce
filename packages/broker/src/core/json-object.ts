/**
 * Reads the JSON objects that clients put into attribute values: policies and redrive policies. Anything else, such as
 * a list or broken JSON, gives undefined; each attribute has its own refusal for that. So does an object nested deeper
 * than any real policy: writing it out again could exhaust the stack.
 */

const depthMax = 32;

export function parseObject(text: string): Record<string, unknown> | undefined {
  if (isDeeperThan(depthMax, text)) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    const isMap = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isMap ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

const quote = 0x22;
const backslash = 0x5c;
const openings: ReadonlySet<number> = new Set([0x5b, 0x7b]);
const closings: ReadonlySet<number> = new Set([0x5d, 0x7d]);

/** Whether brackets nest deeper than `levels`. The answer means nothing for a text that is not JSON. */
export function isDeeperThan(levels: number, text: string): boolean {
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === quote) at = endOfString(text, at);
    else if (openings.has(code)) depth += 1;
    else if (closings.has(code)) depth -= 1;
    if (depth > levels) return true;
  }
  return false;
}

/** Where the string that begins at `start` ends: at the next quote that is not escaped. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let before = end - 1;
    while (text.charCodeAt(before) === backslash) before -= 1;
    if ((end - before) % 2 === 1) return end;
  }
  return text.length;
}
