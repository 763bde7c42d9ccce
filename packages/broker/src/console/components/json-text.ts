/**
 * JSON made readable but as it was sent: only whitespace changes, and string escapes are decoded. Parsing and serializing
 * it would lose details, such as the last digits of a long number or a duplicate key.
 */

const indent = '  ';
/** How many times longer than the input the result may be: deep nesting would mean gigabytes of spaces. */
const growthMax = 8;
const growthCharsMin = 10_000;

/** A string, a punctuation character, or a number or word. */
const token = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],:]|[^\s{}[\],:"]+/g;

/** Indents complete JSON; returns any other text unchanged. */
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
    // No line break inside an empty list or object.
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

/** Many clients escape everything that is not ASCII. */
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
