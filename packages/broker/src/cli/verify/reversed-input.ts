/**
 * The input of a program with the members of its JSON objects in reverse order: a JSON text, or one on each line. Strings
 * and numbers keep their spelling, since 1.0 and 1 may be different bytes for the program. Other input is left as it is.
 */

const tokens = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;
/** Deeper input is left as it is. */
const depthMax = 1_000;

/** Undefined if there is nothing to reverse. */
export function reversedInput(text: string): string | undefined {
  const whole = reversedJson(text);
  if (whole !== undefined) return whole === text ? undefined : whole;
  const lines = text.split('\n').map((line) => (line.trim() === '' ? line : reversedJson(line)));
  if (lines.includes(undefined)) return undefined;
  const reversed = lines.join('\n');
  return reversed === text ? undefined : reversed;
}

function reversedJson(text: string): string | undefined {
  try {
    JSON.parse(text);
  } catch {
    return undefined;
  }
  // Each open object or list, with its parts so far.
  const open: string[][] = [[]];
  for (const [token] of text.matchAll(tokens)) {
    if (open.length > depthMax) return undefined;
    if (token === '{' || token === '[') open.push([token]);
    else if (token === '}' || token === ']') {
      const closed = written(open.pop() ?? [], token);
      open.at(-1)?.push(closed);
    } else open.at(-1)?.push(token);
  }
  return (open[0] ?? []).join('');
}

function written([bracket = '', ...parts]: readonly string[], end: string): string {
  const members = parts.reduce<string[][]>(
    (all, part) => {
      if (part === ',') all.push([]);
      else all.at(-1)?.push(part);
      return all;
    },
    [[]],
  );
  const inOrder = bracket === '{' ? members.reverse() : members;
  return `${bracket}${inOrder.map((member) => member.join('')).join(',')}${end}`;
}
