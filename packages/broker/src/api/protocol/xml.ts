/**
 * Writes the XML answers of AWS Query (3.6–3.9) by shape: a list repeats its element, a map has an element with a pair
 * inside for each entry; SNS wraps both in an element, which is present even if they are empty. XML is only written here,
 * never read.
 *
 * A carriage return is written as a character reference, since parsers turn a bare one into a line feed (3.8).
 * Characters that XML cannot represent (a text may echo what the client sent) become U+FFFD.
 */

import type { Structure, Type, Value, ValueMap } from '../shapes/shape.ts';
import { encodeBase64 } from './reading.ts';

/** Members without a value, and empty lists and maps of SQS, are left out (2.4). */
export function writeMembers({ fields }: Structure, value: ValueMap): string {
  let text = '';
  for (const { name, query, type } of fields) {
    const member = value[name];
    if (member !== undefined) text += writeElement(query, type, member);
  }
  return text;
}

/** `<Name>content</Name>`, or `<Name/>` without content. */
export function element(name: string, content: string): string {
  return content === '' ? `<${name}/>` : `<${name}>${content}</${name}>`;
}

export function escapeXml(text: string): string {
  if (!special.test(text)) return text;
  return text.length < manyChars
    ? text.replace(eachSpecial, (found) => entities[found] ?? '\uFFFD')
    : escapedBytes(text);
}

export function writeElement(name: string, type: Type, value: Value): string {
  switch (type.is) {
    case 'structure':
      return element(name, writeMembers(type, value as ValueMap));
    case 'list': {
      const items = (value as readonly Value[])
        .map((item) => writeElement(type.within ?? name, type.of, item))
        .join('');
      return type.within === undefined ? items : element(name, items);
    }
    case 'map': {
      const entries = Object.entries(value as Readonly<Record<string, Value>>)
        .map(([key, item]) => {
          const pair = element(type.key, escapeXml(key)) + writeElement(type.value, type.of, item);
          return element(type.within ?? name, pair);
        })
        .join('');
      return type.within === undefined ? entries : element(name, entries);
    }
    case 'blob':
      return element(name, encodeBase64(value as Uint8Array));
    default:
      return element(name, escapeXml(String(value)));
  }
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\r': '&#xD;',
};

// Markup, and what XML cannot represent or preserve. With the flag u, only unpaired surrogates match.
const special = /[&<>"]|[^\t\n\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/u;
const eachSpecial = new RegExp(special, 'gu');

/**
 * From here on, a text is escaped byte by byte: a call for each of a million quotes takes longer by a factor of ten. Made from a
 * string, the bytes are valid UTF-8, with U+FFFD for unpaired surrogates.
 */
const manyChars = 1_024;

const replacement = Buffer.from('\uFFFD');
/** What each byte becomes: how many bytes, and these, as the two halves of eight. */
const widths = new Uint8Array(256);
const firstHalves = new Uint32Array(256);
const secondHalves = new Uint32Array(256);
for (let byte = 0; byte < 256; byte += 1) {
  const char = String.fromCharCode(byte);
  const isLost = byte < 0x20 && char !== '\t' && char !== '\n';
  const entity = Object.hasOwn(entities, char) ? Buffer.from(entities[char] as string) : undefined;
  const written = entity ?? (isLost ? replacement : Uint8Array.of(byte));
  const eight = Buffer.alloc(8);
  eight.set(written);
  widths[byte] = written.length;
  firstHalves[byte] = eight.readUInt32LE(0);
  secondHalves[byte] = eight.readUInt32LE(4);
}

/** Writes eight bytes for each, of which the next one overwrites what is too many: a loop over them would take three times as long. */
function escapedBytes(text: string): string {
  const bytes = Buffer.from(text);
  let size = 0;
  for (let at = 0; at < bytes.length; at += 1) size += widths[bytes[at] as number] as number;
  const escaped = Buffer.allocUnsafe(size + 8);
  const view = new DataView(escaped.buffer, escaped.byteOffset, escaped.length);
  let end = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] as number;
    view.setUint32(end, firstHalves[byte] as number, true);
    view.setUint32(end + 4, secondHalves[byte] as number, true);
    end += widths[byte] as number;
    // U+FFFE and U+FFFF, EF BF BE and EF BF BF, become EF BF BD.
    if (byte >= 0xbe && bytes[at - 1] === 0xbf && bytes[at - 2] === 0xef) escaped[end - 1] = 0xbd;
  }
  return escaped.toString('utf8', 0, size);
}
