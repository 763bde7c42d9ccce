// The reference page of the actions says what the shapes say. When this fails after a change to a
// shape, `npm run docs` writes the page anew.
//
// That the shapes are what the server does is tested beside the api.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { sqsActions } from '#broker/api/shapes/sqs.js';
import { actionsPage, actionsPagePath } from '../scripts/actions-page.ts';

test('docs/reference/actions.md is what the shapes say; else run `npm run docs`', () => {
  assert.equal(readFileSync(actionsPagePath, 'utf8'), actionsPage());
});

test('every action has a section, with a row for each of its parameters', () => {
  const page = actionsPage();
  for (const [name, { input }] of Object.entries(sqsActions)) {
    const start = page.indexOf(`\n## ${name}\n`);
    assert.ok(start > 0, `${name} has no section`);
    const end = page.indexOf('\n## ', start + 1);
    const section = page.slice(start, end < 0 ? undefined : end);
    for (const field of input.fields) {
      assert.ok(section.includes(`\n| \`${field.name}\` |`), `${name} lacks ${field.name}`);
    }
  }
});

test('a map shows how its pairs are spelled in Query, and the members of what it holds', () => {
  const page = actionsPage();
  assert.match(page, /`Attribute\.N\.Name, \.N\.Value`/);
  assert.match(page, /`SendMessageBatchRequestEntry\.N\.MessageAttribute\.N\.Value\.DataType`/);
});
