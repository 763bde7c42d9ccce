/**
 * The first page: totals over all queues and topics, every queue with its counts, rates, age of the oldest message and
 * blocked groups, and every topic.
 */

import type { Overview, QueueCounts } from '../app/answers.ts';
import type { App, View } from '../app/app.ts';
import { storeLink, topicLink } from '../app/route.ts';
import { look } from '../app/server.ts';
import { type Child, h } from '../components/dom.ts';
import { duration, exactCount, plural } from '../components/format.ts';
import { numberCell, sum, tile, tileRow } from '../components/numbers.ts';
import { pager, table } from '../components/table.ts';
import { queueList, queueSearch, queueSearchField } from './queue-list.ts';

/** How far back the server counts, if it has been counting that long. */
const countedMs = 300_000;
const queuesPerAnswer = 1_000;
/** Queues beyond this number are only found by the beginning of their names. */
const queuesMax = 10_000;
const topicsPerPage = 50;

export function overviewView(app: App): View {
  let first: Overview | undefined;
  let queues: readonly QueueCounts[] = [];
  let isCut = false;

  async function load(): Promise<void> {
    const all: QueueCounts[] = [];
    const prefix = isCut ? queueSearch() : '';
    let after = '';
    let opening: Overview | undefined;
    do {
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
    const hasQueues = queues.length > 0;
    return [
      h('h1', { class: 'unseen', tabindex: -1 }, 'Queues and topics'),
      first.unavailable !== null &&
        h('p', { class: 'notice bad', role: 'alert' }, `Changes are refused: ${first.unavailable}`),
      summary(queues, first),
      h(
        'section',
        { 'aria-labelledby': 'queues-title' },
        heading('queues-title', 'Queues', queues.length, hasQueues && queueSearchField(app)),
        isCut &&
          h(
            'p',
            { class: 'hint' },
            `Showing the first ${exactCount(queuesMax)} queues. To find others, search for the beginning of a name.`,
          ),
        hasQueues ? queueList(app, queues) : noQueues(),
      ),
      first.topics.length > 0 && topicList(app, first),
      h('footer', { class: 'about' }, about(first)),
    ];
  }

  return { title: 'Queues and topics', load, render };
}

function summary(
  queues: readonly QueueCounts[],
  { topics, now, watchedSince }: Overview,
): HTMLElement {
  const all = (value: (row: QueueCounts) => number): number => sum(queues.map(value));
  return tileRow([
    tile(
      'Visible',
      all((row) => row.visible),
    ),
    tile(
      'In flight',
      all((row) => row.inFlight),
    ),
    tile(
      'Delayed',
      all((row) => row.delayed),
    ),
    tile(
      'Blocked groups',
      all((row) => row.blockedGroups),
    ),
    tile(
      'Dedup windows',
      all((row) => row.dedupEntries),
    ),
    tile(
      `Suppressed in ${duration(Math.min(countedMs, now - watchedSince))}`,
      all(({ activity }) => sum(activity?.suppressed ?? [])),
      'warn',
    ),
    tile('Failed deliveries', sum(topics.map((row) => row.failedDeliveries)), 'bad'),
  ]);
}

function heading(id: string, title: string, total: number, tools?: Child): HTMLElement {
  const shown = h('span', { class: 'total' }, exactCount(total));
  return h('div', { class: 'heading' }, h('h2', { id }, title, ' ', shown), tools);
}

function noQueues(): HTMLElement {
  const url = new URL('../', document.baseURI).href.replace(/\/$/, '');
  return h(
    'div',
    { class: 'empty' },
    h('p', {}, 'There are no queues yet. Create one with the AWS CLI:'),
    h(
      'pre',
      {},
      `aws --endpoint-url ${url} sqs create-queue --queue-name hello.fifo \\\n    --attributes FifoQueue=true,ContentBasedDeduplication=true`,
    ),
  );
}

// Outlives the view, like the search in the list of queues.
let topicPage = 0;

function topicList(app: App, { topics, hasMoreTopics }: Overview): HTMLElement {
  topicPage = Math.min(topicPage, Math.ceil(topics.length / topicsPerPage) - 1);
  const shown = topics.slice(topicPage * topicsPerPage, (topicPage + 1) * topicsPerPage);
  const go = (next: number): void => {
    topicPage = next;
    app.repaint();
  };
  return h(
    'section',
    { 'aria-labelledby': 'topics-title' },
    heading('topics-title', 'Topics', topics.length),
    table(
      'Topics with their counts',
      [
        { title: 'Topic' },
        { title: 'Subscriptions', class: 'number' },
        { title: 'Dedup window', class: 'number wide' },
        { title: 'Archived', class: 'number wide' },
        { title: 'Failed deliveries', class: 'number' },
      ],
      shown.map(({ name, fifo, subscriptions, dedupEntries, archived, failedDeliveries }) =>
        h(
          'tr',
          { key: name },
          h(
            'th',
            { scope: 'row' },
            h('a', { href: topicLink(name) }, name),
            fifo && h('span', { class: 'tag' }, 'FIFO'),
          ),
          numberCell(subscriptions),
          numberCell(dedupEntries, 'wide'),
          numberCell(archived, 'wide'),
          numberCell(failedDeliveries, 'bad'),
        ),
      ),
    ),
    pager({ what: 'topics', page: topicPage, size: topicsPerPage, total: topics.length, go }),
    hasMoreTopics &&
      h('p', { class: 'hint' }, 'There are more. Run oncemq topic list to see all of them.'),
  );
}

function about({ version, storage, servers, region, account, clock }: Overview): Child {
  const shared = servers === null ? '' : `, ${plural(servers, 'server')}`;
  return [
    `OnceMQ ${version} · `,
    h('a', { href: storeLink }, `${storage} storage${shared}`),
    ` · ${clock} clock · region ${region} · account ${account}`,
  ];
}
