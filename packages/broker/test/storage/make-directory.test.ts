/**
 * Making the directories that a user names: the missing ones are made, and a place where none can be made is an error, also
 * where Node's recursive mkdir never ends.
 */

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { makeDirectory } from '../../src/storage/make-directory.ts';
import { temporaryDirectory } from './backends.ts';

test('missing directories are made, and the outermost of them is told', (t) => {
  const { path, remove } = temporaryDirectory();
  t.after(remove);
  assert.equal(makeDirectory(join(path, 'a', 'b', 'c')), join(path, 'a'));
  assert.ok(existsSync(join(path, 'a', 'b', 'c')));
  assert.equal(makeDirectory(join(path, 'a', 'b', 'd')), join(path, 'a', 'b', 'd'));
  assert.equal(makeDirectory(join(path, 'a')), undefined);
  assert.equal(makeDirectory('/'), undefined);
});

test('a file in the way is an error', (t) => {
  const { path, remove } = temporaryDirectory();
  t.after(remove);
  const file = join(path, 'file');
  writeFileSync(file, '');
  symlinkSync(join(path, 'nowhere'), join(path, 'link'));
  mkdirSync(join(path, 'there'));
  symlinkSync(join(path, 'there'), join(path, 'good-link'));
  assert.throws(() => makeDirectory(file), { code: 'EEXIST' });
  assert.throws(() => makeDirectory(join(file, 'below', 'it')), { code: 'ENOTDIR' });
  assert.throws(() => makeDirectory(join(path, 'link')), { code: 'EEXIST' });
  assert.equal(makeDirectory(join(path, 'good-link')), undefined);
});

test('a directory below /proc is an error', (t) => {
  if (!existsSync('/proc/self')) return t.skip('no /proc here');
  assert.throws(() => makeDirectory('/proc/oncemq'), { code: 'ENOENT' });
  assert.throws(() => makeDirectory('/proc/oncemq/below'), { code: 'ENOENT' });
});
