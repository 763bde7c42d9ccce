/**
 * Numbers, times and texts formatted for people. Times are the server's, shown in the reader's time zone; ages are
 * relative to the server's clock, which a test may move.
 */

const whole: Intl.NumberFormat = new Intl.NumberFormat('en-US');
const short: Intl.NumberFormat = new Intl.NumberFormat('en-US', {
  notation: 'compact',
  maximumFractionDigits: 1,
});
const clock: Intl.DateTimeFormat = new Intl.DateTimeFormat('en-GB', {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
});
const day: Intl.DateTimeFormat = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
});

const wholeShownMax = 99_999;

export function count(value: number): string {
  return value > wholeShownMax ? short.format(value) : whole.format(value);
}

export function exactCount(value: number): string {
  return whole.format(value);
}

/** Per second; a dash for zero, so that an idle table looks idle. */
export function rate(perSecond: number): string {
  if (perSecond === 0) return '–';
  if (perSecond < 0.1) return '< 0.1';
  return perSecond < 10 ? perSecond.toFixed(1) : count(Math.round(perSecond));
}

const byteUnits = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'];

/** `512 bytes`, `1.4 GiB` */
export function bytes(value: number): string {
  const unit = Math.min(byteUnits.length - 1, Math.floor(Math.log2(Math.max(1, value)) / 10));
  const shown = value / 1024 ** unit;
  return unbroken(
    `${unit === 0 || shown >= 100 ? count(Math.round(shown)) : shown.toFixed(1)} ${byteUnits[unit]}`,
  );
}

export function plural(value: number, word: string): string {
  return `${exactCount(value)} ${word}${value === 1 ? '' : 's'}`;
}

/** `body, attributes and group` */
export function joinedWords(words: readonly string[]): string {
  return words.join(', ').replace(/, (?!.*, )/, ' and ');
}

export function timeOfDay(at: number): string {
  return clock.format(at);
}

export function dayAndTime(at: number): string {
  return `${day.format(at)}, ${clock.format(at)}`;
}

/** The two largest units: `4 m 10 s`, `3 d 2 h`. Never broken into two lines. */
export function duration(milliseconds: number): string {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  if (seconds < 60) return unbroken(`${seconds} s`);
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return joined(minutes, 'm', seconds % 60, 's');
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return joined(hours, 'h', minutes % 60, 'm');
  return joined(Math.floor(hours / 24), 'd', hours % 24, 'h');
}

function joined(great: number, greatUnit: string, small: number, smallUnit: string): string {
  return unbroken(`${great} ${greatUnit}${small === 0 ? '' : ` ${small} ${smallUnit}`}`);
}

function unbroken(text: string): string {
  return text.replaceAll(' ', '\u00a0');
}

/** The beginning of an id, which is enough to distinguish it from its neighbors. */
export function shortId(id: string): string {
  return id.length > 14 ? `${id.slice(0, 12)}…` : id;
}

/** The last part of an ARN. */
export function nameInArn(arn: string): string {
  return arn.slice(arn.lastIndexOf(':') + 1);
}

/** The queue's name if the endpoint is a queue, otherwise the endpoint itself, such as a URL. */
export function endpointName(endpoint: string): string {
  return endpoint.startsWith('arn:') ? nameInArn(endpoint) : endpoint;
}

/** JSON with as few line breaks as readable: a value that fits on one line stays on one. */
export function compact(text: string): string {
  try {
    return laidOut(JSON.parse(text), '');
  } catch {
    return text;
  }
}

const lineCharsMax = 56;

function laidOut(value: unknown, indent: string): string {
  const line = JSON.stringify(value);
  if (line.length <= lineCharsMax || typeof value !== 'object' || value === null) return line;
  const inner = `${indent}  `;
  const isList = Array.isArray(value);
  const parts = isList
    ? value.map((each: unknown) => laidOut(each, inner))
    : Object.entries(value).map(([key, each]) => `${JSON.stringify(key)}: ${laidOut(each, inner)}`);
  const [open, close] = isList ? ['[', ']'] : ['{', '}'];
  return `${open}\n${parts.map((part) => inner + part).join(',\n')}\n${indent}${close}`;
}
