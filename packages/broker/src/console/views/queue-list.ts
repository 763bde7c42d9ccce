/**
 * The list of queues, searchable by part of a name, sortable by any column, and paged. For that, all queues are in the
 * browser's memory; only the rows of the current page are rendered.
 */

import type { Activity, QueueCounts } from '../app/answers.ts';
import type { App } from '../app/app.ts';
import { queueLink } from '../app/route.ts';
import { sparkline } from '../components/charts.ts';
import { type Child, h } from '../components/dom.ts';
import { duration, exactCount, plural, rate } from '../components/format.ts';
import { numberCell, sum, textCell } from '../components/numbers.ts';
import { type Column, pager, type Sorting, table } from '../components/table.ts';

const rowsPerPage = 50;

const quiet: Activity = {
  sentPerSecond: 0,
  suppressedPerSecond: 0,
  deliveredPerSecond: 0,
  deletedPerSecond: 0,
  sent: new Array<number>(30).fill(0),
  suppressed: new Array<number>(30).fill(0),
};

const columns: readonly Column[] = [
  { title: 'Queue', sortKey: 'name' },
  { title: 'Visible', class: 'number', sortKey: 'visible' },
  { title: 'In flight', class: 'number', sortKey: 'inFlight' },
  { title: 'Delayed', class: 'number wide', sortKey: 'delayed' },
  { title: 'Oldest', class: 'number', sortKey: 'oldest' },
  { title: 'Groups', class: 'number wide', sortKey: 'groups' },
  { title: 'Blocked', class: 'number', sortKey: 'blocked' },
  { title: 'In /s', class: 'number wider', sortKey: 'in' },
  { title: 'Out /s', class: 'number wider', sortKey: 'out' },
  { title: 'Last 5 minutes', class: 'wide' },
];

const sortValues: Readonly<Record<string, (row: QueueCounts) => number>> = {
  visible: (row) => row.visible,
  inFlight: (row) => row.inFlight,
  delayed: (row) => row.delayed,
  // The oldest message was sent first.
  oldest: (row) => -(row.oldestSentAt ?? Number.MAX_SAFE_INTEGER),
  groups: (row) => row.groups,
  blocked: (row) => row.blockedGroups,
  in: (row) => row.activity?.sentPerSecond ?? 0,
  out: (row) => row.activity?.deletedPerSecond ?? 0,
};

// Outlives the view, so that the list is as it was when the user comes back from a queue.
let search = '';
let sorting: Sorting = { key: 'name', isDescending: false };
let page = 0;

/** The current search text. */
export function queueSearch(): string {
  return search;
}

export function queueList(app: App, queues: readonly QueueCounts[]): Child {
  const found = sorted(queues.filter(({ name }) => name.includes(search)));
  page = Math.min(page, Math.max(0, Math.ceil(found.length / rowsPerPage) - 1));
  const shown = found.slice(page * rowsPerPage, (page + 1) * rowsPerPage);
  const choose = (key: string): void => {
    // Largest numbers first, names from a to z; choosing the same column again reverses the order.
    const isDescending = sorting.key === key ? !sorting.isDescending : key !== 'name';
    sorting = { key, isDescending };
    page = 0;
    app.repaint();
  };
  const go = (next: number): void => {
    page = next;
    app.repaint();
  };
  const rows = shown.map((row) => queueRow(app, row));
  return [
    table('Queues with their counts and rates', columns, rows, { by: sorting, choose }),
    found.length === 0 && h('p', { class: 'hint' }, `No queue name contains “${search}”.`),
    pager({ what: 'queues', page, size: rowsPerPage, total: found.length, go }),
  ];
}

export function queueSearchField(app: App): HTMLElement {
  return h('input', {
    type: 'search',
    placeholder: 'Find a queue',
    'aria-label': 'Find a queue by name',
    value: search,
    oninput: (event) => {
      search = (event.target as HTMLInputElement).value;
      page = 0;
      app.repaint();
      app.refresh();
    },
  });
}

function sorted(rows: readonly QueueCounts[]): QueueCounts[] {
  const value = sortValues[sorting.key];
  const sign = sorting.isDescending ? -1 : 1;
  return rows.toSorted(
    (a, b) =>
      (value === undefined ? sign * compare(a, b) : sign * (value(a) - value(b))) || compare(a, b),
  );
}

function compare(a: QueueCounts, b: QueueCounts): number {
  return a.name < b.name ? -1 : a.name > b.name ? 1 : 0;
}

function queueRow(app: App, row: QueueCounts): HTMLElement {
  const { name, fifo, oldestSentAt, groups, blockedGroups, activity } = row;
  const { sent, suppressed, sentPerSecond, deletedPerSecond } = activity ?? quiet;
  const label = `${plural(sum(sent), 'send')} accepted and ${exactCount(sum(suppressed))} suppressed`;
  return h(
    'tr',
    { key: name },
    h(
      'th',
      { scope: 'row' },
      h('a', { href: queueLink(name) }, name),
      fifo && h('span', { class: 'tag' }, 'FIFO'),
    ),
    numberCell(row.visible),
    numberCell(row.inFlight),
    numberCell(row.delayed, 'wide'),
    textCell(oldestSentAt === null ? '–' : duration(app.now() - oldestSentAt)),
    numberCell(groups, 'wide'),
    numberCell(blockedGroups, 'warn'),
    textCell(rate(sentPerSecond), 'wider'),
    textCell(rate(deletedPerSecond), 'wider'),
    h('td', { class: 'wide' }, sparkline(sent, suppressed, label)),
  );
}
