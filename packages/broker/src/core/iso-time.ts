/**
 * Times as ISO 8601 texts, in UTC and to the millisecond, without Date: core knows no clock, and a lint rule holds it to
 * that. Dates and days since the epoch are converted in the usual way, with years that begin in March.
 */

const dayMs = 86_400_000;

/** `2026-11-15T21:29:22.163Z` */
export function isoTime(epochMs: number): string {
  const days = Math.floor(epochMs / dayMs);
  const ms = epochMs - days * dayMs;
  const shifted = days + 719_468;
  const era = Math.floor(shifted / 146_097);
  const dayOfEra = shifted - era * 146_097;
  const yearOfEra = Math.floor(
    (dayOfEra -
      Math.floor(dayOfEra / 1460) +
      Math.floor(dayOfEra / 36_524) -
      Math.floor(dayOfEra / 146_096)) /
      365,
  );
  const dayOfYear =
    dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const march = Math.floor((5 * dayOfYear + 2) / 153);
  const day = dayOfYear - Math.floor((153 * march + 2) / 5) + 1;
  const month = march < 10 ? march + 3 : march - 9;
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0);
  const part = (value: number, length: number): string => String(value).padStart(length, '0');
  const date = `${part(year, 4)}-${part(month, 2)}-${part(day, 2)}`;
  const seconds = Math.floor(ms / 1000);
  const clock = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  return `${date}T${clock.map((each) => part(each, 2)).join(':')}.${part(ms % 1000, 3)}Z`;
}

const form =
  /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?(Z|[+-]\d{2}:?\d{2})$/;

/** Epoch milliseconds; undefined if the text is no valid time. */
export function readIsoTime(text: string): number | undefined {
  const parts = form.exec(text);
  if (parts === null) return undefined;
  const [year, month, day, hour, minute, second] = parts
    .slice(1, 7)
    .map((part) => Number(part ?? 0)) as [number, number, number, number, number, number];
  const isOnClock = hour < 24 && minute < 60 && second < 60;
  if (month < 1 || month > 12 || day < 1 || day > 31 || !isOnClock) return undefined;
  const ms = Number((parts[7] ?? '').slice(0, 3).padEnd(3, '0'));
  const [sign, hours, minutes] = /([+-])(\d{2}):?(\d{2})/.exec(parts[8] as string)?.slice(1) ?? [];
  const aheadMinutes = sign === undefined ? 0 : Number(hours) * 60 + Number(minutes);
  const clockMs = ((hour * 60 + minute) * 60 + second) * 1000 + ms;
  const ahead = (sign === '-' ? -1 : 1) * aheadMinutes * 60_000;
  return daysBefore(year, month, day) * dayMs + clockMs - ahead;
}

function daysBefore(year: number, month: number, day: number): number {
  const shifted = month <= 2 ? year - 1 : year;
  const era = Math.floor(shifted / 400);
  const yearOfEra = shifted - era * 400;
  const dayOfYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1;
  const dayOfEra =
    yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  return era * 146_097 + dayOfEra - 719_468;
}
