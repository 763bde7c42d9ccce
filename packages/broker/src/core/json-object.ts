/**
 * Reads the JSON objects that clients put into attribute values: policies and redrive policies. Anything else, a list
 * or broken JSON, is nothing here; what to say about it is for the attribute to know. So is an object nested deeper
 * than any policy is: writing it out again could exhaust the stack.
 */

const depthMax = 32;

export function parseObject(text: string): Record<string, unknown> | undefined {
  if (depthOf(text) > depthMax) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    const isMap = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isMap ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

/** How deep brackets are nested; those inside of strings count too, which only makes it stricter. */
function depthOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  for (const character of text) {
    if (character === '{' || character === '[') deepest = Math.max(deepest, ++depth);
    else if (character === '}' || character === ']') depth -= 1;
  }
  return deepest;
}
