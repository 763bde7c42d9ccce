/**
 * The deduplication window as a chart: the whole window from left to right, with now at the right edge. Accepted sends
 * grow upwards, suppressed ones downwards; collisions and violations have the color of errors. Clicking a suppressed send
 * opens it; without a mouse, the same sends are in the list below.
 */

import type { Window, WindowRow } from '../app/answers.ts';
import { atLeast, bars } from './charts.ts';
import { type Child, h, svg } from './dom.ts';
import { duration, exactCount, plural } from './format.ts';
import { sum } from './numbers.ts';

const step = 4;
const height = 132;
const middle = 84;
const top = 6;
/** How far from a suppressed send a click may be, in bars. */
const reach = 4;

export function timeline(window: Window, open: (row: WindowRow) => void): HTMLElement {
  const { accepted, suppressed, collisions, violations, windowSeconds } = window;
  const parts = accepted.length;
  const width = parts * step;
  const peakUp = Math.max(1, ...accepted);
  const peakDown = Math.max(1, ...suppressed);
  const up = (value: number): { from: number; length: number } => ({
    from: middle,
    length: -atLeast((value / peakUp) * (middle - top)),
  });
  const down = (value: number): { from: number; length: number } => ({
    from: middle + 1,
    length: atLeast((value / peakDown) * (height - middle - 8)),
  });
  const quarter = (index: number): Element =>
    svg('path', { class: 'grid', d: `M${(index * width) / 5} 0V${height}` });
  return h(
    'figure',
    { class: 'timeline' },
    h(
      'div',
      { class: 'plot' },
      svg(
        'svg',
        {
          viewBox: `0 0 ${width} ${height}`,
          preserveAspectRatio: 'none',
          role: 'img',
          'aria-label': summary(window),
          onclick: (event) => {
            const row = nearest(event as MouseEvent, window);
            if (row !== undefined) open(row);
          },
        },
        [1, 2, 3, 4].map(quarter),
        svg('path', { class: 'base', d: `M0 ${middle + 0.5}H${width}` }),
        svg('path', {
          class: 'violations',
          d: bars(violations, step, () => ({ from: 0, length: height })),
        }),
        svg('path', { class: 'accepted', d: bars(accepted, step, up) }),
        svg('path', { class: 'suppressed', d: bars(suppressed, step, down) }),
        svg('path', { class: 'collisions', d: bars(collisions, step, down) }),
      ),
    ),
    h('div', { class: 'axis', 'aria-hidden': 'true' }, axis(windowSeconds)),
    h(
      'figcaption',
      {},
      key('accepted', 'Accepted', sum(accepted)),
      key('suppressed', 'Suppressed', sum(suppressed)),
      key('collisions', 'of which collisions', sum(collisions)),
      sum(violations) > 0 && key('violations', 'Violations', sum(violations)),
      uncounted(window, 'Accepted', 'there were too many before that'),
      uncounted(window, 'Suppressed', 'earlier ones are no longer known'),
    ),
  );
}

/** A note if a count does not reach back to the beginning of the window. */
function uncounted(window: Window, what: 'Accepted' | 'Suppressed', why: string): Child {
  const from = what === 'Accepted' ? window.acceptedCountedFrom : window.suppressedCountedFrom;
  if (from === null) return undefined;
  const text = `${what} sends are counted only for the last ${duration(window.now - from)}; ${why}.`;
  return h('span', { class: 'hint' }, text);
}

function axis(windowSeconds: number): Child {
  return [5, 4, 3, 2, 1, 0].map((fifths) =>
    h('span', {}, fifths === 0 ? 'now' : `−${duration((windowSeconds * 1000 * fifths) / 5)}`),
  );
}

function key(kind: string, text: string, value: number): HTMLElement {
  return h(
    'span',
    { class: 'key' },
    h('span', { class: `swatch ${kind}`, 'aria-hidden': 'true' }),
    text,
    h('strong', {}, exactCount(value)),
  );
}

function summary({ accepted, suppressed, collisions, violations, windowSeconds }: Window): string {
  return `In the last ${duration(windowSeconds * 1000)}: ${plural(sum(accepted), 'send')} accepted, ${exactCount(sum(suppressed))} suppressed, ${plural(sum(collisions), 'collision')}, ${plural(sum(violations), 'violation')}. The list below shows each of them.`;
}

/** The suppressed send nearest to a click. */
function nearest(
  event: MouseEvent,
  { rows, now, windowSeconds, accepted }: Window,
): WindowRow | undefined {
  const box = (event.currentTarget as Element).getBoundingClientRect();
  const partMs = (windowSeconds * 1000) / accepted.length;
  const at = now - (1 - (event.clientX - box.left) / box.width) * windowSeconds * 1000;
  const distance = (row: WindowRow): number => Math.abs(row.at - at);
  return rows
    .filter((row) => row.kind === 'suppressed' && distance(row) <= reach * partMs)
    .toSorted((a, b) => distance(a) - distance(b))[0];
}
