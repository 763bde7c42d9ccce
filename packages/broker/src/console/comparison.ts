/**
 * Why did my message vanish? Explains in a sentence or two what made a suppressed send a duplicate of its original, and
 * shows the two side by side below. An accepted send without suppressed duplicates is shown alone.
 */

import type { Send, SuppressedSend } from './answers.ts';
import type { App } from './app.ts';
import { bodyText, cutNote } from './body-text.ts';
import { type Child, h } from './dom.ts';
import { duration, exactCount, timeOfDay } from './format.ts';
import { queueLink } from './route.ts';
import { sides } from './sides.ts';

export const comparisonTitleId = 'comparison-title';
/** Per original; the others are in the window's list. */
const choicesMax = 8;

export function comparison(
  app: App,
  queue: string,
  send: Send,
  number: number | undefined,
): HTMLElement {
  const chosen = send.suppressed.find((each) => each.number === number) ?? send.suppressed[0];
  return h(
    'section',
    {
      class: chosen?.collision ? 'comparison bad' : 'comparison',
      'aria-labelledby': comparisonTitleId,
      key: 'comparison',
    },
    h(
      'div',
      { class: 'heading' },
      h(
        'h2',
        { id: comparisonTitleId, tabindex: -1 },
        chosen === undefined ? 'Accepted' : chosen.collision ? 'Collision' : 'Suppressed',
      ),
      h('a', { class: 'button small', href: queueLink(queue, 'window') }, 'Close'),
    ),
    h('p', { class: 'verdict' }, chosen === undefined ? alone(app, send) : verdict(send, chosen)),
    send.suppressed.length > 1 && choices(queue, send, chosen),
    chosen === undefined ? originalOnly(send) : sides(send, chosen),
  );
}

function alone(app: App, { expiresAt, isOpen, original }: Send): Child {
  const fate = original.isInQueue ? 'is in the queue' : 'has left the queue';
  const left = expiresAt - app.now();
  return isOpen
    ? `Nothing was suppressed for this message. It ${fate}, and another send with its id is suppressed for ${duration(left)} more.`
    : `This message ${fate}, and the window has closed behind it.`;
}

function verdict({ original }: Send, suppressed: SuppressedSend): Child {
  const { at, source, matchedBy, differed, collision } = suppressed;
  const after = h('strong', {}, `${duration(at - original.sentAt)} after`);
  const what =
    matchedBy === 'body'
      ? 'It has the same body'
      : source === 'content'
        ? 'Its body has the same SHA-256'
        : 'It was sent with the same deduplication id';
  const opening: Child = [`${what} as a message accepted earlier, and came `, after, ' it. '];
  if (collision) {
    return [
      opening,
      'But its ',
      h('strong', {}, differed.join(' and ')),
      differed.join() === 'group' ? ' differs' : ' differ',
      ', which a content hash does not see: most likely this was ',
      h('strong', {}, 'another event, and it is lost'),
      '. What makes an event unique belongs in the body, or in an explicit deduplication id.',
    ];
  }
  if (differed.length > 0) {
    return [
      opening,
      'They differ in ',
      h('strong', {}, differed.join(' and ')),
      '; the id alone counts.',
    ];
  }
  return [opening, 'They are the same in all: nothing was lost.'];
}

function choices(queue: string, send: Send, chosen: SuppressedSend | undefined): HTMLElement {
  const { original, suppressed, suppressedCount } = send;
  return h(
    'nav',
    { class: 'choice', 'aria-label': 'Suppressed sends of this message' },
    suppressed.slice(0, choicesMax).map((each) =>
      h(
        'a',
        {
          href: queueLink(queue, 'window', original.sequence, each.number),
          'aria-current': each === chosen ? 'true' : undefined,
        },
        timeOfDay(each.at),
        each.collision && h('span', { class: 'bad' }, ' collision'),
      ),
    ),
    suppressedCount > choicesMax &&
      h('span', { class: 'muted' }, `of ${exactCount(suppressedCount)}`),
  );
}

function originalOnly({ original }: Send): Child {
  const { content } = original;
  if (content === null) return h('p', { class: 'hint' }, 'What it said is no longer kept.');
  return [bodyText(content.body, 'Body'), cutNote(content.body.length, content.bodyLength)];
}
