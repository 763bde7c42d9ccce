/**
 * Shows the content of a message: JSON indented and colored, anything else as it is, and attributes as a small table. All
 * of it is untrusted text, so its writing direction is isolated and it is never rendered as markup.
 */

import type { Attribute } from '../app/answers.ts';
import { type Child, h } from './dom.ts';
import { exactCount } from './format.ts';
import { pretty } from './json-text.ts';

/** Longer texts are shown without colors, because each colored token is an element. */
const coloredCharsMax = 32 * 1024;

const token =
  /("(?:[^"\\]|\\.)*")(\s*:)?|\b(true|false|null)\b|(-?\b\d+(?:\.\d+)?(?:[eE][+-]?\d+)?\b)/g;

export function bodyText(body: string, label: string): HTMLElement {
  const text = pretty(body);
  // It scrolls, so it must be reachable by keyboard.
  return h(
    'pre',
    { class: 'body', tabindex: 0, role: 'region', 'aria-label': label },
    colored(text, text !== body),
  );
}

/** How much of a long body is shown. */
export function cutNote(shown: number, whole: number): Child {
  if (shown >= whole) return undefined;
  return h(
    'p',
    { class: 'hint' },
    `The first ${exactCount(shown)} of ${exactCount(whole)} characters.`,
  );
}

export function attributeTable(attributes: readonly Attribute[]): Child {
  if (attributes.length === 0) return undefined;
  return h(
    'table',
    { class: 'pairs' },
    h('caption', {}, 'Attributes'),
    h(
      'tbody',
      {},
      attributes.map(({ name, type, value }) =>
        h(
          'tr',
          {},
          h('th', { scope: 'row' }, h('bdi', {}, name)),
          h('td', { class: 'muted' }, h('bdi', {}, type)),
          h('td', { class: 'text' }, h('bdi', {}, value)),
        ),
      ),
    ),
  );
}

function colored(text: string, isJson: boolean): Child {
  if (!isJson || text.length > coloredCharsMax) return text;
  const parts: Child[] = [];
  let end = 0;
  for (const found of text.matchAll(token)) {
    const [whole, string, colon, word] = found;
    parts.push(text.slice(end, found.index));
    const kind =
      colon !== undefined
        ? 'key'
        : string !== undefined
          ? 'string'
          : word !== undefined
            ? 'word'
            : 'digits';
    parts.push(h('span', { class: kind }, colon === undefined ? whole : string));
    if (colon !== undefined) parts.push(colon);
    end = found.index + whole.length;
  }
  parts.push(text.slice(end));
  return parts;
}
