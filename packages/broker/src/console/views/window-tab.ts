/**
 * The deduplication window of a queue: the timeline, a search, and the newest sends, each with its time left in the
 * window. A suppressed send opens beside its original. Expired entries stay for a moment, marked as expired, so that a
 * user who moves the clock sees them leave.
 */

import type { Send, Window, WindowRow } from '../app/answers.ts';
import type { App } from '../app/app.ts';
import { queueLink } from '../app/route.ts';
import { look, Refused, resourcePath } from '../app/server.ts';
import { type Child, h } from '../components/dom.ts';
import { exactCount } from '../components/format.ts';
import { sum } from '../components/numbers.ts';
import { pager, table } from '../components/table.ts';
import { timeline } from '../components/timeline.ts';
import { comparison, comparisonTitleId } from './comparison.ts';
import type { TabView } from './queue.ts';
import { rowKey, windowColumns, windowRow } from './window-rows.ts';

type Filter = 'all' | 'suppressed' | 'collisions' | 'violations';

const filters: readonly { readonly name: Filter; readonly text: string }[] = [
  { name: 'all', text: 'All' },
  { name: 'suppressed', text: 'Suppressed' },
  { name: 'collisions', text: 'Collisions' },
  { name: 'violations', text: 'Violations' },
];

const rowsMax = 200;
const rowsPerPage = 50;
/** The search is part of the URL, of which servers accept 16 KiB; a character can take nine bytes there. */
const searchCharsMax = 1_000;
const leavingMax = 50;
const leavingMs = 3_000;

export function windowTab(app: App, name: string): TabView {
  let window: Window | undefined;
  let send: Send | undefined;
  /** Why the requested send cannot be shown. */
  let missing: string | undefined;
  let chosen: readonly string[] = [];
  let search = '';
  let filter: Filter = 'all';
  let page = 0;
  /** Where focus moves once the chosen send is on the page, and where it was when it was chosen. */
  let nextFocus: { readonly to: string; readonly from: Element | null } | undefined;
  let leaving: { readonly row: WindowRow; readonly until: number }[] = [];

  async function load(): Promise<void> {
    const query = new URLSearchParams({ limit: String(rowsMax), search });
    const [sequence] = chosen;
    const [next, nextSend] = await Promise.all([
      look<Window>(resourcePath('queues', name, `window?${query}`)),
      sequence === undefined ? undefined : loadSend(sequence),
    ]);
    noteLeaving(next);
    window = next;
    send = nextSend;
    if (nextFocus !== undefined) focusOncePainted(nextFocus);
    nextFocus = undefined;
  }

  async function loadSend(sequence: string): Promise<Send | undefined> {
    try {
      missing = undefined;
      const query = new URLSearchParams(namesOf(sequence));
      const path = `window/${encodeURIComponent(sequence)}?${query}`;
      return await look<Send>(resourcePath('queues', name, path));
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      missing = error.message;
      return undefined;
    }
  }

  /** With its id and group, a send is found however old it is, even if the list no longer shows it. */
  function namesOf(sequence: string): Record<'id' | 'group', string> {
    if (send !== undefined && String(send.original.sequence) === sequence) {
      return { id: send.id, group: send.original.groupId ?? '' };
    }
    const row = window?.rows.find((each) => String(each.sequence) === sequence);
    return { id: row?.id ?? '', group: row?.groupId ?? '' };
  }

  /** Notes the entries that have left the window since the last load. */
  function noteLeaving(next: Window): void {
    const there = new Set(next.rows.map(rowKey));
    const gone = (window?.rows ?? []).filter(
      (row) =>
        row.kind === 'accepted' && (row.expiresAt ?? 0) <= next.now && !there.has(rowKey(row)),
    );
    const until = performance.now() + leavingMs;
    leaving = [
      ...gone.map((row) => ({ row, until })),
      ...leaving.filter((each) => each.until > performance.now()),
    ].slice(0, leavingMax);
  }

  function compare(row: WindowRow): void {
    location.hash = linkOf(row);
  }

  function linkOf({ sequence = 0, number }: WindowRow): string {
    return number === undefined
      ? queueLink(name, 'window', sequence)
      : queueLink(name, 'window', sequence, number);
  }

  function render(): Child {
    if (window === undefined) return undefined;
    const number = chosen[1] === undefined ? undefined : Number(chosen[1]);
    return [
      timeline(window, compare),
      missing !== undefined && h('p', { class: 'notice', key: 'missing' }, missing),
      send !== undefined && comparison(app, name, send, number),
      tools(window),
      list(window),
    ];
  }

  function tools({ searched }: Window): HTMLElement {
    return h(
      'div',
      { class: 'tools', key: 'tools' },
      h(
        'div',
        { class: 'choice', role: 'group', 'aria-label': 'Sends to show' },
        filters.map((each) =>
          h(
            'button',
            {
              type: 'button',
              'aria-pressed': String(each.name === filter),
              onclick: () => {
                filter = each.name;
                page = 0;
                app.repaint();
              },
            },
            each.text,
          ),
        ),
      ),
      h('input', {
        type: 'search',
        placeholder: 'Id, key, group or body hash',
        'aria-label': 'Search by id, key, group, body hash or words in the body',
        maxlength: searchCharsMax,
        value: search,
        oninput: (event) => {
          search = (event.target as HTMLInputElement).value.trim();
          page = 0;
          app.refresh();
        },
      }),
      searched !== null &&
        !searched.isAll &&
        h(
          'p',
          { class: 'hint' },
          `Only the newest ${exactCount(searched.entries)} sends were searched. `,
          searched.hasOlderIds
            ? 'A complete deduplication id is found however old it is.'
            : 'For an older id, use oncemq queue explain with its group.',
        ),
    );
  }

  function list({ rows, accepted, suppressed, collisions, violations }: Window): Child {
    const shown = rows.filter(isShown).slice(0, filter === 'all' ? rowsMax : undefined);
    const totals: Record<Filter, number> = {
      all: sum(accepted) + sum(suppressed) + sum(violations),
      suppressed: sum(suppressed),
      collisions: sum(collisions),
      violations: sum(violations),
    };
    page = Math.min(page, Math.max(0, Math.ceil(shown.length / rowsPerPage) - 1));
    const going = leaving.filter(({ row, until }) => isShown(row) && until > performance.now());
    if (shown.length + going.length === 0) {
      const isEmpty = rows.length === 0 && search === '' && filter === 'all';
      return h(
        'p',
        { class: 'empty', key: 'none' },
        isEmpty
          ? 'The window is empty: any message sent now will be accepted.'
          : 'No matching sends in the window.',
      );
    }
    return [
      table('Sends in the deduplication window, newest first', windowColumns, [
        ...shown.slice(page * rowsPerPage, (page + 1) * rowsPerPage).map((row) => rowOf(row)),
        ...going.map(({ row }) => rowOf(row, true)),
      ]),
      pager({
        what: 'sends',
        page,
        size: rowsPerPage,
        total: shown.length,
        go: (next) => {
          page = next;
          app.repaint();
        },
      }),
      search === '' &&
        shown.length < totals[filter] &&
        h(
          'p',
          { class: 'hint' },
          `Showing ${exactCount(shown.length)} of ${exactCount(totals[filter])}. Search to find the others.`,
        ),
    ];
  }

  function isShown({ kind, collision }: WindowRow): boolean {
    if (filter === 'suppressed') return kind === 'suppressed';
    if (filter === 'collisions') return collision === true;
    return filter === 'violations' ? kind === 'violation' : true;
  }

  function rowOf(row: WindowRow, isLeaving = false): HTMLElement {
    const link = linkOf(row);
    const isChosen = link === queueLink(name, 'window', ...chosen);
    return windowRow(row, { link, now: app.now(), isChosen, isLeaving });
  }

  return {
    open: (next) => {
      if (next.join('/') === chosen.join('/')) return;
      // Focus moves into the opened send, and back to its row when it is closed.
      const row = `tbody a[href="${queueLink(name, 'window', ...chosen)}"]`;
      const to = next.length > 0 ? `#${comparisonTitleId}` : row;
      nextFocus = { to, from: document.activeElement };
      chosen = next;
      // The content shown belongs to another send.
      if (send !== undefined && String(send.original.sequence) !== next[0]) send = undefined;
      missing = undefined;
    },
    load,
    render,
  };
}

/** The view is painted in the next frame, so the element exists after it. If focus has moved meanwhile, it stays. */
function focusOncePainted({ to, from }: { to: string; from: Element | null }): void {
  requestAnimationFrame(() =>
    requestAnimationFrame(() => {
      if (![from, document.body].includes(document.activeElement)) return;
      const element = document.querySelector<HTMLElement>(to);
      element?.focus({ preventScroll: true });
      element?.scrollIntoView({ block: 'nearest' });
    }),
  );
}
