/**
 * The first page: every queue with its counts, rates, oldest age and blocked groups, and every topic. All queues are in the
 * page's memory, for searching and sorting; only one page of rows is on the screen.
 */

import type { Activity, Overview, QueueCounts, TopicCounts } from './answers.ts';
import type { App, View } from './app.ts';
import { sparkline } from './charts.ts';
import { type Child, h } from './dom.ts';
import { count, duration, exactCount, plural, rate } from './format.ts';
import { queueLink, topicLink } from './route.ts';
import { look } from './server.ts';
import { type Column, pager, type Sorting, table } from './table.ts';

const rowsPerPage = 50;
const queuesPerAnswer = 1_000;
/** Queues beyond this many are found by the beginning of their names. */
const queuesMax = 10_000;

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
  { title: 'In /s', class: 'number wide', sortKey: 'in' },
  { title: 'Out /s', class: 'number wide', sortKey: 'out' },
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

// Outlives the view, so that coming back from a queue finds the list as it was left.
let search = '';
let sorting: Sorting = { key: 'name', isDescending: false };
let page = 0;

export function overviewView(app: App): View {
  let first: Overview | undefined;
  let queues: readonly QueueCounts[] = [];
  let isCut = false;

  async function load(): Promise<void> {
    const all: QueueCounts[] = [];
    let after = '';
    let opening: Overview | undefined;
    do {
      const prefix = isCut ? search : '';
      const query = new URLSearchParams({ limit: String(queuesPerAnswer), after, prefix });
      const answer = await look<Overview>(`overview?${query}`);
      opening ??= answer;
      all.push(...answer.queues);
      after = answer.next ?? '';
    } while (after !== '' && all.length < queuesMax);
    first = opening;
    app.learn(opening);
    queues = all;
    isCut ||= after !== '';
  }

  function render(): Child {
    if (first === undefined) return undefined;
    const found = sorted(queues.filter(({ name }) => name.includes(search)));
    page = Math.min(page, Math.max(0, Math.ceil(found.length / rowsPerPage) - 1));
    const shown = found.slice(page * rowsPerPage, (page + 1) * rowsPerPage);
    return [
      h('h1', { class: 'unseen', tabindex: -1 }, 'Queues and topics'),
      first.unavailable !== null &&
        h('p', { class: 'notice bad', role: 'alert' }, `Changes are refused: ${first.unavailable}`),
      summary(queues, first.topics),
      h(
        'section',
        { 'aria-labelledby': 'queues-title' },
        h(
          'div',
          { class: 'heading' },
          h(
            'h2',
            { id: 'queues-title' },
            'Queues ',
            h('span', { class: 'total' }, exactCount(queues.length)),
          ),
          queues.length > 0 && searchField(app),
        ),
        isCut &&
          h(
            'p',
            { class: 'hint' },
            `The first ${exactCount(queuesMax)} queues. Search for the beginning of a name to find others.`,
          ),
        queues.length === 0
          ? noQueues()
          : table(
              'Queues with their counts and rates',
              columns,
              shown.map((row) => queueRow(app, row)),
              {
                by: sorting,
                choose: (key) => choose(app, key),
              },
            ),
        queues.length > 0 &&
          found.length === 0 &&
          h('p', { class: 'hint' }, `No queue has “${search}” in its name.`),
        pager({
          what: 'queues',
          page,
          size: rowsPerPage,
          total: found.length,
          go: (next) => {
            page = next;
            app.repaint();
          },
        }),
      ),
      topics(first.topics),
      h('footer', { class: 'about' }, about(first)),
    ];
  }

  return { title: 'Queues and topics', load, render };
}

function summary(queues: readonly QueueCounts[], all: readonly TopicCounts[]): Child {
  const sum = (value: (row: QueueCounts) => number): number =>
    queues.reduce((total, row) => total + value(row), 0);
  const suppressed = sum(({ activity }) => (activity?.suppressed ?? []).reduce((a, b) => a + b, 0));
  const tiles: readonly [label: string, value: string, tone: string][] = [
    ['Visible', count(sum((row) => row.visible)), ''],
    ['In flight', count(sum((row) => row.inFlight)), ''],
    ['Delayed', count(sum((row) => row.delayed)), ''],
    ['Blocked groups', count(sum((row) => row.blockedGroups)), ''],
    ['In the windows', count(sum((row) => row.dedupEntries)), ''],
    ['Suppressed, 5 min', count(suppressed), suppressed > 0 ? 'warn' : ''],
    ['Failed deliveries', count(all.reduce((total, row) => total + row.failedDeliveries, 0)), ''],
  ];
  return h(
    'dl',
    { class: 'tiles' },
    tiles.map(([label, value, tone]) =>
      h('div', { class: tone }, h('dt', {}, label), h('dd', {}, value)),
    ),
  );
}

function searchField(app: App): HTMLElement {
  return h('input', {
    type: 'search',
    placeholder: 'Find a queue',
    'aria-label': 'Find a queue by its name',
    value: search,
    oninput: (event) => {
      search = (event.target as HTMLInputElement).value;
      page = 0;
      app.repaint();
      app.refresh();
    },
  });
}

function choose(app: App, key: string): void {
  // The greatest number first, names from a to z; the same again turns it round.
  const isDescending = sorting.key === key ? !sorting.isDescending : key !== 'name';
  sorting = { key, isDescending };
  page = 0;
  app.repaint();
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
  const total = (list: readonly number[]): number => list.reduce((sum, part) => sum + part, 0);
  const label = `${plural(total(sent), 'send')} accepted and ${exactCount(total(suppressed))} suppressed`;
  return h(
    'tr',
    { key: name },
    h(
      'th',
      { scope: 'row' },
      h('a', { href: queueLink(name) }, name),
      fifo && h('span', { class: 'tag' }, 'FIFO'),
    ),
    number(row.visible),
    number(row.inFlight),
    number(row.delayed, 'wide'),
    cell(oldestSentAt === null ? '–' : duration(app.now() - oldestSentAt)),
    number(groups, 'wide'),
    number(blockedGroups, 'warn'),
    cell(rate(sentPerSecond), 'wide'),
    cell(rate(deletedPerSecond), 'wide'),
    h('td', { class: 'wide' }, sparkline(sent, suppressed, label)),
  );
}

function number(value: number, kind = ''): HTMLElement {
  return cell(value === 0 ? '–' : count(value), kind);
}

/** A quiet queue is quiet to look at. */
function cell(text: string, kind = ''): HTMLElement {
  return h(
    'td',
    { class: `number ${text === '–' ? `${kind.replace(/warn|bad/, '')} none` : kind}` },
    text,
  );
}

function noQueues(): HTMLElement {
  const url = new URL('../', document.baseURI).href.replace(/\/$/, '');
  return h(
    'div',
    { class: 'empty' },
    h('p', {}, 'There is no queue yet. With the AWS CLI:'),
    h(
      'pre',
      {},
      `aws --endpoint-url ${url} sqs create-queue --queue-name hello.fifo \\\n    --attributes FifoQueue=true,ContentBasedDeduplication=true`,
    ),
  );
}

function topics(rows: readonly TopicCounts[]): Child {
  if (rows.length === 0) return undefined;
  const heads: readonly Column[] = [
    { title: 'Topic' },
    { title: 'Subscriptions', class: 'number' },
    { title: 'In the window', class: 'number' },
    { title: 'Archived', class: 'number wide' },
    { title: 'Failed deliveries', class: 'number' },
  ];
  return h(
    'section',
    { 'aria-labelledby': 'topics-title' },
    h(
      'div',
      { class: 'heading' },
      h(
        'h2',
        { id: 'topics-title' },
        'Topics ',
        h('span', { class: 'total' }, exactCount(rows.length)),
      ),
    ),
    table(
      'Topics with their counts',
      heads,
      rows.map(({ name, fifo, subscriptions, dedupEntries, archived, failedDeliveries }) =>
        h(
          'tr',
          { key: name },
          h(
            'th',
            { scope: 'row' },
            h('a', { href: topicLink(name) }, name),
            fifo && h('span', { class: 'tag' }, 'FIFO'),
          ),
          number(subscriptions),
          number(dedupEntries),
          number(archived, 'wide'),
          number(failedDeliveries, 'bad'),
        ),
      ),
    ),
  );
}

function about({ version, storage, region, account, clock }: Overview): string {
  return `OnceMQ ${version} · storage ${storage} · ${clock} clock · ${region} · ${account}`;
}
