// The guides match the code: README shows what the example runs, and the server's guide lists every setting with its
// flag, its variable and its default.
//
// tidy.test.ts checks the links, reference.test.ts the reference pages.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { settings } from '#broker/server/config.js';

test('the first code block of README, after its client, is code of the first example', () => {
  const [, block = ''] = /```ts\n([\s\S]*?)```/.exec(readFileSync('README.md', 'utf8')) ?? [];
  const example = readFileSync('examples/01-send-and-receive/main.ts', 'utf8');
  // The example starts its own server, so only the code after the client is identical.
  const shown = block.slice(block.indexOf('const { QueueUrl }')).trim();
  assert.ok(shown.length > 100);
  assert.ok(example.includes(shown), shown);
});

test('the producer in README is the one of the pipeline example', () => {
  const blocks = [...readFileSync('README.md', 'utf8').matchAll(/```ts\n([\s\S]*?)```/g)];
  const shown = blocks.map(([, code = '']) => code).find((code) => code.includes('defineProducer'));
  const example = readFileSync('examples/08-landsat-refresh/landsat.producer.ts', 'utf8');
  assert.ok(shown !== undefined && example.includes(shown), shown);
});

test('the id explained in README is the hash of the body it sends', () => {
  const readme = readFileSync('README.md', 'utf8');
  const body = /MessageBody: '([^']+)'/.exec(readme)?.[1] as string;
  assert.ok(readme.includes(`id         ${createHash('sha256').update(body).digest('hex')}`));
});

describe('every setting is in the guide', () => {
  const guide = readFileSync('docs/guide/server.md', 'utf8');
  for (const [name, { value, default: fallback, notYet }] of Object.entries(settings)) {
    test(`--${name} is listed in docs/guide/server.md`, () => {
      if (notYet !== undefined) {
        assert.match(guide, new RegExp(`\`--${name}[ \`]`));
        return;
      }
      const variable = `ONCEMQ_${name.toUpperCase().replaceAll('-', '_')}`;
      const flag = `--${name}${value === undefined ? '' : ` ${value}`}`;
      const row = guide.split('\n').find((line) => line.startsWith(`| \`${flag}\` |`));
      assert.ok(row?.includes(`\`${variable}\``), `${flag} and ${variable} in one row`);
      if (fallback !== undefined) assert.ok(row?.includes(`\`${fallback}\``), fallback);
    });
  }
});
