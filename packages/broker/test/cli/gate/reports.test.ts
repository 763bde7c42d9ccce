/**
 * The reports of the gate for other programs: SARIF with the members that version 2.1.0 requires, JUnit XML that is well
 * formed whatever the findings contain, each beside the format on standard output.
 */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { reportForms } from '../../../src/cli/verify/report.ts';
import { base, mailer, Repository } from './repository.ts';

interface Result {
  ruleId: string;
  ruleIndex: number;
  level: string;
  message: { text: string };
  locations?: {
    physicalLocation: {
      artifactLocation: { uri: string; uriBaseId: string };
      region: { startLine: number };
    };
  }[];
  partialFingerprints: Record<string, string>;
}

/** Checks what the standard requires of a log with one run, and returns its results. */
function resultsIn(text: string): Result[] {
  const log = JSON.parse(text);
  assert.equal(log.version, '2.1.0');
  assert.match(log.$schema, /sarif-schema-2\.1\.0\.json$/);
  assert.equal(log.runs.length, 1);
  const [{ tool, results }] = log.runs;
  assert.equal(tool.driver.name, 'oncemq');
  const ids = tool.driver.rules.map(({ id }: { id: string }) => id);
  assert.equal(new Set(ids).size, ids.length, 'rules are unique');
  for (const result of results as Result[]) {
    assert.equal(ids[result.ruleIndex], result.ruleId);
    assert.ok(['none', 'note', 'warning', 'error'].includes(result.level));
    assert.equal(typeof result.message.text, 'string');
    for (const { physicalLocation } of result.locations ?? []) {
      const { uri } = physicalLocation.artifactLocation;
      assert.doesNotMatch(uri, /^\/|\\|\s/, 'a relative reference');
      assert.ok(physicalLocation.region.startLine >= 1);
    }
  }
  const prints = (results as Result[]).map((each) => JSON.stringify(each.partialFingerprints));
  assert.equal(new Set(prints).size, prints.length, 'each result has its own fingerprint');
  return results;
}

/** Throws unless tags are closed in order and every text is escaped. */
function checkXml(text: string): void {
  assert.match(text, /^<\?xml version="1\.0" encoding="UTF-8"\?>\n/);
  const open: string[] = [];
  let roots = 0;
  const rest = text
    .replace(/^<\?xml[^>]*\?>/, '')
    .replace(/<(\/?)([\w-]+)((?:\s+[\w-]+="[^"<]*")*)\s*(\/?)>/g, (_, close, name, __, alone) => {
      if (close === '/') assert.equal(open.pop(), name);
      else if (open.length === 0) roots += 1;
      if (close === '' && alone === '') open.push(name);
      return '';
    });
  assert.deepEqual(open, []);
  assert.equal(roots, 1);
  assert.doesNotMatch(rest, /[<>]/);
  assert.doesNotMatch(text, /&(?!(?:amp|lt|gt|quot|apos|#\d+);)/);
}

test('SARIF and JUnit are written beside the annotations of one run', (t) => {
  const repository = new Repository(t, base);
  repository.commit({
    'src/my mailer & co.js': mailer,
    'src/b.js': `${mailer}${mailer.replace('mail', 'more').replace(/^import.*/, '')}`,
  });
  const { code, out } = repository.gate(
    '--base',
    'main',
    '--format',
    'github',
    '--sarif',
    'a.sarif',
    '--junit',
    'a.xml',
  );
  assert.equal(code, 1);
  assert.equal(out.match(/^::error /gm)?.length, 3);
  const results = resultsIn(readFileSync(join(repository.folder, 'a.sarif'), 'utf8'));
  assert.deepEqual(
    results
      .map(({ locations }) => locations?.[0]?.physicalLocation)
      .map((place) => [place?.artifactLocation.uri, place?.region.startLine]),
    [
      ['src/b.js', 4],
      ['src/b.js', 8],
      ['src/my%20mailer%20%26%20co.js', 4],
    ],
  );
  const xml = readFileSync(join(repository.folder, 'a.xml'), 'utf8');
  checkXml(xml);
  assert.equal(xml.match(/<failure /g)?.length, 3);
  assert.match(xml, /classname="src\/my mailer &amp; co\.js"/);
});

test('a run without findings is a valid report, too', (t) => {
  const repository = new Repository(t, base);
  assert.deepEqual(resultsIn(repository.gate('--base', 'main', '--format', 'sarif').out), []);
  checkXml(repository.gate('--base', 'main', '--format', 'junit').out.trimEnd());
});

test('reports hold whatever a finding contains', () => {
  const findings = [
    { code: 'message-changed', text: '<a b="c">&\u0000\n"]]>', docs: 'd', message: '</failure>' },
  ] as const;
  const all = [{ subject: 'a "b" <c>', checks: [{ check: 'unchanged', title: '<&>', findings }] }];
  const [result] = resultsIn(reportForms.get('sarif')?.(all) ?? '');
  assert.equal(result?.locations, undefined);
  assert.match(result?.message.text ?? '', /<a b="c">&/);
  checkXml(reportForms.get('junit')?.(all) ?? '');
});
