/**
 * Checks whether an XML document is well-formed, as far as an answer of AWS Query can be wrong: one root, elements closed
 * in order, no character that XML 1.0 does not allow, no `<` or `&` that is not markup. It accepts no comments, processing
 * instructions or CDATA, which the server never writes.
 */

export function xmlFault(text: string): string | undefined {
  if (forbidden.test(text)) return 'a character that XML does not have';
  const open: string[] = [];
  let roots = 0;
  let at = declaration.exec(text)?.[0].length ?? 0;
  while (at < text.length) {
    const next = text.indexOf('<', at);
    const content = text.slice(at, next < 0 ? undefined : next);
    if (loose.test(content)) return `a loose mark in ${JSON.stringify(content.slice(0, 100))}`;
    if (open.length === 0 && content.trim() !== '') return 'text outside of the root';
    if (next < 0) break;
    tag.lastIndex = next;
    const found = tag.exec(text);
    if (found === null) return `no tag: ${JSON.stringify(text.slice(next, next + 100))}`;
    const [whole, close, name, , empty] = found;
    if (close === '/') {
      if (open.pop() !== name) return `</${name}> closes another element`;
    } else {
      if (open.length === 0) roots += 1;
      if (empty !== '/') open.push(name as string);
    }
    at = next + whole.length;
  }
  if (open.length > 0) return `<${open.at(-1)}> is not closed`;
  return roots === 1 ? undefined : `${roots} roots`;
}

const declaration = /^<\?xml version="1\.0"\?>/;
// With the flag u, only unpaired surrogates match.
const forbidden = /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/u;
const loose = /&(?!(?:amp|lt|gt|quot|apos|#x[0-9A-Fa-f]+);)|]]>/;
const tag = /<(\/?)([A-Za-z][\w.-]*)((?: [A-Za-z][\w.-]*="[^"<&]*")*)(\/?)>/y;
