/**
 * The page's own small rendering layer. `h` and `svg` create elements; `morph` updates the elements on the page in place
 * to match newly created ones, so that focus, selection and scroll position survive every repaint.
 *
 * Strings only ever become text nodes and attribute values, never markup, because nearly everything shown is untrusted
 * text from message senders.
 */

export type Child = Node | string | number | false | null | undefined | readonly Child[];

type Handler = (event: Event) => void;

export interface Props {
  readonly [name: string]: string | number | boolean | null | undefined | Handler;
}

/** A `key` identifies an element among its siblings across repaints; `value` and `checked` set properties, not attributes. */
export function h(tag: string, props: Props = {}, ...children: readonly Child[]): HTMLElement {
  return filled(document.createElement(tag), props, children);
}

export function svg(tag: string, props: Props = {}, ...children: readonly Child[]): SVGElement {
  return filled(document.createElementNS('http://www.w3.org/2000/svg', tag), props, children);
}

const handlers = ['onclick', 'oninput', 'onchange', 'onsubmit', 'onkeydown'] as const;

type Handling = Record<(typeof handlers)[number], Handler | null>;

function filled<E extends Element>(element: E, props: Props, children: readonly Child[]): E {
  for (const [name, value] of Object.entries(props)) {
    if (value === undefined || value === null || value === false) continue;
    if (typeof value === 'function') (element as unknown as Handling)[name as 'onclick'] = value;
    else if (name === 'key') element.setAttribute('data-key', String(value));
    else if (name === 'value' && 'value' in element) element.value = String(value);
    else if (name === 'checked' && 'checked' in element) element.checked = true;
    else element.setAttribute(name, value === true ? '' : String(value));
  }
  append(element, children);
  // A select only takes the value of an existing option, so it is set after the children.
  if (element instanceof HTMLSelectElement) element.value = String(props['value'] ?? '');
  return element;
}

function append(parent: Node, children: readonly Child[]): void {
  for (const child of children) {
    if (child === undefined || child === null || child === false) continue;
    if (Array.isArray(child)) append(parent, child as readonly Child[]);
    else if (child instanceof Node) parent.appendChild(child);
    else parent.appendChild(document.createTextNode(String(child)));
  }
}

/** Makes `old` look and behave like `next`, which is consumed. */
export function morph(old: Element, next: Element): void {
  morphAttributes(old, next);
  for (const name of handlers) {
    (old as unknown as Handling)[name] = (next as unknown as Handling)[name];
  }
  morphChildren(old, next);
  morphField(old, next);
}

function morphAttributes(old: Element, next: Element): void {
  for (const { name } of [...old.attributes]) {
    if (!next.hasAttribute(name)) old.removeAttribute(name);
  }
  for (const { name, value } of next.attributes) {
    if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  }
}

function morphChildren(old: Element, next: Element): void {
  const keyed = new Map<string, Element>();
  for (const child of old.children) {
    const key = keyOf(child);
    if (key !== undefined) keyed.set(key, child);
  }
  let current: ChildNode | null = old.firstChild;
  for (const wanted of [...next.childNodes]) {
    const key = keyOf(wanted);
    const known = key === undefined ? current : (keyed.get(key) ?? null);
    // Each is used once: if two elements have the same key, the second becomes a new element.
    if (key !== undefined) keyed.delete(key);
    if (known !== null && isAlike(known, wanted)) {
      if (known === current) current = current.nextSibling;
      else old.insertBefore(known, current);
      if (known instanceof Element) morph(known, wanted as Element);
      else if (known.nodeValue !== wanted.nodeValue) known.nodeValue = wanted.nodeValue;
    } else {
      old.insertBefore(wanted, current);
    }
  }
  while (current !== null) {
    const rest: ChildNode | null = current.nextSibling;
    current.remove();
    current = rest;
  }
}

/** Updates what a field shows, but never the text of the field that the user is editing. */
function morphField(old: Element, next: Element): void {
  if (old instanceof HTMLInputElement && next instanceof HTMLInputElement) {
    if (old.checked !== next.checked) old.checked = next.checked;
  }
  if (old === document.activeElement) return;
  const isField = (element: Element): element is HTMLInputElement =>
    /^(INPUT|TEXTAREA|SELECT)$/.test(element.tagName);
  if (isField(old) && isField(next) && old.value !== next.value) old.value = next.value;
}

function isAlike(a: Node, b: Node): boolean {
  return a.nodeName === b.nodeName && keyOf(a) === keyOf(b);
}

function keyOf(node: Node): string | undefined {
  return node instanceof Element ? (node.getAttribute('data-key') ?? undefined) : undefined;
}
