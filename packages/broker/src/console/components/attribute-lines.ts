/**
 * Parses message attributes as people type them, one per line: `name: value`. An error quotes the line or the name.
 */

const lineForm = /^\s*([^:=\s]+)\s*[:=]\s*(.+?)\s*$/;

export interface TypedAttribute {
  readonly name: string;
  readonly value: string;
}

export function attributesIn(text: string): TypedAttribute[] {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const names = new Set<string>();
  return lines.map((line) => {
    const [, name, value] = lineForm.exec(line) ?? [];
    if (name === undefined || value === undefined) {
      throw new Error(`“${line}” is not an attribute. Write it as name: value.`);
    }
    if (names.has(name)) throw new Error(`The attribute ${name} appears twice.`);
    names.add(name);
    return { name, value };
  });
}
