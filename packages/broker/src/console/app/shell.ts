/**
 * The frame around every view: the name and the way back, whether the page is live, the server's clock if it can be
 * moved, and a line that says what was done.
 */

import { clockBar } from '../components/clock-bar.ts';
import { type Child, h, svg } from '../components/dom.ts';
import type { App } from './app.ts';
import type { Connection } from './live.ts';
import { isDark, switchTheme } from './theme.ts';

export interface ShellState {
  readonly app: App;
  readonly connection: Connection;
  readonly told: string;
}

const connectionTexts: Readonly<Record<Connection, string>> = {
  starting: 'Connecting',
  live: 'Live',
  gone: 'Not reachable, retrying',
};

export function shell({ app, connection, told }: ShellState, content: Child): Child {
  return [
    h('a', { class: 'skip', href: '#main', onclick: skip }, 'Skip to content'),
    h(
      'header',
      { class: 'bar' },
      h('a', { class: 'brand', href: '#/' }, mark(), h('span', {}, 'OnceMQ')),
      h('div', { class: 'grow' }),
      h(
        'p',
        { class: `connection ${connection}`, role: 'status' },
        h('span', { class: 'dot', 'aria-hidden': 'true' }),
        connectionTexts[connection],
      ),
      h(
        'button',
        {
          class: 'quiet',
          type: 'button',
          onclick: () => {
            switchTheme();
            app.repaint();
          },
        },
        isDark() ? 'Light' : 'Dark',
        h('span', { class: 'aside' }, ' theme'),
      ),
    ),
    clockBar(app),
    connection === 'gone' &&
      h(
        'p',
        { class: 'notice bad', role: 'alert', key: 'gone' },
        'The server does not answer. This page shows the last data it sent.',
      ),
    h('main', { id: 'main', tabindex: -1 }, content),
    h('p', { class: told === '' ? 'told' : 'told shown', role: 'status', key: 'told' }, told),
  ];
}

/** The fragment belongs to the view, so the link must not change it. */
function skip(event: Event): void {
  event.preventDefault();
  document.querySelector<HTMLElement>('#main')?.focus();
}

/** The logo: one message that is there, and the outline of one that is not. */
function mark(): Element {
  return svg(
    'svg',
    { class: 'mark', viewBox: '0 0 28 20', 'aria-hidden': 'true' },
    svg('circle', { class: 'ghost', cx: 18, cy: 10, r: 7.5 }),
    svg('circle', { class: 'solid', cx: 10, cy: 10, r: 8 }),
  );
}
