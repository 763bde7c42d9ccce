/**
 * Small charts of numbers over time: accepted sends upwards, suppressed sends downwards. Each chart has one path per kind,
 * however many bars there are, so that repainting it every second is cheap.
 */

import { svg } from './dom.ts';

const height = 24;
const middle = 15;

/** The last five minutes of a queue, in a table row. */
export function sparkline(
  sent: readonly number[],
  suppressed: readonly number[],
  label: string,
): Element {
  const peakUp = Math.max(1, ...sent);
  const peakDown = Math.max(1, ...suppressed);
  const step = 3;
  const up = (value: number): number => (value / peakUp) * (middle - 1);
  const down = (value: number): number => (value / peakDown) * (height - middle - 2);
  return svg(
    'svg',
    {
      class: 'spark',
      viewBox: `0 0 ${sent.length * step} ${height}`,
      preserveAspectRatio: 'none',
      role: 'img',
      'aria-label': label,
    },
    svg('path', { class: 'base', d: `M0 ${middle + 0.5}H${sent.length * step}` }),
    svg('path', {
      class: 'accepted',
      d: bars(sent, step, (value) => ({ from: middle, length: -atLeast(up(value)) })),
    }),
    svg('path', {
      class: 'suppressed',
      d: bars(suppressed, step, (value) => ({ from: middle + 1, length: atLeast(down(value)) })),
    }),
  );
}

/** One bar for each number that is not 0, as rectangles of one path. */
export function bars(
  values: readonly number[],
  step: number,
  barOf: (value: number) => { readonly from: number; readonly length: number },
): string {
  let path = '';
  const width = step * 0.72;
  for (const [index, value] of values.entries()) {
    if (value === 0) continue;
    const { from, length } = barOf(value);
    path += `M${(index * step).toFixed(1)} ${from}h${width.toFixed(2)}v${length.toFixed(1)}h-${width.toFixed(2)}z`;
  }
  return path;
}

/** Keeps even the smallest bar visible. */
export function atLeast(length: number): number {
  return Math.max(length, 1.5);
}
