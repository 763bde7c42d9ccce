/**
 * Why did my message vanish? Explains in a sentence or two what made a suppressed send a duplicate of its original, and
 * shows the two side by side below. An accepted send without suppressed duplicates is shown alone.
 */

import type { Send, SuppressedSend } from '../app/answers.ts';
import type { App } from '../app/app.ts';
import { queueLink } from '../app/route.ts';
import { bodyText, cutNote } from '../components/body-text.ts';
import { type Child, h } from '../components/dom.ts';
import { duration, exactCount, joinedWords, timeOfDay } from '../components/format.ts';
import { sideBySide } from '../components/side-by-side.ts';

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
      class: `comparison ${chosen === undefined ? 'accepted' : chosen.collision ? 'bad' : ''}`,
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
    chosen === undefined ? originalOnly(send) : sideBySide(send, chosen),
  );
}

function alone(app: App, { expiresAt, isOpen, original }: Send): Child {
  const fate = original.isInQueue ? 'is still in the queue' : 'has left the queue';
  const left = expiresAt - app.now();
  return isOpen
    ? `No duplicate of this message was suppressed. It ${fate}; another send with its id will be suppressed for the next ${duration(left)}.`
    : `This message ${fate}, and its deduplication window is over.`;
}

function verdict({ original }: Send, suppressed: SuppressedSend): Child {
  const { at, source, matchedBy, differed, collision } = suppressed;
  const after = h('strong', {}, `${duration(at - original.sentAt)} after`);
  const what =
    matchedBy === 'body'
      ? 'with the same body'
      : source === 'content'
        ? 'whose body has the same SHA-256'
        : 'with the same deduplication id';
  const opening: Child = ['This send came ', after, ` an accepted message ${what}. `];
  const differences = h('strong', {}, joinedWords(differed));
  if (collision) {
    return [
      opening,
      'But its ',
      differences,
      differed.join() === 'group' ? ' differs' : ' differ',
      ', which a content hash does not cover. Most likely this was ',
      h('strong', {}, 'another event, and it is lost'),
      '. Put what makes an event unique into the body or into an explicit deduplication id.',
    ];
  }
  if (differed.length > 0) {
    return [opening, 'The two differ in ', differences, ', but only the id counts.'];
  }
  return [opening, 'The two are identical: nothing was lost.'];
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
      h('span', { class: 'muted' }, `and ${exactCount(suppressedCount - choicesMax)} more`),
  );
}

function originalOnly({ original }: Send): Child {
  const { content } = original;
  if (content === null) return h('p', { class: 'hint' }, 'Its content is no longer kept.');
  return [bodyText(content.body, 'Body'), cutNote(content.body.length, content.bodyLength)];
}
