/**
 * Numbers on the page: the tiles at the top of a view, and the cells of tables. What is nothing is quiet, and what asks for
 * attention has a tone.
 */

import { h } from './dom.ts';
import { count } from './format.ts';

export interface Tile {
  readonly label: string;
  readonly text: string;
  /** For a value that somebody should look at. */
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

/** A number that is a text already, or a dash for none. */
export function textCell(text: string, kind = ''): HTMLElement {
  return h('td', { class: `number ${kind} ${text === '–' ? 'none' : ''}` }, text);
}

export function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
