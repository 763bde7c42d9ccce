/**
 * The list of backends itself: a gap names a test that exists, and says why; tests know the port and no store, so that an
 * entry of the list is all that a new backend needs.
 */

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { backends } from './backends.ts';

const folder = join('packages', 'broker', 'test', 'conformance');
const sources = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts'))
  .map((name) => ({ name, text: readFileSync(join(folder, name), 'utf8') }));

function staleGaps(gaps: Readonly<Record<string, string>>): string[] {
  return Object.entries(gaps)
    .filter(([title, reason]) => {
      const quoted = [`'${title.replaceAll("'", "\\'")}'`, `"${title}"`];
      return reason === '' || !sources.some(({ text }) => quoted.some((q) => text.includes(q)));
    })
    .map(([title]) => title);
}

/** What would choose a store. Of storage a test may use the port; of the server contracts, which work on any port. */
function imports(text: string): string[] {
  const specifiers = [...text.matchAll(/from '(?:\.\.\/)+src\/([^']+)'/g)].map(([, path]) => path);
  return specifiers.filter((path): path is string =>
    /^(storage\/(?!backend\.ts)|core\/engine\.ts|server\/(?!contract\/))/.test(path ?? ''),
  );
}

describe('the list of backends', () => {
  test('has no gap without a reason, or of a test that does not exist', () => {
    const planted = ['no test has', 'this title'].join(' ');
    assert.deepEqual(staleGaps({ [planted]: 'a reason' }), [planted]);
    assert.deepEqual(staleGaps({ 'time goes on where it was': '' }), ['time goes on where it was']);
    assert.deepEqual(staleGaps({ 'time goes on where it was': 'a reason' }), []);
    for (const { gaps } of backends) assert.deepEqual(staleGaps(gaps), []);
  });

  test('is the only place that knows a store', () => {
    assert.deepEqual(imports(`import { a } from '../../${'src'}/storage/memory/open.ts';`), [
      'storage/memory/open.ts',
    ]);
    const knowing = sources.filter(({ text }) => imports(text).length > 0).map(({ name }) => name);
    assert.deepEqual(knowing, ['backends.ts']);
  });
});
