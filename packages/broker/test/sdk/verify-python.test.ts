/**
 * The example of a producer in Python, verified as its page says. boto3 is not an npm package: if it is missing, the test
 * says so by name, as the others here do.
 */

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { clientsAtHand, describeClient } from './clients-at-hand.ts';

const main = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url));
const example = fileURLToPath(
  new URL('../../../../../examples/06-verify-python/', import.meta.url),
);

describeClient(clientsAtHand('boto3'), 'json', ({ command, env }) => {
  test('the Python example follows the contract', () => {
    const exec = [...command, 'producer.py'].join(' ');
    const flags = ['--exec', exec, '--queue', 'scenes.fifo', '--input', 'scenes.jsonl'];
    const { status, stdout, stderr } = spawnSync(process.execPath, [main, 'verify', ...flags], {
      cwd: example,
      env: { ...process.env, ...env },
      encoding: 'utf8',
    });
    assert.equal(status, 0, stdout + stderr);
    assert.equal(stdout.match(/ passed /g)?.length, 6);
  });
});
