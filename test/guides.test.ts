// The guides match the code: README shows what the example runs, and the server's guide lists every setting with its
// flag, its variable and its default.
//
// tidy.test.ts checks the links, reference.test.ts the reference pages.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { runInThisContext } from 'node:vm';
import * as toolkit from '@oncemq/toolkit';
import { transform } from '@swc/wasm-typescript';
import { z } from 'zod';
import { settings } from '#broker/server/config/settings.js';

test('the first code block of README, after its client, is code of the first example', () => {
  const [, block = ''] = /```ts\n([\s\S]*?)```/.exec(readFileSync('README.md', 'utf8')) ?? [];
  const example = readFileSync('examples/01-send-and-receive/main.ts', 'utf8');
  // The example starts its own server, so only the code after the client is identical.
  const shown = block.slice(block.indexOf('const { QueueUrl }')).trim();
  assert.ok(shown.length > 100);
  assert.ok(example.includes(shown), shown);
});

test('the producer in README keeps the contract that its comment shows', async () => {
  const blocks = [...readFileSync('README.md', 'utf8').matchAll(/```ts\n([\s\S]*?)```/g)];
  const block = blocks.map(([, code = '']) => code).find((code) => code.includes('defineProducer'));
  const contract = { ...toolkit.defaultContract, namespace: 'shop' };
  const program = (block ?? '').replace('export const orders: Producer<Order> =', 'return');
  const { code } = await transform(`(({ defineProducer, key, loadContract, z }) => {${program}})`, {
    mode: 'strip-only',
  });
  const define = runInThisContext(code) as (names: object) => toolkit.AnyProducer;
  const orders = define({ ...toolkit, z, loadContract: () => contract });
  const [first, second] = (orders.options.samples ?? []).map((sample) => orders.envelope(sample));
  assert.equal(first?.event_source, 'shop.web.orders');
  assert.notEqual(first?.dedupe_key, second?.dedupe_key);
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
      // In a table a bar needs a backslash.
      const flag = `--${name}${value === undefined ? '' : ` ${value.replaceAll('|', '\\|')}`}`;
      const row = guide.split('\n').find((line) => line.startsWith(`| \`${flag}\` |`));
      assert.ok(row?.includes(`\`${variable}\``), `${flag} and ${variable} in one row`);
      if (fallback !== undefined) assert.ok(row?.includes(`\`${fallback}\``), fallback);
    });
  }
});
