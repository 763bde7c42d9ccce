/**
 * Numbers on the page: the tiles at the top of a view, and table cells. Zeros are toned down, and values that need
 * attention are highlighted.
 */

import { h } from './dom.ts';
import { count } from './format.ts';

export interface Tile {
  readonly label: string;
  readonly text: string;
  /** Highlights a value that needs attention. */
  readonly tone?: 'warn' | 'bad' | undefined;
}

export function tile(label: string, value: number, tone?: Tile['tone']): Tile {
  return { label, text: count(value), tone: value > 0 ? tone : undefined };
}

export function tileRow(tiles: readonly Tile[]): HTMLElement {
  return h(
    'dl',
    { class: 'tiles' },
    tiles.map(({ label, text, tone }) =>
      h('div', { class: tone }, h('dt', {}, label), h('dd', {}, text)),
    ),
  );
}

export function numberCell(value: number, kind = ''): HTMLElement {
  return value === 0 ? textCell('–', kind.replace(/warn|bad/, '')) : textCell(count(value), kind);
}

/** An already formatted number, or a dash for none. */
export function textCell(text: string, kind = ''): HTMLElement {
  return h('td', { class: `number ${kind} ${text === '–' ? 'none' : ''}` }, text);
}

export function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
