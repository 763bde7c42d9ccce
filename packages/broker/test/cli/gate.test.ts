/**
 * `oncemq gate` in a repository that each test creates: a base, a branch, and what the branch adds or changes.
 */

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { base, keys, mailer, main, producer, Repository } from './gate/repository.ts';

test('a branch without relevant changes passes, whatever existed before', (t) => {
  const repository = new Repository(t, base);
  repository.commit({ 'README.md': 'new' });
  const { code, out, error } = repository.gate('--base', 'main');
  assert.equal(code, 0, error);
  assert.match(out, /nothing to check/);
});

test('untracked source files are counted, and checked once they are added', (t) => {
  const repository = new Repository(t, base);
  const write = (name: string, text: string): void =>
    writeFileSync(join(repository.folder, name), text);
  write('notes.txt', 'x');
  write('src/new.producer.ts', producer('[]'));
  const one = repository.gate('--base', 'main', '--format', 'json');
  assert.equal(one.code, 0, one.error);
  assert.match(one.error, /^oncemq: 1 source file that git does not track was not checked\./);
  assert.deepEqual((JSON.parse(one.out) as { subjects: unknown[] }).subjects, []);
  write('src/mailer.js', mailer);
  assert.match(repository.gate('--base', 'main').error, /: 2 source files .* were not checked\./);
  repository.git('add', 'src');
  const added = repository.gate('--base', 'main');
  assert.equal(added.code, 1);
  assert.match(added.out, /samples-missing/);
  assert.match(added.out, /send-bypasses-producer/);
  assert.equal(added.error, '');
});

test('a producer that is added or changed must pass verify', (t) => {
  const repository = new Repository(t, base);
  repository.commit({ 'src/more.producer.ts': producer() });
  const { code, out, error } = repository.gate('--base', 'main');
  assert.equal(code, 0, out + error);
  assert.equal(out.match(/ passed /g)?.length, 9);
});

test('a producer without samples or with failing checks fails the gate', (t) => {
  const repository = new Repository(t, base);
  repository.commit({
    'src/untested.producer.ts': producer('[]'),
    'src/orders.producer.ts': producer().replace(
      'eventTime: () => 0',
      'eventTime: () => Date.now()',
    ),
  });
  const { code, out } = repository.gate('--base', 'main');
  assert.equal(code, 1);
  assert.match(out, /envelope: samples-missing/);
  assert.match(out, /determinism: not-deterministic/);
});

test('a changed import counts as a change of the producer', (t) => {
  const repository = new Repository(t, base);
  repository.commit({ 'src/keys.ts': keys.replace("'order-' + id", "'order'") });
  const { code, out } = repository.gate('--base', 'main');
  assert.equal(code, 1);
  assert.match(out, /hash-behavior: key-shared/);
});

test('a producer that imports a file deleted by the branch fails the gate', (t) => {
  const repository = new Repository(t, base);
  repository.git('rm', '-q', 'src/keys.ts');
  const { code, out } = repository.gate('--base', 'main');
  assert.equal(code, 1);
  assert.match(out, /src\/orders\.producer\.ts, module: module-broken/);
});

test('the report is written to the directory where the gate was called', (t) => {
  const repository = new Repository(t, base);
  repository.commit({ 'docs/README.md': 'new' });
  const words = [main, 'gate', '--base', 'main', '--format', 'json', '--output', 'report.json'];
  const cwd = join(repository.folder, 'docs');
  assert.equal(spawnSync(process.execPath, words, { cwd }).status, 0);
  assert.deepEqual(JSON.parse(readFileSync(join(cwd, 'report.json'), 'utf8')).subjects, []);
});

test('a send that bypasses every producer fails with file and line, unless it is listed with a reason', (t) => {
  const repository = new Repository(t, base);
  repository.commit({ 'src/mailer.js': mailer });
  const { code, out } = repository.gate('--base', 'main');
  assert.equal(code, 1);
  assert.match(out, /src\/mailer\.js:4, bypass: send-bypasses-producer/);
  const github = repository.gate('--base', 'main', '--format', 'github').out;
  assert.match(
    github,
    /^::error file=src\/mailer\.js,line=4,title=src\/mailer\.js%3A bypass::A message/,
  );
  const gitlab = JSON.parse(repository.gate('--base', 'main', '--format', 'gitlab').out);
  assert.deepEqual(gitlab[0].location, { path: 'src/mailer.js', lines: { begin: 4 } });

  repository.commit({ 'oncemq-gate.json': '{"allow":[{"file":"src/mailer.js"}]}' });
  assert.equal(repository.gate('--base', 'main').code, 2);
  const allow = [{ file: 'src/mailer.js', reason: 'goes away with 4.0' }];
  repository.commit({ 'oncemq-gate.json': JSON.stringify({ allow }) });
  const excepted = repository.gate('--base', 'main');
  assert.equal(excepted.code, 0);
  assert.match(excepted.out, /send-bypasses-producer is allowed: goes away with 4\.0/);
});

test('uncommitted changes are checked, and deleted files are not', (t) => {
  const repository = new Repository(t, base);
  rmSync(join(repository.folder, 'src/orders.producer.ts'));
  writeFileSync(join(repository.folder, 'src/old.js'), `${mailer}\n`);
  symlinkSync('nowhere.js', join(repository.folder, 'src/link.js'));
  repository.git('add', 'src/link.js');
  const { code, out } = repository.gate('--base', 'main');
  assert.equal(code, 1);
  assert.match(out, /src\/old\.js:4/);
  assert.doesNotMatch(out, /orders\.producer/);
});

test('wrong usage ends with 2 and says what is wrong', (t) => {
  const repository = new Repository(t, base);
  const wrong: readonly (readonly [string[], RegExp])[] = [
    [[], /--base is missing/],
    [['--base', 'nowhere'], /git merge-base failed: .*shallow clone/s],
    [['--base=--all'], /must be a revision, not --all/],
    [['--base', 'main', '--format', 'xml'], /must be one of table.*, not xml/],
    [['--base', 'main', '--allow', 'none.json'], /allow-list none\.json cannot be read/],
    [['--base', 'main', 'word'], /Unexpected argument: word/],
    [['--base', 'main', '--junit', 'oncemq-gate.json'], /would overwrite .*oncemq-gate\.json/],
    [['--bas', 'main'], /no flag --bas/],
  ];
  for (const [args, text] of wrong) {
    const { code, error } = repository.gate(...args);
    assert.equal(code, 2, args.join(' '));
    assert.match(error, text);
  }
});
