// Writes docs/reference/actions.md and actions-sns.md from the shapes of the actions: every action, every
// parameter, every member of every response, and the differences from Amazon.
//
// A test compares each page's `text()` with its file, so that the two cannot drift apart. Run as a script,
// this module writes the files.

import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ActionShape, Field, Structure, Type } from '#broker/api/shapes/shape.js';
import { snsActions } from '#broker/api/shapes/sns.js';
import { sqsActions } from '#broker/api/shapes/sqs.js';

export interface ActionsPage {
  readonly path: string;
  readonly actions: Readonly<Record<string, ActionShape>>;
  text(): string;
}

const queueOpening = `# The actions of Amazon SQS

All ${Object.keys(sqsActions).length} actions are supported, in both wire formats: AWS JSON 1.0 (\`X-Amz-Target: AmazonSQS.<Action>\`) and AWS Query
(\`Action=<Action>\`, answers in XML, or in JSON for \`Accept: application/json\`). This page is generated
from the same descriptions that read and write the requests (\`packages/broker/src/api/shapes/sqs.ts\`) by
\`npm run docs\`; do not edit it by hand.

A parameter has one name in AWS JSON; the column Query shows how it is spelled there, with \`N\` counting
from 1, and the column XML where it is in the older form's answers. The members of a list or map entry are
listed below it.
`;

const topicOpening = `# The actions of Amazon SNS

The ${Object.keys(snsActions).length} actions about topics, subscriptions and publishing are supported, in AWS Query, the only wire format of SNS
(\`Action=<Action>\`, answers in XML, or in JSON for \`ContentType=JSON\` or \`Accept: application/json\`).
Those about text messages, mobile devices and e-mail are refused with \`InvalidAction\`. This page is generated
from the same descriptions that read and write the requests (\`packages/broker/src/api/shapes/sns.ts\`) by \`npm run docs\`; do not edit it by hand.

The column Query shows how a parameter is spelled, with \`N\` counting from 1, and the column XML where it is in answers. The
members of a list or map entry are listed below it.
`;

export const actionsPages: readonly ActionsPage[] = [
  page('docs/reference/actions.md', queueOpening, sqsActions),
  page('docs/reference/actions-sns.md', topicOpening, snsActions),
];

function page(path: string, opening: string, actions: ActionsPage['actions']): ActionsPage {
  const text = (): string => {
    const sections = Object.entries(actions).map(([name, shape]) => section(name, shape));
    const index = Object.keys(actions).map((name) => `[${name}](#${name.toLowerCase()})`);
    return `${[opening, `${index.join(' · ')}\n`, ...sections].join('\n')}`;
  };
  return { path, actions, text };
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

/** How the older wire form (Query, XML) spells a list or map itself, and the prefix of its contents. */
interface Spelling {
  own(type: Type): string;
  held(type: Type): string;
}

const inQuery: Spelling = {
  own(type) {
    const within = withinOf(type, '.');
    if (type.is === 'map') return `${within}.N.${type.key}, .N.${type.value}`;
    return type.is === 'list' ? `${within}.N` : '';
  },
  held: (type) => `${withinOf(type, '.')}${type.is === 'map' ? `.N.${type.value}.` : '.N.'}`,
};

const inXml: Spelling = {
  own: (type) => {
    return `${withinOf(type, '/')}${type.is === 'map' ? `/${type.key}, /${type.value}` : ''}`;
  },
  held: (type) => `${withinOf(type, '/')}${type.is === 'map' ? `/${type.value}/` : '/'}`,
};

/** The extra element that SNS puts around the items of a list or map. */
function withinOf(type: Type, separator: string): string {
  const within = type.is === 'list' || type.is === 'map' ? type.within : undefined;
  return within === undefined ? '' : `${separator}${within}`;
}

interface Row {
  readonly name: string;
  readonly wire: string;
  readonly field: Field;
}

/** The members of a structure, each followed by the members of the structure it contains. */
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
  for (const { path: file, text } of actionsPages) writeFileSync(path.join(root, file), text());
}
