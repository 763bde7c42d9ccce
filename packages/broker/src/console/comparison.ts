/**
 * Why did my message vanish? A suppressed send beside its original: what made it a duplicate, in one sentence, then field by
 * field and line by line with what differs marked. An original that nobody remembers is told by what the window knows.
 */

import type { Attribute, Send, SuppressedSend } from './answers.ts';
import type { App } from './app.ts';
import { bodyText, cutNote } from './body-text.ts';
import { compareTexts, type Line } from './diff.ts';
import { type Child, h } from './dom.ts';
import { dayAndTime, duration, exactCount, plural, pretty, timeOfDay } from './format.ts';
import { queueLink } from './route.ts';

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
      'aria-labelledby': 'comparison-title',
      key: 'comparison',
    },
    h(
      'div',
      { class: 'heading' },
      h(
        'h2',
        { id: 'comparison-title' },
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
      differed.length > 1 ? ' differ' : ' differs',
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
    suppressed.slice(0, 8).map((each) =>
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
    suppressedCount > 8 && h('span', { class: 'muted' }, `of ${exactCount(suppressedCount)}`),
  );
}

function originalOnly({ original }: Send): Child {
  const { content } = original;
  if (content === null) return h('p', { class: 'hint' }, 'What it said is no longer kept.');
  return [bodyText(content.body, 'Body'), cutNote(content.body.length, content.bodyLength)];
}

function sideBySide(send: Send, suppressed: SuppressedSend): HTMLElement {
  const { original, id, source } = send;
  const idSource = (from: string): string =>
    from === 'content' ? 'SHA-256 of the body' : 'given by the sender';
  const isGroupKnown = original.groupId !== null || !suppressed.differed.includes('group');
  return h(
    'table',
    { class: 'sides' },
    h('caption', { class: 'unseen' }, 'The original and the suppressed send, side by side'),
    h(
      'thead',
      {},
      h(
        'tr',
        {},
        h('td', {}),
        h('th', { scope: 'col' }, 'Original, accepted'),
        h('th', { scope: 'col' }, 'Suppressed'),
      ),
    ),
    h(
      'tbody',
      {},
      fact('Sent', dayAndTime(original.sentAt), dayAndTime(suppressed.at), false),
      fact('Deduplication id', id, suppressed.id),
      fact('Id from', idSource(source), idSource(suppressed.source)),
      fact(
        'Group',
        isGroupKnown ? (original.groupId ?? suppressed.groupId) : 'no longer known',
        suppressed.groupId,
      ),
      fact(
        'Message',
        `${original.messageId}${original.isInQueue ? '' : ', no longer in the queue'}`,
        'never became one',
        false,
      ),
      attributes(send, suppressed),
      bodies(send, suppressed),
    ),
  );
}

/** A row that says whether its two sides are the same, not by colour alone. */
function fact(title: string, left: Child, right: Child, isCompared = true): HTMLElement {
  const isDifferent = isCompared && left !== right;
  const side = (text: Child): HTMLElement =>
    h('td', {}, isDifferent ? h('mark', {}, h('bdi', {}, text)) : h('bdi', {}, text));
  return h(
    'tr',
    { class: isDifferent ? 'differs' : '' },
    h('th', { scope: 'row' }, title, isDifferent && h('span', { class: 'tag bad' }, 'differs')),
    side(left),
    side(right),
  );
}

function attributes({ original }: Send, { content, differed }: SuppressedSend): Child {
  const before = original.content?.attributes;
  const after = content?.attributes;
  if (before === undefined || after === undefined) {
    if (!differed.includes('attributes')) return undefined;
    return fact('Attributes', known(before, original.attributesMd5), known(after, null));
  }
  const names = [...new Set([...before, ...after].map(({ name }) => name))].toSorted();
  return names.map((name) =>
    fact(`Attribute ${name}`, valueIn(before, name), valueIn(after, name)),
  );
}

function valueIn(attributes: readonly Attribute[], name: string): string {
  const found = attributes.find((each) => each.name === name);
  return found === undefined
    ? '(none)'
    : `${found.value}${found.type === 'String' ? '' : ` (${found.type})`}`;
}

function known(attributes: readonly Attribute[] | undefined, md5: string | null): string {
  if (attributes !== undefined) {
    return attributes.map(({ name, value }) => `${name}: ${value}`).join(', ') || '(none)';
  }
  if (md5 === null) return 'no longer kept';
  return md5 === '' ? '(none)' : `no longer kept; their MD5 is ${md5}`;
}

function bodies({ original }: Send, { content, differed }: SuppressedSend): HTMLElement {
  const isDifferent = differed.includes('body');
  const title = h(
    'th',
    { scope: 'row' },
    'Body',
    isDifferent && h('span', { class: 'tag bad' }, 'differs'),
  );
  const before = original.content;
  if (before === null || content === null) {
    const md5 = original.bodyMd5 === null ? '' : ` Its MD5 is ${original.bodyMd5}.`;
    return h(
      'tr',
      { class: isDifferent ? 'differs' : '' },
      title,
      h(
        'td',
        {},
        before === null
          ? h('p', { class: 'hint' }, `No longer kept.${md5}`)
          : plainBody(before.body),
      ),
      h(
        'td',
        {},
        content === null
          ? h('p', { class: 'hint' }, 'No longer remembered.')
          : plainBody(content.body),
      ),
    );
  }
  const rows = compareTexts(pretty(before.body), pretty(content.body));
  const lines = rows.filter(({ left, right }) => isMarked(left) || isMarked(right)).length;
  return h(
    'tr',
    { class: isDifferent ? 'differs' : '' },
    title,
    h(
      'td',
      {},
      diffed(
        rows.map(({ left }) => left),
        'Body of the original',
      ),
      cutNote(before.body.length, before.bodyLength),
    ),
    h(
      'td',
      {},
      diffed(
        rows.map(({ right }) => right),
        'Body of the suppressed send',
      ),
      cutNote(content.body.length, content.bodyLength),
      lines > 0 && h('p', { class: 'hint' }, `${plural(lines, 'line')} with differences.`),
    ),
  );
}

function plainBody(body: string): HTMLElement {
  return h(
    'pre',
    { class: 'body', tabindex: 0, role: 'region', 'aria-label': 'Body' },
    pretty(body),
  );
}

function diffed(lines: readonly Line[], label: string): HTMLElement {
  return h(
    'pre',
    { class: 'body', tabindex: 0, role: 'region', 'aria-label': label },
    lines.map((line) =>
      h(
        'span',
        { class: line === undefined ? 'line absent' : isMarked(line) ? 'line changed' : 'line' },
        (line ?? []).map(({ text, isDifferent }) => (isDifferent ? h('mark', {}, text) : text)),
        '\n',
      ),
    ),
  );
}

function isMarked(line: Line): boolean {
  return line?.some(({ isDifferent }) => isDifferent) === true;
}
