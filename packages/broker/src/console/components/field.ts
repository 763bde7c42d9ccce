/**
 * A form field with its name above it and a hint below: the name is its label and the hint its description, so that a
 * screen reader reads the name first and then the hint.
 */

import { h } from './dom.ts';

/** `id` must be unique on the page. */
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
