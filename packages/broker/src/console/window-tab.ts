/**
 * The deduplication window of a queue: the timeline, a search, and the newest sends one by one, each with the time it has
 * left in the window. A suppressed one opens beside its original. Entries whose time is over stay a moment, marked as
 * expired, so that whoever moves the clock sees them go.
 */

import type { Send, Window, WindowRow } from './answers.ts';
import type { App } from './app.ts';
import { comparison, comparisonTitleId } from './comparison.ts';
import { type Child, h, svg } from './dom.ts';
import { dayAndTime, duration, exactCount, shortId, timeOfDay } from './format.ts';
import type { TabView } from './queue.ts';
import { queueLink } from './route.ts';
import { look, placePath, Refused } from './server.ts';
import { pager, table } from './table.ts';
import { timeline } from './timeline.ts';

type Filter = 'all' | 'suppressed' | 'collisions' | 'violations';

const filters: readonly { readonly name: Filter; readonly text: string }[] = [
  { name: 'all', text: 'All' },
  { name: 'suppressed', text: 'Suppressed' },
  { name: 'collisions', text: 'Collisions' },
  { name: 'violations', text: 'Violations' },
];

const rowsMax = 200;
const rowsPerPage = 50;
const leavingMax = 50;
const leavingMs = 3_000;

export function windowTab(app: App, name: string): TabView {
  let window: Window | undefined;
  let send: Send | undefined;
  /** Why the send that is asked for cannot be shown. */
  let missing: string | undefined;
  let chosen: readonly string[] = [];
  let search = '';
  let filter: Filter = 'all';
  let page = 0;
  /** Where the focus goes once what was chosen is on the page. */
  let nextFocus: string | undefined;
  let leaving: { readonly row: WindowRow; readonly until: number }[] = [];

  async function load(): Promise<void> {
    const query = new URLSearchParams({ limit: String(rowsMax), search });
    const [sequence] = chosen;
    const [next, nextSend] = await Promise.all([
      look<Window>(placePath('queues', name, `window?${query}`)),
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
      return await look<Send>(placePath('queues', name, `window/${encodeURIComponent(sequence)}`));
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      missing = error.message;
      return undefined;
    }
  }

  /** What was in the window and is over now. */
  function noteLeaving(next: Window): void {
    const there = new Set(next.rows.map(keyOf));
    const gone = (window?.rows ?? []).filter(
      (row) =>
        row.kind === 'accepted' && (row.expiresAt ?? 0) <= next.now && !there.has(keyOf(row)),
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
        { class: 'choice', role: 'group', 'aria-label': 'Which sends' },
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
        'aria-label': 'Search by id, key, group, body hash or words of the body',
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
          `Only the newest ${exactCount(searched.entries)} sends were searched; an id is found wherever it is.`,
        ),
    );
  }

  function list({ rows, accepted }: Window): Child {
    const shown = rows.filter(isShown);
    page = Math.min(page, Math.max(0, Math.ceil(shown.length / rowsPerPage) - 1));
    const going = leaving.filter(({ row, until }) => isShown(row) && until > performance.now());
    if (shown.length + going.length === 0) {
      const isEmpty = rows.length === 0 && search === '' && filter === 'all';
      return h(
        'p',
        { class: 'empty', key: 'none' },
        isEmpty
          ? 'The window is empty: whatever is sent now is accepted.'
          : 'No such send in the window.',
      );
    }
    const total = accepted.reduce((sum, value) => sum + value, 0);
    return [
      table(
        'Sends in the deduplication window, newest first',
        [
          { title: 'When' },
          { title: 'What' },
          { title: 'Deduplication id' },
          { title: 'Group', class: 'wide' },
          { title: 'Message', class: 'wide' },
          { title: 'Window' },
        ],
        [
          ...shown.slice(page * rowsPerPage, (page + 1) * rowsPerPage).map((row) => rowOf(row)),
          ...going.map(({ row }) => rowOf(row, true)),
        ],
      ),
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
        rows.length >= rowsMax &&
        total > rowsMax &&
        h(
          'p',
          { class: 'hint' },
          `The newest ${exactCount(rows.length)}. Search finds the others.`,
        ),
    ];
  }

  function isShown({ kind, collision }: WindowRow): boolean {
    if (filter === 'suppressed') return kind === 'suppressed';
    if (filter === 'collisions') return collision === true;
    return filter === 'violations' ? kind === 'violation' : true;
  }

  function rowOf(row: WindowRow, isLeaving = false): HTMLElement {
    const { at, kind, id, groupId, messageId } = row;
    const isChosen =
      chosen[0] === String(row.sequence) && (chosen[1] ?? '') === String(row.number ?? '');
    const tone = row.collision === true || kind === 'violation' ? 'bad' : kind;
    return h(
      'tr',
      { key: keyOf(row), class: `${tone} ${isLeaving ? 'leaving' : ''} ${isChosen ? 'open' : ''}` },
      h('td', { title: dayAndTime(at) }, timeOfDay(at)),
      h('td', {}, isLeaving ? h('span', { class: 'state' }, 'Expired') : what(row)),
      kind === 'violation'
        ? h('td', { class: 'text' }, row.reason ?? '')
        : h(
            'td',
            {},
            h('code', { title: id }, h('bdi', {}, shortId(id ?? ''))),
            row.source === 'content' && h('span', { class: 'tag' }, 'hash'),
          ),
      h('td', { class: 'wide' }, groupId === null ? '–' : h('bdi', {}, groupId)),
      h(
        'td',
        { class: 'wide' },
        messageId === undefined ? '–' : h('code', { title: messageId }, shortId(messageId)),
      ),
      h('td', {}, rest(row)),
    );
  }

  function what(row: WindowRow): Child {
    switch (row.kind) {
      case 'accepted': {
        const count = row.suppressed ?? 0;
        return [
          h('a', { class: 'state ready', href: linkOf(row) }, 'Accepted'),
          count > 0 && h('span', { class: 'muted' }, `, ${exactCount(count)} suppressed`),
        ];
      }
      case 'suppressed':
        return h(
          'a',
          { class: row.collision ? 'state collision' : 'state suppressed', href: linkOf(row) },
          row.collision ? 'Collision' : 'Suppressed',
        );
      case 'violation':
        return [
          h('span', { class: 'state collision' }, 'Violation'),
          h(
            'span',
            { class: 'muted' },
            ` ${row.rule ?? ''}${row.mode === 'reject' ? ', refused' : ''}`,
          ),
        ];
    }
  }

  /** What is left of its time; or what of it differed. */
  function rest(row: WindowRow): Child {
    if (row.kind === 'violation') return '–';
    if (row.kind === 'suppressed') {
      const { differed = [], originalAt = row.at } = row;
      const after = `${duration(row.at - originalAt)} after the original`;
      return differed.length === 0
        ? `${after}, the same`
        : [`${after}, `, h('strong', {}, `other ${differed.join(' and ')}`)];
    }
    const left = (row.expiresAt ?? 0) - app.now();
    if (left <= 0) return 'over';
    return [remaining(left / ((row.expiresAt ?? 0) - row.at)), ` ${duration(left)} left`];
  }

  return {
    open: (next) => {
      if (next.join('/') === chosen.join('/')) return;
      // Into what opens; and when it is closed, back to the row it was opened from.
      const from = queueLink(name, 'window', ...chosen);
      nextFocus = next.length > 0 ? `#${comparisonTitleId}` : `tbody a[href="${from}"]`;
      chosen = next;
      // What was shown belongs to another send.
      if (send !== undefined && String(send.original.sequence) !== next[0]) send = undefined;
      missing = undefined;
    },
    load,
    render,
  };
}

/** The view is painted with the next frame; after it the element is there. */
function focusOncePainted(selector: string): void {
  requestAnimationFrame(() =>
    requestAnimationFrame(() => {
      const element = document.querySelector<HTMLElement>(selector);
      element?.focus({ preventScroll: true });
      element?.scrollIntoView({ block: 'nearest' });
    }),
  );
}

function keyOf({ kind, sequence, number, at, reason }: WindowRow): string {
  return kind === 'violation' ? `v${at}${reason}` : `${kind}${sequence}/${number ?? ''}`;
}

/** A bar that runs out. */
function remaining(part: number): Element {
  const width = 48;
  return svg(
    'svg',
    { class: 'remaining', viewBox: `0 0 ${width} 6`, 'aria-hidden': 'true' },
    svg('rect', { class: 'track', width, height: 6, rx: 3 }),
    svg('rect', {
      class: 'left',
      width: Math.max(3, Math.min(1, part) * width).toFixed(1),
      height: 6,
      rx: 3,
    }),
  );
}
