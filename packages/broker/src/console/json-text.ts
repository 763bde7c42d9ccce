/**
 * JSON as people read it, and as it was sent: only spaces and line breaks are put in, and escapes of strings are read.
 * Going through values would lose what is in the text, the last digits of a long number say, or a key that stands twice.
 */

const indent = '  ';
/** How many times longer than the text it may get: deep nesting would make gigabytes of spaces. */
const growthMax = 8;
const growthCharsMin = 10_000;

/** A string, a bracket or sign, or a number or word. */
const token = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],:]|[^\s{}[\],:"]+/g;

/** JSON with line breaks, if it is JSON and the whole of it is there; else the text as it is. */
export function pretty(text: string): string {
  const start = text.trimStart()[0];
  if ((start !== '{' && start !== '[') || !isJson(text)) return text;
  const charsMax = growthMax * text.length + growthCharsMin;
  let laidOut = '';
  let line = '\n';
  let before = '';
  for (const [part] of text.matchAll(token)) {
    const isEnd = part === '}' || part === ']';
    if (isEnd) line = line.slice(0, -indent.length);
    // Nothing stands between the brackets of an empty list or object.
    if (isEnd ? !isOpening(before) : isOpening(before) || before === ',') laidOut += line;
    laidOut += part === ':' ? ': ' : part.startsWith('"') ? readable(part) : part;
    if (isOpening(part)) line += indent;
    if (laidOut.length > charsMax) return text;
    before = part;
  }
  return laidOut;
}

function isOpening(part: string): boolean {
  return part === '{' || part === '[';
}

/** Many clients write whatever is not ASCII as escapes. */
function readable(part: string): string {
  return JSON.stringify(JSON.parse(part));
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
