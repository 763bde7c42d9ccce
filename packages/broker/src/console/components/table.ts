/**
 * Tables: a caption for screen readers, sortable headers, and pages, so that a thousand rows are as fast and as reachable
 * by keyboard as ten.
 */

import { type Child, h } from './dom.ts';
import { exactCount } from './format.ts';

export interface Column {
  readonly title: string;
  /** `number` columns are right-aligned; `wider` ones are hidden on medium and small screens, `wide` ones on small. */
  readonly class?: string;
  /** The key to sort the rows by; without it, the column is not sortable. */
  readonly sortKey?: string;
}

export interface Sorting {
  readonly key: string;
  readonly isDescending: boolean;
}

export function table(
  caption: string,
  columns: readonly Column[],
  rows: readonly Child[],
  sorting?: { readonly by: Sorting; readonly choose: (key: string) => void },
): HTMLElement {
  const head = columns.map((column) => {
    const { title, sortKey } = column;
    if (sortKey === undefined || sorting === undefined) {
      return h('th', { scope: 'col', class: column.class }, title);
    }
    const isBy = sorting.by.key === sortKey;
    const direction = sorting.by.isDescending ? 'descending' : 'ascending';
    return h(
      'th',
      { scope: 'col', class: column.class, 'aria-sort': isBy ? direction : undefined },
      h(
        'button',
        { type: 'button', class: 'sort', onclick: () => sorting.choose(sortKey) },
        title,
        h('span', { class: 'arrow', 'aria-hidden': 'true' }, isBy ? arrow(sorting.by) : ''),
      ),
    );
  });
  const content = h(
    'table',
    {},
    h('caption', { class: 'unseen' }, caption),
    h('thead', {}, h('tr', {}, head)),
    h('tbody', {}, rows),
  );
  // On small screens the table scrolls, so it must be focusable by keyboard unless something inside it is.
  const isReachable = content.querySelector('a, button, pre') !== null;
  const reach = isReachable ? {} : { tabindex: 0, role: 'region', 'aria-label': caption };
  return h('div', { class: 'scroll', ...reach }, content);
}

/** What an empty cell shows. */
export function none(): HTMLElement {
  return h('span', { class: 'muted' }, '–');
}

function arrow({ isDescending }: Sorting): string {
  return isDescending ? '↓' : '↑';
}

export interface Pages {
  readonly what: string;
  readonly page: number;
  readonly size: number;
  readonly total: number;
  readonly go: (page: number) => void;
}

/** Shows nothing if there is only one page. */
export function pager({ what, page, size, total, go }: Pages): Child {
  const last = Math.max(0, Math.ceil(total / size) - 1);
  if (last === 0) return undefined;
  const from = exactCount(page * size + 1);
  const to = exactCount(Math.min(total, (page + 1) * size));
  return h(
    'nav',
    { class: 'pager', 'aria-label': `Pages of ${what}` },
    turn('Previous', page === 0, () => go(page - 1)),
    h('span', {}, `${from}–${to} of ${exactCount(total)}`),
    turn('Next', page === last, () => go(page + 1)),
  );
}

/** For lists of unknown length: forward, and back to the start. */
export function cursorPager(
  what: string,
  at: { readonly isFirst: boolean; readonly hasNext: boolean },
  go: (where: 'first' | 'next') => void,
): Child {
  if (at.isFirst && !at.hasNext) return undefined;
  return h(
    'nav',
    { class: 'pager', 'aria-label': `Pages of ${what}` },
    turn('First', at.isFirst, () => go('first')),
    turn('Next', !at.hasNext, () => go('next')),
  );
}

/** Not `disabled`, which would take focus away from a user who has just reached the last page. */
function turn(text: string, isOver: boolean, onclick: () => void): HTMLElement {
  return h(
    'button',
    {
      type: 'button',
      'aria-disabled': isOver ? 'true' : undefined,
      onclick: () => {
        if (!isOver) onclick();
      },
    },
    text,
  );
}
