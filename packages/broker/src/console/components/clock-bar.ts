/**
 * The server's clock if it can be moved: its time, and buttons that advance it. Absent on a real clock. Whatever falls due
 * on the way happens on the server, in order; the view then reloads and shows it.
 */

import type { App } from '../app/app.ts';
import { ask } from '../app/server.ts';
import { type Child, h } from './dom.ts';
import { dayAndTime } from './format.ts';

const steps = [
  { seconds: 1, text: '+1 s' },
  { seconds: 30, text: '+30 s' },
  { seconds: 300, text: '+5 m' },
] as const;

let ownSeconds = '60';

export function clockBar(app: App): Child {
  const clock = app.clock();
  if (clock === undefined || clock === 'real') return undefined;
  const now = app.now();
  return h(
    'section',
    { class: 'clock', 'aria-label': 'Clock', key: 'clock' },
    h('span', { class: 'label' }, clock === 'manual' ? 'Manual clock' : 'Virtual clock'),
    h('time', { class: 'now', datetime: new Date(now).toISOString() }, dayAndTime(now)),
    h(
      'div',
      { class: 'steps', role: 'group', 'aria-label': 'Advance the clock' },
      steps.map(({ seconds, text }) =>
        h('button', { type: 'button', onclick: () => void move(app, seconds) }, text),
      ),
      h(
        'form',
        {
          onsubmit: (event) => {
            event.preventDefault();
            void move(app, Number(ownSeconds));
          },
        },
        h('input', {
          type: 'number',
          min: 0,
          step: 'any',
          required: true,
          'aria-label': 'Seconds to advance the clock by',
          value: ownSeconds,
          oninput: (event) => {
            ownSeconds = (event.target as HTMLInputElement).value;
          },
        }),
        h('span', { class: 'label', 'aria-hidden': 'true' }, 's'),
        h('button', { type: 'submit' }, 'Advance'),
      ),
    ),
  );
}

async function move(app: App, seconds: number): Promise<void> {
  try {
    app.learn(await ask('clock/advance', { seconds }));
    app.refresh();
    app.repaint();
  } catch (error) {
    app.tell((error as Error).message);
  }
}
