/**
 * `npm start` as its users run it: it serves, and stopping npm stops the server too. A real npm and a real server, in real
 * time.
 */

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { test } from 'node:test';

test('npm start serves, and SIGTERM to npm stops the server', async (t) => {
  // In its own process group, so that nothing is left behind if the test fails.
  const npm = spawn('npm', ['start', '--', '--port', '0', '--memory'], {
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.after(() => {
    try {
      process.kill(-(npm.pid as number), 'SIGKILL');
    } catch {
      // No process is left, as it should be.
    }
  });
  let url = '';
  for await (const line of createInterface(npm.stdout)) {
    url = /http:\S+/.exec(line)?.[0] ?? '';
    if (url !== '') break;
  }
  assert.equal((await fetch(`${url}/_oncemq/health`)).status, 200);
  const output = once(npm.stdout, 'close');
  npm.stdout.resume();
  npm.kill('SIGTERM');
  // The output closes when the last process that holds it has ended.
  await output;
  await assert.rejects(fetch(`${url}/_oncemq/health`));
});
