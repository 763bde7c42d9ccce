/**
 * A process that forbids generated code: the api's own tests of AWS JSON hold there too, and a server in memory starts and
 * answers. On disk it does not: the package of LMDB generates code.
 */

import assert from 'node:assert/strict';
import { execFile, fork } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const forbidden = '--disallow-code-generation-from-strings';

function fileOf(path: string): string {
  return fileURLToPath(new URL(path, import.meta.url));
}

/** Without what makes a test file report to the runner that started this one. */
function plainEnvironment(): NodeJS.ProcessEnv {
  const { NODE_TEST_CONTEXT: _, ...environment } = process.env;
  return environment;
}

for (const [file, count] of Object.entries({
  'json-protocol.test.js': 20,
  'json-answers.test.js': 1,
})) {
  test(`where code may not be generated, all tests of ${file} pass`, async () => {
    const args = [forbidden, '--test-reporter=tap', fileOf(`../api/${file}`)];
    const { stdout } = await promisify(execFile)(process.execPath, args, {
      env: plainEnvironment(),
    });
    assert.ok(Number(/^# pass (\d+)$/m.exec(stdout)?.[1]) >= count, stdout);
    assert.match(stdout, /^# fail 0$/m);
  });
}

test('the option forbids it, and the api knows', async () => {
  const module = new URL('../../src/api/protocol/json-code.js', import.meta.url).href;
  const script = `import('${module}').then(({ isCodeAllowed }) => console.log(isCodeAllowed))`;
  const told = async (...options: string[]): Promise<string> =>
    (await promisify(execFile)(process.execPath, [...options, '-e', script])).stdout.trim();
  assert.equal(await told(forbidden), 'false');
  assert.equal(await told(), 'true');
});

test('where code may not be generated, a server in memory starts and answers', async (t) => {
  const server = fork(fileOf('../../src/cli/main.js'), ['serve', '--port', '0', '--memory'], {
    execArgv: [forbidden],
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  const ended = once(server, 'exit');
  t.after(() => {
    server.kill();
    return ended;
  });
  const ready = await new Promise<string>((resolve, reject) => {
    server.stdout?.setEncoding('utf8').once('data', resolve);
    server.once('exit', (code) => reject(new Error(`no start, code ${code}`)));
  });
  const url = /http:\S+/.exec(ready)?.[0] as string;
  const call = async (action: string, input: object): Promise<Record<string, unknown>> => {
    const headers = {
      'Content-Type': 'application/x-amz-json-1.0',
      'X-Amz-Target': `AmazonSQS.${action}`,
    };
    const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(input) });
    assert.equal(response.status, 200, await response.clone().text());
    return (await response.json()) as Record<string, unknown>;
  };
  await call('CreateQueue', { QueueName: 'jobs' });
  await call('SendMessage', { QueueUrl: 'jobs', MessageBody: '"grüße"' });
  const { Messages } = await call('ReceiveMessage', { QueueUrl: 'jobs' });
  assert.deepEqual(
    (Messages as { Body: string }[]).map(({ Body }) => Body),
    ['"grüße"'],
  );
});
