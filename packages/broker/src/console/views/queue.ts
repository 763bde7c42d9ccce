/**
 * One queue: its counts, its actions and its tabs. The tabs live as long as the view of the queue, so that switching
 * between them keeps searches and pages.
 */

import type { QueueCounts, Timed } from '../app/answers.ts';
import type { App, View } from '../app/app.ts';
import { queueLink, type Tab } from '../app/route.ts';
import { look, Refused, resourcePath, sqs } from '../app/server.ts';
import { openDialog } from '../components/dialog.ts';
import { type Child, h } from '../components/dom.ts';
import { duration, rate } from '../components/format.ts';
import { tile, tileRow } from '../components/numbers.ts';
import { attributesTab } from './attributes-tab.ts';
import { groupsTab } from './groups-tab.ts';
import { messagesTab } from './messages-tab.ts';
import { redriveTab } from './redrive-tab.ts';
import { openSendDialog } from './send-dialog.ts';
import { windowTab } from './window-tab.ts';

/** The content of a tab; `open` gets the parts after the tab in the address. */
export interface TabView {
  open(rest: readonly string[]): void;
  load(): Promise<void>;
  render(): Child;
}

export interface QueueView extends View {
  readonly name: string;
  open(tab: Tab | undefined, rest: readonly string[]): void;
}

const tabTitles: Readonly<Record<Tab, string>> = {
  window: 'Dedup window',
  groups: 'Groups',
  messages: 'Messages',
  redrive: 'Redrive',
  attributes: 'Attributes',
};

export function queueView(app: App, name: string): QueueView {
  const isFifo = name.endsWith('.fifo');
  const tabs: Partial<Record<Tab, TabView>> = {
    ...(isFifo ? { window: windowTab(app, name), groups: groupsTab(app, name) } : {}),
    messages: messagesTab(app, name),
    redrive: redriveTab(app, name),
    attributes: attributesTab(app, name),
  };
  let current: Tab = isFifo ? 'window' : 'messages';
  let counts: (QueueCounts & Timed) | undefined;
  /** Why the tab cannot be shown, although the rest of the page can. */
  let problem: string | undefined;

  async function loadTab(): Promise<void> {
    try {
      await tabs[current]?.load();
      problem = undefined;
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      problem = error.message;
    }
  }

  return {
    name,
    title: name,
    events: new URLSearchParams({ queue: name }).toString(),
    open: (tab, rest) => {
      current = tab !== undefined && tab in tabs ? tab : isFifo ? 'window' : 'messages';
      tabs[current]?.open(rest);
      problem = undefined;
    },
    load: async () => {
      const [answer] = await Promise.all([
        look<QueueCounts & Timed>(resourcePath('queues', name, 'counts')),
        loadTab(),
      ]);
      counts = answer;
      app.learn(answer);
    },
    render: () => [
      h(
        'div',
        { class: 'heading' },
        h(
          'div',
          {},
          h(
            'nav',
            { class: 'crumbs', 'aria-label': 'Breadcrumb' },
            h('a', { href: '#/' }, 'Queues and topics'),
          ),
          h('h1', { tabindex: -1 }, name, isFifo && h('span', { class: 'tag' }, 'FIFO')),
        ),
        h(
          'div',
          { class: 'actions' },
          h('button', { type: 'button', onclick: () => confirmPurge(app, name) }, 'Purge'),
          h(
            'button',
            { type: 'button', class: 'primary', onclick: () => openSendDialog(app, name) },
            'Send a message',
          ),
        ),
      ),
      counts !== undefined && countTiles(app, counts),
      h(
        'nav',
        { class: 'tabs', 'aria-label': `Views of ${name}` },
        (Object.keys(tabs) as Tab[]).map((tab) =>
          h(
            'a',
            { href: queueLink(name, tab), 'aria-current': tab === current ? 'page' : undefined },
            tabTitles[tab],
          ),
        ),
      ),
      h(
        'section',
        { key: current, 'aria-label': tabTitles[current] },
        problem === undefined
          ? tabs[current]?.render()
          : h('p', { class: 'notice bad', role: 'alert' }, problem),
      ),
    ],
  };
}

function countTiles(app: App, counts: QueueCounts): HTMLElement {
  const { fifo, oldestSentAt, activity } = counts;
  const oldest = oldestSentAt === null ? '–' : duration(app.now() - oldestSentAt);
  const ofGroups = [
    tile('Groups', counts.groups),
    tile('Blocked', counts.blockedGroups, 'warn'),
    tile('Dedup window', counts.dedupEntries),
  ];
  return tileRow([
    tile('Visible', counts.visible),
    tile('In flight', counts.inFlight),
    tile('Delayed', counts.delayed),
    { label: 'Oldest', text: oldest },
    ...(fifo ? ofGroups : []),
    { label: 'In /s', text: rate(activity?.sentPerSecond ?? 0) },
    { label: 'Out /s', text: rate(activity?.deletedPerSecond ?? 0) },
  ]);
}

function confirmPurge(app: App, name: string): void {
  openDialog({
    title: `Purge ${name}?`,
    content: h(
      'p',
      {},
      'Every message in ',
      h('strong', {}, name),
      ' will be deleted, including those in flight, and its deduplication window will be cleared. This cannot be undone.',
    ),
    action: `Purge ${name}`,
    isDangerous: true,
    run: async () => {
      await sqs('PurgeQueue', { QueueUrl: name });
      app.tell(`${name} was purged.`);
      app.refresh();
      return true;
    },
  });
}
