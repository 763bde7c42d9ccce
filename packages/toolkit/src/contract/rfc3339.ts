/**
 * RFC 3339 times, exactly as its section 5.6 has them: `T` (or `t`) between date and time, any number of fraction digits, and
 * `Z` (or `z`) or an offset of hours and minutes with a colon. Second 60 is a leap second, which only the last minute of a
 * month in UTC can have. The JSON Schema format `date-time` of common libraries takes more: a space, `+05`, `+0530`.
 */

const form =
  /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})(?:\.\d+)?(?:Z|([+-])(\d{2}):(\d{2}))$/i;

const minuteMs = 60_000;

export function isRfc3339(text: string): boolean {
  const found = form.exec(text);
  if (found === null) return false;
  const [year, month, day, hour, minute, second] = found.slice(1, 7).map(Number) as Six;
  const [offsetHours, offsetMinutes] = [Number(found[8] ?? 0), Number(found[9] ?? 0)];
  if (month < 1 || month > 12 || day < 1 || day > daysIn(year, month)) return false;
  if (hour > 23 || minute > 59 || offsetHours > 23 || offsetMinutes > 59) return false;
  return second < 60 || (second === 60 && endsMonth(text));
}

type Six = [number, number, number, number, number, number];

/** Epoch milliseconds of a valid time. Further digits are cut off; a leap second counts as the second before it. */
export function epochMsOf(time: string): number {
  const [seconds = '', rest = ''] = [time.slice(0, 19), time.slice(19)];
  return Date.parse(seconds.toUpperCase().replace(/:60$/, ':59') + rest.toUpperCase());
}

function daysIn(year: number, month: number): number {
  const isLeap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  if (month === 2) return isLeap ? 29 : 28;
  return [4, 6, 9, 11].includes(month) ? 30 : 31;
}

/** Whether the minute is the last one of a month in UTC. */
function endsMonth(time: string): boolean {
  const next = new Date(Math.floor(epochMsOf(time) / minuteMs + 1) * minuteMs);
  return next.getUTCDate() === 1 && next.getUTCHours() === 0 && next.getUTCMinutes() === 0;
}
