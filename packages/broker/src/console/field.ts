/**
 * A field of a form with its name above it and a hint below: the name is its label, the hint its description, so that a
 * screen reader says the one first and the other after it.
 */

import { h } from './dom.ts';

/** `id` is the field's own on the page. */
export function field(id: string, label: string, input: HTMLElement, hint?: string): HTMLElement {
  input.id = id;
  const hintId = `${id}-hint`;
  if (hint !== undefined) input.setAttribute('aria-describedby', hintId);
  return h(
    'div',
    { class: 'field' },
    h('label', { for: id }, label),
    input,
    hint !== undefined && h('p', { class: 'hint', id: hintId }, hint),
  );
}
