/**
 * Tables for people: plain columns, each as wide as its widest cell, two spaces apart, no lines. The last cell is not
 * padded, so that one long body does not lengthen every row.
 */

import { printable } from './printable.ts';

export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, ...rows].map((line) => line.map(printable));
  const widths = head.map((_, column) =>
    Math.max(...lines.map((line) => (line[column] ?? '').length)),
  );
  return lines
    .map((line) =>
      line
        .map((cell, column) => cell.padEnd(widths[column] as number))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
