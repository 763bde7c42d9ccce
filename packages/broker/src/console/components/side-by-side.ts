/**
 * A suppressed send and its original side by side: first the fields that differ, marked, then the bodies line by line.
 * Equal fields are shown once, across both sides. If the original's content is no longer kept, the digests that the
 * window still has are shown instead.
 */

import type { Attribute, Content, Send, SuppressedSend } from '../app/answers.ts';
import { bodyText, cutNote } from './body-text.ts';
import { compareTexts, type Line } from './diff.ts';
import { type Child, h } from './dom.ts';
import { dayAndTime, plural } from './format.ts';
import { pretty } from './json-text.ts';

interface Fact {
  readonly title: string;
  readonly left: string;
  readonly right: string;
  /** Not a comparison: the two sides always differ. */
  readonly isOfItsOwn?: boolean;
  readonly isCode?: boolean;
}

/** Labels a cell on small screens, where the two sides are one below the other. */
type Side = { readonly 'data-side': string };
const onLeft: Side = { 'data-side': 'Original' };
const onRight: Side = { 'data-side': 'Suppressed' };

export function sideBySide(send: Send, suppressed: SuppressedSend): HTMLElement {
  const all = facts(send, suppressed);
  return h(
    'table',
    { class: 'side-by-side' },
    h('caption', { class: 'unseen' }, 'The original and the suppressed send, side by side'),
    h(
      'thead',
      {},
      h(
        'tr',
        {},
        h('td', {}),
        h('th', { scope: 'col' }, 'Original (accepted)'),
        h('th', { scope: 'col' }, 'Suppressed'),
      ),
    ),
    h(
      'tbody',
      {},
      all.filter((fact) => !isSame(fact)).map(row),
      bodies(send, suppressed),
      all.filter(isSame).map(row),
    ),
  );
}

function facts({ original, id, source }: Send, suppressed: SuppressedSend): Fact[] {
  const isGroupKnown = original.groupId !== null || !suppressed.differed.includes('group');
  return [
    {
      title: 'Sent',
      left: dayAndTime(original.sentAt),
      right: dayAndTime(suppressed.at),
      isOfItsOwn: true,
    },
    {
      title: 'Message id',
      left: `${original.messageId}${original.isInQueue ? '' : ', no longer in the queue'}`,
      right: 'none, because it was suppressed',
      isOfItsOwn: true,
    },
    {
      title: 'Group',
      left: isGroupKnown ? (original.groupId ?? suppressed.groupId) : 'no longer known',
      right: suppressed.groupId,
    },
    ...attributeFacts(original, suppressed),
    { title: 'Deduplication id', left: id, right: suppressed.id, isCode: true },
    { title: 'Source of the id', left: idSource(source), right: idSource(suppressed.source) },
  ];
}

function idSource(source: Send['source']): string {
  return source === 'content' ? 'SHA-256 of the body' : 'set by the sender';
}

function isSame({ left, right, isOfItsOwn = false }: Fact): boolean {
  return !isOfItsOwn && left === right;
}

/** Says in words, not by color alone, whether the two sides are the same. */
function row(fact: Fact): HTMLElement {
  const { title, left, right, isOfItsOwn = false, isCode = false } = fact;
  const text = (value: string): HTMLElement => h(isCode ? 'code' : 'bdi', {}, value);
  if (isSame(fact)) {
    return h(
      'tr',
      {},
      h('th', { scope: 'row' }, title),
      h('td', { colspan: 2 }, text(left), same()),
    );
  }
  const cell = (value: string, side: Side): HTMLElement =>
    h('td', side, isOfItsOwn ? text(value) : h('mark', {}, text(value)));
  return h(
    'tr',
    {},
    h('th', { scope: 'row' }, title, !isOfItsOwn && differs()),
    cell(left, onLeft),
    cell(right, onRight),
  );
}

function same(): HTMLElement {
  return h('span', { class: 'hint' }, ' the same in both');
}

function differs(): HTMLElement {
  return h('span', { class: 'tag bad' }, 'differs');
}

function attributeFacts(original: Send['original'], { content, differed }: SuppressedSend): Fact[] {
  const before = original.content?.attributes;
  const after = content?.attributes;
  if (before === undefined || after === undefined) {
    if (!differed.includes('attributes')) return [];
    const left = known(before, original.attributesMd5);
    return [{ title: 'Attributes', left, right: known(after, null) }];
  }
  const names = [...new Set([...before, ...after].map(({ name }) => name))].toSorted();
  return names.map((name) => ({
    title: `Attribute ${name}`,
    left: valueIn(before, name),
    right: valueIn(after, name),
  }));
}

function valueIn(attributes: readonly Attribute[], name: string): string {
  const found = attributes.find((each) => each.name === name);
  if (found === undefined) return '(none)';
  return found.type === 'String' ? found.value : `${found.value} (${found.type})`;
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
  const title = h('th', { scope: 'row' }, 'Body', isDifferent && differs());
  if (content !== null && !isDifferent) {
    const cell = [
      bodyText(content.body, 'Body of both'),
      cutNote(content.body.length, content.bodyLength),
      same(),
    ];
    return h('tr', {}, title, h('td', { colspan: 2 }, cell));
  }
  if (original.content === null || content === null) {
    const md5 = original.bodyMd5 === null ? '' : ` Its MD5 is ${original.bodyMd5}.`;
    return h(
      'tr',
      {},
      title,
      h('td', onLeft, whole(original.content, 'Body of the original', `No longer kept.${md5}`)),
      h('td', onRight, whole(content, 'Body of the suppressed send', 'No longer remembered.')),
    );
  }
  const rows = compareTexts(...comparable(original.content.body, content.body));
  const lines = rows.filter(({ left, right }) => isMarked(left) || isMarked(right)).length;
  return h(
    'tr',
    {},
    title,
    h(
      'td',
      onLeft,
      shown(
        rows.map(({ left }) => marked(left)),
        'Body of the original',
      ),
      cutNote(original.content.body.length, original.content.bodyLength),
    ),
    h(
      'td',
      onRight,
      shown(
        rows.map(({ right }) => marked(right)),
        'Body of the suppressed send',
      ),
      cutNote(content.body.length, content.bodyLength),
      h(
        'p',
        { class: 'hint' },
        lines === 0
          ? 'The difference is beyond the part that is shown.'
          : `${plural(lines, 'line')} with differences.`,
      ),
    ),
  );
}

/** Both texts indented, unless indenting hides the only difference between them. */
function comparable(left: string, right: string): [left: string, right: string] {
  const [prettyLeft, prettyRight] = [pretty(left), pretty(right)];
  return prettyLeft === prettyRight ? [left, right] : [prettyLeft, prettyRight];
}

function whole(content: Content | null, label: string, otherwise: string): Child {
  if (content === null) return h('p', { class: 'hint' }, otherwise);
  return [bodyText(content.body, label), cutNote(content.body.length, content.bodyLength)];
}

function shown(content: Child, label: string): HTMLElement {
  return h('pre', { class: 'body', tabindex: 0, role: 'region', 'aria-label': label }, content);
}

function marked(line: Line): HTMLElement {
  return h(
    'span',
    { class: line === undefined ? 'line absent' : isMarked(line) ? 'line changed' : 'line' },
    (line ?? []).map(({ text, isDifferent }) => (isDifferent ? h('mark', {}, text) : text)),
    '\n',
  );
}

function isMarked(line: Line): boolean {
  return line?.some(({ isDifferent }) => isDifferent) === true;
}
