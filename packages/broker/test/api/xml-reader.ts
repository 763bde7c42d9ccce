/**
 * Reads the XML that the api writes, as strictly as a parser must: every element closed in order, no bare ampersand, no
 * character that XML cannot represent, and a bare carriage return read as a line feed. An element without child elements
 * becomes its text; any other becomes an object of its children by name, with a list where a name occurs more than once.
 */

import assert from 'node:assert/strict';

export type XmlValue = string | { [name: string]: XmlValue | XmlValue[] };

const entities: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#xD;': '\r',
};

const illegal = /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/u;
const opening = /<([A-Za-z][A-Za-z0-9]*)( xmlns="[^"<&]*")?(\/?)>/y;

export function readXml(document: string): { root: string; value: XmlValue } {
  assert.doesNotMatch(document, illegal, 'a character that XML cannot hold');
  const text = document.replace(/^<\?xml version="1\.0"\?>/, '').replaceAll(/\r\n?/g, '\n');
  const { name, value, end } = readElement(text, 0);
  assert.equal(text.slice(end), '', 'there is more behind the document');
  return { root: name, value };
}

function readElement(text: string, start: number): { name: string; value: XmlValue; end: number } {
  opening.lastIndex = start;
  const match = opening.exec(text);
  assert.ok(match, `no element at ${text.slice(start, start + 40)}`);
  const [whole, name = '', , slash] = match;
  let at = start + whole.length;
  if (slash === '/') return { name, value: '', end: at };
  const closing = `</${name}>`;
  const children: { [name: string]: XmlValue | XmlValue[] } = Object.create(null);
  let content = '';
  while (!text.startsWith(closing, at)) {
    const next = text.indexOf('<', at);
    assert.ok(next >= 0, `${name} is not closed`);
    if (next > at) {
      content += text.slice(at, next);
      at = next;
    } else {
      const child = readElement(text, at);
      const before = children[child.name];
      children[child.name] =
        before === undefined
          ? child.value
          : [...(Array.isArray(before) ? before : [before]), child.value];
      at = child.end;
    }
  }
  const hasChildren = Object.keys(children).length > 0;
  if (hasChildren) assert.equal(content, '', `text between the elements of ${name}`);
  return {
    name,
    value: hasChildren ? { ...children } : plainText(content),
    end: at + closing.length,
  };
}

function plainText(text: string): string {
  return text.replaceAll(/&[^;]*;?/g, (entity) => {
    const character = entities[entity];
    assert.ok(character !== undefined, `${entity} is not an entity`);
    return character;
  });
}
