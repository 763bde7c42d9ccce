/**
 * The console's entry: picks the view for the address, loads it and paints it. It paints at most once per frame, and once
 * a second even without new data, because ages and countdowns change.
 */

import { type Child, h, morph } from '../components/dom.ts';
import { overviewView } from '../views/overview.ts';
import { type QueueView, queueView } from '../views/queue.ts';
import { storeView } from '../views/store.ts';
import { topicView } from '../views/topic.ts';
import type { ClockKind, Timed } from './answers.ts';
import type { App, View } from './app.ts';
import { Live } from './live.ts';
import { type Route, readRoute } from './route.ts';
import { Refused } from './server.ts';
import { shell } from './shell.ts';
import { applyTheme } from './theme.ts';

const toldMs = 8_000;

const root = document.querySelector('#app') as HTMLElement;
let view: View;
/** Why the view cannot be shown. */
let problem: Refused | undefined;
let isLoaded = false;
let queue: QueueView | undefined;
let clock: ClockKind | undefined;
let serverNow = 0;
let learnedAt = 0;
let told = '';
let toldTimer = 0;
let isPaintDue = false;

const app: App = {
  now: () => {
    // A manual clock stands still until it is moved.
    const passed = clock === 'manual' ? 0 : performance.now() - learnedAt;
    return serverNow + passed;
  },
  clock: () => clock,
  learn: (answer: Timed) => {
    serverNow = answer.now;
    learnedAt = performance.now();
    clock = answer.clock ?? clock;
  },
  repaint,
  refresh: () => live.soon(),
  tell: (text) => {
    told = text;
    clearTimeout(toldTimer);
    toldTimer = setTimeout(() => app.tell(''), toldMs);
    repaint();
  },
};

const live: Live = new Live(load, repaint);

async function load(): Promise<void> {
  const loading = view;
  try {
    await loading.load();
    if (loading !== view) return;
    problem = undefined;
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    if (loading === view) problem = error;
  }
  isLoaded = true;
  repaint();
}

function repaint(): void {
  if (isPaintDue) return;
  isPaintDue = true;
  requestAnimationFrame(() => {
    isPaintDue = false;
    paint();
  });
}

function paint(): void {
  const content = shell({ app, connection: live.connection, told }, body());
  morph(root, h('div', { id: 'app' }, content));
  const isGone = live.connection === 'gone';
  document.title = `${isGone ? 'Not reachable · ' : ''}${view.title} · OnceMQ`;
}

function body(): Child {
  if (problem !== undefined) {
    return h(
      'section',
      { class: 'empty', key: 'problem' },
      h('h1', { tabindex: -1 }, problem.status === 404 ? 'Not found' : 'Something went wrong'),
      h('p', {}, problem.message),
      h('p', {}, h('a', { href: '#/' }, 'All queues and topics')),
    );
  }
  if (!isLoaded) {
    return h(
      'section',
      { class: 'empty', key: 'loading', 'aria-busy': 'true' },
      h('h1', { tabindex: -1 }, view.title),
      h('p', {}, live.connection === 'gone' ? 'Waiting for the server…' : 'Loading…'),
    );
  }
  return view.render();
}

function viewOf(route: Route): View {
  switch (route.page) {
    case 'overview':
      return overviewView(app);
    case 'topic':
      return topicView(app, route.name);
    case 'queue':
      if (queue?.name !== route.name) queue = queueView(app, route.name);
      queue.open(route.tab, route.rest);
      return queue;
    case 'store':
      return storeView(app);
    case 'nowhere':
      return {
        title: 'Not found',
        load: () => Promise.reject(new Refused(404, 'There is no page at this address.')),
        render: () => undefined,
      };
  }
}

function enter(): void {
  const before = view as View | undefined;
  view = viewOf(readRoute(location.hash));
  if (view !== before) {
    isLoaded = false;
    problem = undefined;
    window.scrollTo(0, 0);
  }
  live.follow(view.events);
  repaint();
  // After navigation, focus moves to the new page's heading, where reading starts. The first page leaves focus alone.
  if (before !== undefined && view !== before) {
    requestAnimationFrame(() => document.querySelector<HTMLElement>('h1')?.focus());
  }
}

applyTheme();
addEventListener('hashchange', enter);
setInterval(() => {
  if (!document.hidden && isLoaded) repaint();
}, 1_000);
enter();
