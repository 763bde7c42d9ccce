/**
 * Says in which bytes two bodies differ: the members of the envelope for a summary, and for a person the path and both
 * texts, `payload.day: "2025-12-04" → "2025-12-05"`.
 */

/** How much of a text is shown. */
const shownCharsMax = 80;
/** Further ones are only counted. */
const differencesMax = 3;

/** The members in which two envelopes differ; just `the body` if the texts are not JSON. */
export function differingMembers(first: string, second: string): string[] {
  if (first === second) return [];
  const [a, b] = [objectIn(first), objectIn(second)];
  if (a === undefined || b === undefined) return ['the body'];
  const names = new Set([...Object.keys(a), ...Object.keys(b)]);
  const differing = [...names].filter(
    (name) => JSON.stringify(a[name]) !== JSON.stringify(b[name]),
  );
  return differing.length === 0 ? ['the order or form of the members'] : differing;
}

/** Where two different bodies differ, and how. */
export function byteDifference(first: string, second: string): string {
  const [a, b] = [objectIn(first), objectIn(second)];
  const differences = a === undefined || b === undefined ? [] : differencesBetween(a, b);
  if (differences.length === 0) return firstDifference(first, second);
  const rest = differences.length - differencesMax;
  const shown = differences.slice(0, differencesMax).join(', ');
  return rest > 0 ? `${shown} and ${rest} more` : shown;
}

/** Not recursive: a body may be nested as deeply as it is long. */
function differencesBetween(first: object, second: object): string[] {
  const found: string[] = [];
  const open: [path: string, a: unknown, b: unknown][] = [['', first, second]];
  for (let next = open.shift(); next !== undefined; next = open.shift()) {
    const [path, a, b] = next;
    if (isObject(a) && isObject(b) && Array.isArray(a) === Array.isArray(b)) {
      const names = new Set([...Object.keys(a), ...Object.keys(b)]);
      for (const name of names) open.push([`${path}${path && '.'}${name}`, a[name], b[name]]);
    } else if (a !== b) found.push(`${path}: ${shown(a)} → ${shown(b)}`);
  }
  return found;
}

/** For texts that are not JSON, or the same JSON in another form. */
function firstDifference(first: string, second: string): string {
  let at = 0;
  while (at < first.length && first[at] === second[at]) at += 1;
  const from = Math.max(0, at - shownCharsMax / 4);
  return `byte ${Buffer.byteLength(first.slice(0, at))}: ${shown(first.slice(from))} → ${shown(second.slice(from))}`;
}

function shown(value: unknown): string {
  if (value === undefined) return 'nothing';
  const text = JSON.stringify(value);
  return text.length > shownCharsMax ? `${text.slice(0, shownCharsMax)}…` : text;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

function objectIn(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
