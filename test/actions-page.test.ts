// The reference pages of the actions match the shapes. If this fails after a change to a shape,
// `npm run docs` rewrites the pages.
//
// The tests of the api check that the server does what the shapes say.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { actionsPages } from '../scripts/actions-page.ts';

for (const { path, actions, text } of actionsPages) {
  test(`${path} matches the shapes; otherwise run \`npm run docs\``, () => {
    assert.equal(readFileSync(path, 'utf8'), text());
  });

  test(`every action has a section in ${path}, with a row for each of its parameters`, () => {
    const page = text();
    for (const [name, { input }] of Object.entries(actions)) {
      const start = page.indexOf(`\n## ${name}\n`);
      assert.ok(start > 0, `${name} has no section`);
      const end = page.indexOf('\n## ', start + 1);
      const section = page.slice(start, end < 0 ? undefined : end);
      for (const field of input.fields) {
        assert.ok(section.includes(`\n| \`${field.name}\` |`), `${name} lacks ${field.name}`);
      }
    }
  });
}

test('a map shows how its pairs are written in Query, including nested members', () => {
  const [queues, topics] = actionsPages.map(({ text }) => text()) as [string, string];
  assert.match(queues, /`Attribute\.N\.Name, \.N\.Value`/);
  assert.match(queues, /`SendMessageBatchRequestEntry\.N\.MessageAttribute\.N\.Value\.DataType`/);
  assert.match(topics, /`Attributes\.entry\.N\.key, \.N\.value`/);
  assert.match(topics, /`Tags\.member\.N\.Key`/);
});
