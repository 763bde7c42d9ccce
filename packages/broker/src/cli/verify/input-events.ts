/**
 * The events in the input of a program: JSON objects one on each line, or in a list. So the same program can be given other
 * events in the same form.
 */

export interface InputEvents {
  readonly events: readonly object[];
  /** An input of the same form with other events. */
  write(events: readonly unknown[]): string;
}

/** Undefined if the input has another form. */
export function inputEvents(text: string): InputEvents | undefined {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const rows = lines.map(parsed);
  if (rows.length > 0 && rows.every(isObject)) return { events: rows, write: asLines };
  const whole = parsed(text);
  if (!Array.isArray(whole) || whole.length === 0 || !whole.every(isObject)) return undefined;
  return { events: whole, write: (events) => `${JSON.stringify(events)}\n` };
}

function asLines(events: readonly unknown[]): string {
  return events.map((event) => `${JSON.stringify(event)}\n`).join('');
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
