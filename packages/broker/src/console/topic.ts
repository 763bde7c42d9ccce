/**
 * One topic: its subscriptions with their filters and pending deliveries, where the latest publications went, deliveries
 * that were given up, and a form to try a message against the filters.
 */

import type { Deliveries, Delivery, Subscription, Topic } from './answers.ts';
import type { App, View } from './app.ts';
import { type Child, h } from './dom.ts';
import { compact, duration, exactCount, nameInArn, plural, shortId, timeOfDay } from './format.ts';
import { sum, tile, tileRow } from './numbers.ts';
import { queueLink } from './route.ts';
import { look, placePath } from './server.ts';
import { table } from './table.ts';
import { trial } from './topic-trial.ts';

const deliveryTexts: Readonly<Record<Delivery['type'], { text: string; tone: string }>> = {
  'fanned-out': { text: 'In the queue', tone: 'ready' },
  posted: { text: 'Delivered', tone: 'ready' },
  'filtered-out': { text: 'Filtered out', tone: '' },
  'post-failed': { text: 'Failed, tried again', tone: 'suppressed' },
  'delivery-failed': { text: 'Given up', tone: 'collision' },
};

const waitingShown = 3;

export function topicView(app: App, name: string): View {
  let topic: Topic | undefined;
  let latest: readonly Delivery[] = [];
  const trying = trial(app, name);

  async function load(): Promise<void> {
    const [answer, deliveries] = await Promise.all([
      look<Topic>(placePath('topics', name)),
      look<Deliveries>(placePath('topics', name, 'deliveries')),
    ]);
    topic = answer;
    latest = deliveries.deliveries;
    app.learn(deliveries);
  }

  function render(): Child {
    if (topic === undefined) return undefined;
    const { subscriptions, failedDeliveries } = topic;
    return [
      h(
        'nav',
        { class: 'crumbs', 'aria-label': 'Way back' },
        h('a', { href: '#/' }, 'Queues and topics'),
      ),
      h('h1', { tabindex: -1 }, name, topic.fifo && h('span', { class: 'tag' }, 'FIFO')),
      tiles(topic),
      part(
        'Subscriptions',
        subscriptions.length === 0
          ? h('p', { class: 'empty' }, 'Nobody is subscribed: what is published reaches nobody.')
          : table(
              'Subscriptions with their filters',
              [
                { title: 'Endpoint' },
                { title: 'Filter policy' },
                { title: 'Delivery', class: 'wide' },
                { title: 'Waiting' },
              ],
              subscriptions.map(subscriptionRow),
            ),
      ),
      part('Try a message', trying.render(subscriptions)),
      part(
        'Latest deliveries',
        latest.length === 0
          ? h('p', { class: 'empty' }, 'None since this page was opened.')
          : table(
              'Latest deliveries, newest first',
              [{ title: 'When' }, { title: 'Message' }, { title: 'To' }, { title: 'What' }],
              latest.map((delivery) => deliveryRow(delivery, subscriptions)),
            ),
      ),
      failedDeliveries.count > 0 && part('Given up', failures(failedDeliveries)),
    ];
  }

  function subscriptionRow({
    arn,
    protocol,
    endpoint,
    confirmed,
    attributes,
    replay,
    waitingCount,
    waiting,
    delivered,
    filteredOut = 0,
    failed = 0,
  }: Subscription): HTMLElement {
    const policy = attributes['FilterPolicy'];
    const inBody = attributes['FilterPolicyScope'] === 'MessageBody';
    const isRaw = attributes['RawMessageDelivery'] === 'true';
    const queue = nameInArn(endpoint);
    return h(
      'tr',
      { key: arn },
      h(
        'th',
        { scope: 'row' },
        protocol === 'sqs' ? h('a', { href: queueLink(queue) }, queue) : h('bdi', {}, endpoint),
        h('span', { class: 'tag' }, protocol),
        !confirmed && h('span', { class: 'tag warn' }, 'not confirmed'),
      ),
      h(
        'td',
        {},
        policy === undefined
          ? h('span', { class: 'muted' }, 'takes everything')
          : [
              h(
                'pre',
                {
                  class: 'policy',
                  tabindex: 0,
                  role: 'region',
                  'aria-label': `Filter policy of ${queue}`,
                },
                compact(policy),
              ),
              h('span', { class: 'hint' }, inBody ? 'on the body' : 'on attributes'),
            ],
      ),
      h(
        'td',
        { class: 'wide' },
        h('p', {}, isRaw ? 'raw' : 'in an envelope'),
        delivered !== undefined &&
          h(
            'p',
            { class: 'hint' },
            `${exactCount(delivered)} delivered, ${exactCount(filteredOut)} filtered out, ${exactCount(failed)} failed`,
          ),
      ),
      h(
        'td',
        {},
        replay !== null &&
          h('p', {}, `Replay ${replay.status.toLowerCase()}, ${exactCount(replay.left)} left`),
        waiting.length === 0
          ? '–'
          : waiting
              .slice(0, waitingShown)
              .map(({ attempts, dueAt, failure }) =>
                h(
                  'p',
                  {},
                  `${plural(attempts, 'attempt')}, next in ${duration(dueAt - app.now())}`,
                  failure !== null && h('span', { class: 'hint' }, ` ${failure}`),
                ),
              ),
        waitingCount > waitingShown &&
          h('p', { class: 'muted' }, `and ${exactCount(waitingCount - waitingShown)} more`),
      ),
    );
  }

  return {
    title: name,
    events: new URLSearchParams({ topic: name }).toString(),
    load,
    render,
  };
}

function part(title: string, content: Child): HTMLElement {
  const id = title.toLowerCase().replaceAll(' ', '-');
  return h(
    'section',
    { 'aria-labelledby': id, key: id },
    h('div', { class: 'heading' }, h('h2', { id }, title)),
    content,
  );
}

function tiles({ subscriptions, dedupEntries, archived, failedDeliveries }: Topic): HTMLElement {
  return tileRow([
    tile('Subscriptions', subscriptions.length),
    tile('In the window', dedupEntries),
    tile('Archived', archived),
    tile('Waiting calls', sum(subscriptions.map(({ waitingCount }) => waitingCount))),
    tile('Given up', failedDeliveries.count, 'bad'),
  ]);
}

function deliveryRow(delivery: Delivery, subscriptions: readonly Subscription[]): HTMLElement {
  const { at, type, messageId, subscription, reason, isDuplicate } = delivery;
  const endpoint = subscriptions.find(({ arn }) => arn === subscription)?.endpoint ?? subscription;
  const { text, tone } = deliveryTexts[type];
  return h(
    'tr',
    {},
    h('td', {}, timeOfDay(at)),
    h('td', {}, h('code', { title: messageId }, shortId(messageId))),
    h('td', {}, h('bdi', {}, endpoint.startsWith('arn:') ? nameInArn(endpoint) : endpoint)),
    h(
      'td',
      {},
      h('span', { class: `state ${tone}` }, text),
      isDuplicate === true && h('span', { class: 'warn' }, ', suppressed there'),
      reason !== undefined && h('span', { class: 'hint' }, ` ${reason}`),
    ),
  );
}

function failures({ count: total, latest }: Topic['failedDeliveries']): Child {
  return [
    table(
      'Deliveries that were given up',
      [{ title: 'When' }, { title: 'Endpoint' }, { title: 'Why' }, { title: 'Now in' }],
      latest
        .toReversed()
        .map(({ at, endpoint, reason, deadLetterQueue }) =>
          h(
            'tr',
            {},
            h('td', {}, timeOfDay(at)),
            h('td', {}, h('bdi', {}, endpoint)),
            h('td', { class: 'text' }, reason),
            h(
              'td',
              {},
              deadLetterQueue === null
                ? h('strong', { class: 'bad' }, 'lost')
                : h('a', { href: queueLink(deadLetterQueue) }, deadLetterQueue),
            ),
          ),
        ),
    ),
    total > latest.length && h('p', { class: 'hint' }, `The latest of ${exactCount(total)}.`),
  ];
}
