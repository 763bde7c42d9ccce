// Writes docs/reference/actions.md from the shapes of the actions: every action, every parameter, every
// member of every answer, and what differs from Amazon's.
//
// `actionsPage()` is the page as a text; a test compares it with the file, so that the two cannot drift
// apart. Run as a script it writes the file.

import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ActionShape, Field, Structure, Type } from '#broker/api/shapes/shape.js';
import { sqsActions } from '#broker/api/shapes/sqs.js';

export const actionsPagePath = 'docs/reference/actions.md';

const opening = `# The actions of Amazon SQS

All ${Object.keys(sqsActions).length} actions are there, in both wire forms: AWS JSON 1.0 (\`X-Amz-Target: AmazonSQS.<Action>\`) and AWS Query
(\`Action=<Action>\`, answers in XML). This page is written from the same descriptions that read and write
the requests (\`packages/broker/src/api/shapes/sqs.ts\`) by \`npm run docs\`; do not edit it by hand.

A parameter has one name in AWS JSON; the column Query shows how it is spelled there, with \`N\` counting
from 1, and the column XML where the older form's answers have it. What an entry of a list or map holds is
listed below it.
`;

export function actionsPage(): string {
  const sections = Object.entries(sqsActions).map(([name, shape]) => section(name, shape));
  const index = Object.keys(sqsActions).map((name) => `[${name}](#${name.toLowerCase()})`);
  return `${[opening, `${index.join(' · ')}\n`, ...sections].join('\n')}`;
}

function section(name: string, { doc, input, output, differs }: ActionShape): string {
  const parameters = rows(input, inQuery).map(({ name, wire, field }) => {
    const { type, isRequired, doc } = field;
    return tableRow([`\`${name}\``, typeText(type), isRequired ? 'yes' : '', `\`${wire}\``, doc]);
  });
  const members = (output === undefined ? [] : rows(output, inXml)).map(({ name, wire, field }) => {
    return tableRow([`\`${name}\``, typeText(field.type), `\`${wire}\``, field.doc]);
  });
  return [
    `## ${name}\n`,
    `${doc}\n`,
    ...(differs === undefined ? [] : [`**Differs from AWS:** ${differs}\n`]),
    tableRow(['Parameter', 'Type', 'Required', 'Query', 'Meaning']),
    tableRow(['---', '---', '---', '---', '---']),
    ...parameters,
    '',
    ...(members.length === 0
      ? ['The answer is empty.\n']
      : [
          tableRow(['Answer', 'Type', 'XML', 'Meaning']),
          tableRow(['---', '---', '---', '---']),
          ...members,
          '',
        ]),
  ].join('\n');
}

/** How the older wire form spells what is in a list or a map. */
interface Spelling {
  own(type: Type): string;
  held(type: Type): string;
}

const inQuery: Spelling = {
  own(type) {
    if (type.is === 'map') return `.N.${type.key}, .N.${type.value}`;
    return type.is === 'list' ? '.N' : '';
  },
  held: (type) => (type.is === 'map' ? `.N.${type.value}.` : '.N.'),
};

const inXml: Spelling = {
  own: (type) => (type.is === 'map' ? `/${type.key}, /${type.value}` : ''),
  held: (type) => (type.is === 'map' ? `/${type.value}/` : '/'),
};

interface Row {
  readonly name: string;
  readonly wire: string;
  readonly field: Field;
}

/** The members of a structure, each followed by those of what it holds. */
function rows(
  { fields }: Structure,
  spelling: Spelling,
  above: { name: string; wire: string } = { name: '', wire: '' },
): Row[] {
  return fields.flatMap((field) => {
    const { type } = field;
    const name = above.name + field.name;
    const wire = above.wire + field.query;
    const own = { name, wire: wire + spelling.own(type), field };
    const held = heldStructure(type);
    if (held === undefined) return [own];
    const below = { name: `${name}[].`, wire: wire + spelling.held(type) };
    return [own, ...rows(held, spelling, below)];
  });
}

function heldStructure(type: Type): Structure | undefined {
  const held = type.is === 'list' || type.is === 'map' ? type.of : type;
  return held.is === 'structure' ? held : undefined;
}

function typeText(type: Type): string {
  if (type.is === 'list') return `list of ${typeText(type.of)}`;
  if (type.is === 'map') return `map of ${typeText(type.of)}`;
  return type.is === 'blob' ? 'base64' : type.is;
}

function tableRow(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = path.join(path.dirname(fileURLToPath(import.meta.url)), '..', '..');
  writeFileSync(path.join(root, actionsPagePath), actionsPage());
}
