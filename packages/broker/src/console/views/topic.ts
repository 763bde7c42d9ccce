/**
 * One topic: its subscriptions with their filters and pending deliveries, where the latest publications went, deliveries
 * that were given up, and a form to try a message against the filters.
 */

import type { Deliveries, Delivery, Subscription, Topic } from '../app/answers.ts';
import type { App, View } from '../app/app.ts';
import { queueLink } from '../app/route.ts';
import { look, resourcePath } from '../app/server.ts';
import { type Child, h } from '../components/dom.ts';
import {
  compact,
  duration,
  endpointName,
  exactCount,
  nameInArn,
  plural,
  shortId,
  timeOfDay,
} from '../components/format.ts';
import { sum, tile, tileRow } from '../components/numbers.ts';
import { none, table } from '../components/table.ts';
import { trial } from './topic-trial.ts';

const deliveryTexts: Readonly<Record<Delivery['type'], { text: string; tone: string }>> = {
  'fanned-out': { text: 'Queued', tone: 'ready' },
  posted: { text: 'Delivered', tone: 'ready' },
  'filtered-out': { text: 'Filtered out', tone: '' },
  'post-failed': { text: 'Failed, will be retried', tone: 'suppressed' },
  'delivery-failed': { text: 'Failed', tone: 'collision' },
};

const waitingShown = 3;

export function topicView(app: App, name: string): View {
  let topic: Topic | undefined;
  let latest: readonly Delivery[] = [];
  const trying = trial(app, name);

  async function load(): Promise<void> {
    const [answer, deliveries] = await Promise.all([
      look<Topic>(resourcePath('topics', name)),
      look<Deliveries>(resourcePath('topics', name, 'deliveries')),
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
        { class: 'crumbs', 'aria-label': 'Breadcrumb' },
        h('a', { href: '#/' }, 'Queues and topics'),
      ),
      h('h1', { tabindex: -1 }, name, topic.fifo && h('span', { class: 'tag' }, 'FIFO')),
      tiles(topic),
      part(
        'Subscriptions',
        subscriptions.length === 0
          ? h(
              'p',
              { class: 'empty' },
              'There are no subscriptions: published messages reach nobody.',
            )
          : table(
              'Subscriptions with their filters',
              [
                { title: 'Endpoint' },
                { title: 'Filter policy' },
                { title: 'Delivery', class: 'wide' },
                { title: 'Pending' },
              ],
              subscriptions.map(subscriptionRow),
            ),
      ),
      part('Try a message', trying.render(subscriptions)),
      part(
        'Latest deliveries',
        latest.length === 0
          ? h('p', { class: 'empty' }, 'There were no deliveries since this page was opened.')
          : table(
              'Latest deliveries, newest first',
              [
                { title: 'Time' },
                { title: 'Message', class: 'wide' },
                { title: 'Endpoint' },
                { title: 'Result' },
              ],
              latest.map((delivery) => deliveryRow(delivery, subscriptions)),
            ),
      ),
      failedDeliveries.count > 0 && part('Failed deliveries', failures(failedDeliveries)),
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
        !confirmed && h('span', { class: 'tag warn' }, 'pending confirmation'),
      ),
      h(
        'td',
        {},
        policy === undefined
          ? h('span', { class: 'muted' }, 'none, matches every message')
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
              h(
                'span',
                { class: 'hint' },
                inBody ? 'on the message body' : 'on message attributes',
              ),
            ],
      ),
      h(
        'td',
        { class: 'wide whole' },
        h('p', {}, isRaw ? 'raw message' : 'JSON envelope'),
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
          ? none()
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

function tiles(topic: Topic): HTMLElement {
  const { subscriptions, fifo, dedupEntries, archived, failedDeliveries } = topic;
  const ofFifo = [tile('Dedup window', dedupEntries), tile('Archived', archived)];
  return tileRow([
    tile('Subscriptions', subscriptions.length),
    ...(fifo ? ofFifo : []),
    tile('Pending deliveries', sum(subscriptions.map(({ waitingCount }) => waitingCount))),
    tile('Failed deliveries', failedDeliveries.count, 'bad'),
  ]);
}

function deliveryRow(delivery: Delivery, subscriptions: readonly Subscription[]): HTMLElement {
  const { at, type, messageId, subscription, reason, isDuplicate } = delivery;
  const endpoint = subscriptions.find(({ arn }) => arn === subscription)?.endpoint ?? subscription;
  const { text, tone } =
    isDuplicate === true ? { text: 'Suppressed', tone: 'suppressed' } : deliveryTexts[type];
  return h(
    'tr',
    {},
    h('td', {}, timeOfDay(at)),
    h('td', { class: 'wide' }, h('code', { title: messageId }, shortId(messageId))),
    h('td', {}, h('bdi', {}, endpointName(endpoint))),
    h(
      'td',
      {},
      h('span', { class: `state ${tone}` }, text),
      isDuplicate === true && h('span', { class: 'hint' }, ' by the queue, as a duplicate'),
      reason !== undefined && h('p', { class: 'hint' }, reason),
    ),
  );
}

function failures({ count: total, latest }: Topic['failedDeliveries']): Child {
  return [
    table(
      'Failed deliveries, newest first',
      [
        { title: 'Time' },
        { title: 'Endpoint' },
        { title: 'Reason' },
        { title: 'Dead-letter queue' },
      ],
      latest
        .toReversed()
        .map(({ at, endpoint, reason, deadLetterQueue }) =>
          h(
            'tr',
            {},
            h('td', {}, timeOfDay(at)),
            h('td', {}, h('bdi', {}, endpointName(endpoint))),
            h('td', { class: 'text' }, reason),
            h(
              'td',
              {},
              deadLetterQueue === null
                ? h('strong', { class: 'bad' }, 'none, message lost')
                : h('a', { href: queueLink(deadLetterQueue) }, deadLetterQueue),
            ),
          ),
        ),
    ),
    total > latest.length &&
      h(
        'p',
        { class: 'hint' },
        `Showing the latest ${exactCount(latest.length)} of ${exactCount(total)}.`,
      ),
  ];
}
