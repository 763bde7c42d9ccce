/**
 * The `oncemq` command as a process: the ready line, exit codes, signals, and what `oncemq queue` and `oncemq topic` print
 * about a running server.
 */

import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { SQS } from '@aws-sdk/client-sqs';
import { startTestServer } from '../../src/testing.ts';

const main = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url));

interface Ran {
  readonly code: number | null;
  readonly out: string;
  readonly error: string;
}

function run(...args: string[]): Promise<Ran> {
  return runWith({}, ...args);
}

async function runWith(variables: Record<string, string>, ...args: string[]): Promise<Ran> {
  const env = { PATH: process.env['PATH'], ...variables };
  const child = spawn(process.execPath, [main, ...args], { env });
  let out = '';
  let error = '';
  child.stdout.on('data', (chunk) => {
    out += chunk;
  });
  child.stderr.on('data', (chunk) => {
    error += chunk;
  });
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, out, error };
}

async function serve(
  t: TestContext,
  ...args: string[]
): Promise<{ child: ChildProcess; line: string }> {
  const child = spawn(process.execPath, [main, 'serve', '--port', '0', '--memory', ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.after(() => child.kill('SIGKILL'));
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  return { child, line };
}

const attributes = { FifoQueue: 'true', ContentBasedDeduplication: 'true' };

test('serve prints one ready line with its address and storage=memory', async (t) => {
  const { line } = await serve(t, '--clock', 'manual');
  assert.match(line, /^oncemq ready http:\/\/127\.0\.0\.1:\d+ storage=memory .*clock=manual/);
});

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  test(`${signal} ends a long poll empty and the process with 0`, async (t) => {
    const { child, line } = await serve(t);
    const url = /http:\S+/.exec(line)?.[0] as string;
    await fetch(`${url}/?Action=CreateQueue&QueueName=jobs`);
    const waiting = fetch(`${url}/000000000000/jobs?Action=ReceiveMessage&WaitTimeSeconds=20`);
    await fetch(`${url}/_oncemq/health`);
    child.kill(signal);
    assert.match(await (await waiting).text(), /<ReceiveMessageResult\/>/);
    assert.deepEqual(await once(child, 'exit'), [0, null]);
  });
}

test('wrong usage ends with 2 and suggests what was meant', async () => {
  const flag = await run('serve', '--prot', '1');
  assert.equal(flag.code, 2);
  assert.match(flag.error, /Did you mean --port\?/);
  const command = await run('serv');
  assert.equal(command.code, 2);
  assert.match(command.error, /^oncemq: There is no command serv\. Did you mean serve\?\n/);
  assert.equal((await run()).code, 2);
  const url = await run('queue', 'list', '--url', '127.0.0.1:9324');
  assert.equal(url.code, 2);
  assert.match(url.error, /URL must look like http:\/\/127\.0\.0\.1:9324, not 127\.0\.0\.1:9324/);
  const word = await run('queue', 'nothing');
  assert.equal(word.code, 2);
  const words = 'list, peek, explain, violations, purge, redrive';
  const text = `oncemq: There is no command nothing; the commands are ${words}.\n\nUsage: `;
  assert.ok(word.error.startsWith(text), word.error);
  assert.match((await run('queue')).error, /^oncemq: Usage: /);
  assert.equal((await run('serve', 'word')).code, 2);
});

test('help prints the usage and ends with 0', async () => {
  for (const args of [
    ['--help'],
    ['help'],
    ['serve', '--help'],
    ['queue', '--help'],
    ['events', '--help'],
    ['verify', '--help'],
    ['gate', '--help'],
    ['replay', '--help'],
  ]) {
    const { code, out } = await run(...args);
    assert.equal(code, 0);
    assert.match(out, /^Usage: oncemq/);
  }
});

test('the version is that of the package', async () => {
  const { code, out } = await run('--version');
  const manifest = readFileSync(new URL('../../../package.json', import.meta.url), 'utf8');
  assert.deepEqual([code, out], [0, `oncemq ${JSON.parse(manifest).version}\n`]);
});

test('queue violations lists contract violations and collisions of a queue', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'oncemq-cli-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const contract = join(folder, 'contract.json');
  writeFileSync(contract, '{"queues":[{"queue":"*.fifo","contract":"envelope"}]}');
  const server = await startTestServer({ clock: 'manual', contract });
  t.after(() => server.close());
  const call = (query: string): Promise<Response> => fetch(`${server.url}/${query}`);
  const fifo = 'Attribute.1.Name=FifoQueue&Attribute.1.Value=true';
  const byContent = 'Attribute.2.Name=ContentBasedDeduplication&Attribute.2.Value=true';
  await call(`?Action=CreateQueue&QueueName=jobs.fifo&${fifo}&${byContent}`);
  const violations = (): Promise<Ran> =>
    run('queue', 'violations', 'jobs.fifo', '--url', server.url);
  assert.match((await violations()).out, /There are no contract violations/);
  for (const group of ['g', 'h']) {
    await call(`000000000000/jobs.fifo?Action=SendMessage&MessageBody=x&MessageGroupId=${group}`);
  }
  const { out } = await violations();
  assert.match(out, /observe +body-not-envelope +g +The body is not an envelope/);
  assert.match(out, /collision +h +same body as [0-9a-f-]{36}, different group/);
});

test('events prints a line for each event that passes its filter', async (t) => {
  const server = await startTestServer({ clock: 'manual' });
  t.after(() => server.close());
  const args = ['--url', server.url, '--type', 'sent,duplicate', '--queue', 'jobs.fifo'];
  const child = spawn(process.execPath, [main, 'events', ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  t.after(() => child.kill('SIGKILL'));
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  const fifo = 'Attribute.1.Name=FifoQueue&Attribute.1.Value=true';
  const byContent = 'Attribute.2.Name=ContentBasedDeduplication&Attribute.2.Value=true';
  await fetch(`${server.url}/?Action=CreateQueue&QueueName=jobs.fifo&${fifo}&${byContent}`);
  const send = (body: string): Promise<Response> =>
    fetch(
      `${server.url}/000000000000/jobs.fifo?Action=SendMessage&MessageBody=${body}&MessageGroupId=g`,
    );
  // The command sees events only once it has connected; until then it misses sends.
  const first = lines.next();
  let isFollowing = false;
  first.then(
    () => {
      isFollowing = true;
    },
    () => {},
  );
  for (let at = 0; !isFollowing; at += 1) await send(`n${at}`);
  await send('n0');
  for (let line = (await first).value as string; ; line = (await lines.next()).value as string) {
    assert.match(line, /^\d{4}-\S+Z {2}(sent|duplicate) +jobs\.fifo {2}/);
    if (!line.includes('  duplicate')) continue;
    assert.match(line, /original\.messageId=[0-9a-f-]{36}/);
    break;
  }
  const ended = once(child, 'exit');
  await server.close();
  assert.deepEqual(await ended, [1, null]);
});

// A timeout, since a command that does not stop reading would run forever.
test('events applies backpressure, so that the server drops it when nobody reads its output', {
  timeout: 120_000,
}, async (t) => {
  const server = await startTestServer({ clock: 'manual' });
  t.after(() => server.close());
  const client = new SQS(server.clientConfig);
  t.after(() => client.destroy());
  const { QueueUrl } = await client.createQueue({ QueueName: 'jobs' });
  const args = ['events', '--url', server.url, '--bodies'];
  const child = spawn(process.execPath, [main, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  t.after(() => child.kill('SIGKILL'));
  let isFollowing = false;
  child.stdout.once('readable', () => {
    isFollowing = true;
  });
  while (!isFollowing) await client.sendMessage({ QueueUrl, MessageBody: 'x' });
  // 48 MB, more than pipes and sockets can buffer, and nobody reads a byte of it.
  const MessageBody = '€'.repeat(4_096);
  const Entries = Array.from({ length: 10 }, (_, at) => ({ Id: String(at), MessageBody }));
  for (let batch = 1; batch <= 400; batch += 1)
    await client.sendMessageBatch({ QueueUrl, Entries });
  const said = text(child.stderr);
  const ended = once(child, 'exit');
  child.stdout.resume();
  assert.deepEqual(await ended, [1, null]);
  assert.match(
    await said,
    /^oncemq: The connection was closed, because more than \d+ bytes waited to be read/,
  );
});

test('output that cannot be written is an error without a stack trace, for every command', async (t) => {
  if (!existsSync('/dev/full')) return t.skip('no /dev/full here');
  for (const args of [['--help'], ['--version'], ['serve', '--help'], ['help']]) {
    const full = openSync('/dev/full', 'w');
    const child = spawn(process.execPath, [main, ...args], { stdio: ['ignore', full, 'pipe'] });
    const [[code], said] = await Promise.all([
      once(child, 'close'),
      text(child.stderr as Readable),
    ]);
    closeSync(full);
    assert.match(said, /^oncemq: The output cannot be written: ENOSPC[^\n]*\n$/, args.join(' '));
    assert.equal(code, 1);
  }
});

test('events that cannot be written are an error, but a closed pipe is not', async (t) => {
  const server = await startTestServer({ clock: 'manual' });
  t.after(() => server.close());
  const full = openSync('/dev/full', 'w');
  t.after(() => closeSync(full));
  const endOf = async (stdout: 'pipe' | number): Promise<[number | null, string]> => {
    const child = spawn(process.execPath, [main, 'events', '--url', server.url], {
      stdio: ['ignore', stdout, 'pipe'],
    });
    t.after(() => child.kill('SIGKILL'));
    child.stdout?.destroy();
    const said = text(child.stderr as Readable);
    let end: [number | null] | undefined;
    const ended = once(child, 'exit').then((exit) => {
      end = exit as [number | null];
    });
    const url = `${server.url}/?Action=CreateQueue&QueueName=jobs`;
    for (let at = 0; end === undefined; at += 1) await fetch(`${url}${at}`);
    await ended;
    return [end[0], await said];
  };
  const [code, said] = await endOf(full);
  assert.equal(code, 1);
  assert.match(said, /^oncemq: The output cannot be written: ENOSPC/);
  assert.deepEqual(await endOf('pipe'), [0, '']);
});

test('a server keeps running when nobody reads its output any more', async (t) => {
  const child = spawn(process.execPath, [main, 'serve', '--port', '0', '--memory'], {
    env: { PATH: process.env['PATH'], OTEL_TRACES_EXPORTER: 'console' },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  t.after(() => child.kill('SIGKILL'));
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  const [, , url] = line.split(' ');
  child.stdout.destroy();
  // The error of a write arrives later, so the first answer would not show it.
  for (let sent = 1; sent <= 50; sent += 1) {
    const query = 'Action=SendMessage&QueueUrl=http://x/000000000000/none&MessageBody=x';
    assert.equal((await fetch(`${url}/?${query}`)).status, 400);
  }
});

test('without a server queue list reports that and ends with 1', async () => {
  const { code, error } = await run('queue', 'list', '--url', 'http://127.0.0.1:9');
  assert.equal(code, 1);
  assert.match(error, /No server answers at http:\/\/127\.0\.0\.1:9\. Start one with oncemq serve/);
});

test('commands that find something other than OnceMQ at the URL report that and end with 1', async (t) => {
  const page = '<!doctype html><title>Welcome</title>';
  let answer = { status: 200, body: page };
  const stranger = createServer((request, response) => {
    request.resume();
    response.writeHead(answer.status, { 'content-type': 'text/html' }).end(answer.body);
  }).listen(0, '127.0.0.1');
  t.after(() => stranger.close());
  await once(stranger, 'listening');
  const url = `http://127.0.0.1:${(stranger.address() as AddressInfo).port}`;
  for (answer of [
    { status: 200, body: page },
    { status: 200, body: '' },
    { status: 404, body: page },
    { status: 404, body: '{"error":"not found"}' },
    { status: 404, body: 'null' },
  ]) {
    const text = `oncemq: The server at ${url} is not OnceMQ (it answered with status ${answer.status}). Set another with --url.\n`;
    const commands = [['queue', 'list'], ['queue', 'purge', 'jobs'], ['topic', 'list'], ['events']];
    const ran = await Promise.all(commands.map((words) => run(...words, '--url', url)));
    assert.deepEqual(
      ran,
      commands.map(() => ({ code: 1, out: '', error: text })),
    );
  }
});

test('the queue commands list, peek, explain, purge and redrive', async (t) => {
  const server = await startTestServer({ clock: 'manual' });
  t.after(() => server.close());
  const sqs = async (action: string, input: object): Promise<void> => {
    const response = await fetch(server.url, {
      method: 'POST',
      headers: { 'X-Amz-Target': `AmazonSQS.${action}` },
      body: JSON.stringify(input),
    });
    assert.equal(response.status, 200, await response.text());
  };
  const queue = (...args: string[]): Promise<Ran> => run('queue', ...args, '--url', server.url);
  assert.match((await queue('list')).out, /There are no queues/);
  await sqs('CreateQueue', { QueueName: 'dead.fifo', Attributes: attributes });
  const deadLetterTargetArn = 'arn:aws:sqs:us-east-1:000000000000:dead.fifo';
  const RedrivePolicy = JSON.stringify({ deadLetterTargetArn, maxReceiveCount: 1 });
  await sqs('CreateQueue', {
    QueueName: 'jobs.fifo',
    Attributes: { ...attributes, RedrivePolicy, VisibilityTimeout: '0' },
  });
  for (const MessageGroupId of ['g', 'h']) {
    await sqs('SendMessage', { QueueUrl: 'jobs.fifo', MessageBody: 'job 1', MessageGroupId });
  }
  assert.match((await queue('list')).out, /jobs\.fifo +1 +0 +0 +1 +1/);
  assert.match((await queue('peek', 'jobs.fifo')).out, /visible +g +0 .*job 1/);
  const explained = await queue('explain', 'jobs.fifo');
  assert.match(explained.out, /the SHA-256 of the body/);
  assert.match(explained.out, /suppressed .* by id, differed in group: a collision/);
  const { entries } = JSON.parse((await queue('explain', 'jobs.fifo', '--json')).out);
  assert.equal(entries.length, 1);

  for (let times = 0; times < 2; times += 1) await sqs('ReceiveMessage', { QueueUrl: 'jobs.fifo' });
  assert.match((await queue('list')).out, /dead\.fifo +1/);
  assert.match(
    (await queue('redrive', 'dead.fifo')).out,
    /1 messages to move, (RUNNING|COMPLETED)/,
  );
  await server.clock.advance(1);
  assert.match((await queue('list')).out, /jobs\.fifo +1/);
  assert.match((await queue('purge', 'jobs.fifo')).out, /jobs\.fifo is empty/);
  assert.match((await queue('list')).out, /jobs\.fifo +0/);
  const missing = await queue('purge', 'none');
  assert.equal(missing.code, 1);
  assert.match(missing.error, /does not exist/);
});

test('a flag that narrows another command is refused, and nothing is purged or moved', async (t) => {
  const server = await startTestServer({ clock: 'manual' });
  t.after(() => server.close());
  const client = new SQS(server.clientConfig);
  t.after(() => client.destroy());
  await client.createQueue({ QueueName: 'jobs.fifo', Attributes: attributes });
  const message = { QueueUrl: 'jobs.fifo', MessageBody: 'x', MessageGroupId: 'g' };
  await client.sendMessage(message);
  for (const [area, command, name, flag] of [
    ['queue', 'purge', 'jobs.fifo', '--group'],
    ['queue', 'redrive', 'jobs.fifo', '--limit'],
    ['queue', 'violations', 'jobs.fifo', '--group'],
    ['topic', 'show', 'prices', '--limit'],
  ] as const) {
    const { code, error } = await run(area, command, name, flag, '1', '--url', server.url);
    assert.equal(code, 2, command);
    const text = `oncemq: There is no flag ${flag} for ${command}.\n\nUsage: oncemq ${area} `;
    assert.ok(error.startsWith(text), error);
  }
  assert.match((await run('queue', 'list', '--url', server.url)).out, /jobs\.fifo +1/);
  const { error } = await run('queue', 'list', '--jsn', '--url', server.url);
  assert.match(error, /no flag --jsn for list\. Did you mean --json\?/);
});

test('topic list, show and explain print the state and history of a topic', async (t) => {
  const server = await startTestServer({ clock: 'manual' });
  t.after(() => server.close());
  const sns = (parameters: Record<string, string>) =>
    fetch(server.url, { method: 'POST', body: new URLSearchParams(parameters) });
  const none = await run('topic', 'list', '--url', server.url);
  assert.match(none.out, /There are no topics/);
  await sns({
    Action: 'CreateTopic',
    Name: 'prices.fifo',
    'Attributes.entry.1.key': 'FifoTopic',
    'Attributes.entry.1.value': 'true',
    'Attributes.entry.2.key': 'ContentBasedDeduplication',
    'Attributes.entry.2.value': 'true',
  });
  const TopicArn = 'arn:aws:sns:us-east-1:000000000000:prices.fifo';
  const Endpoint = 'arn:aws:sqs:us-east-1:000000000000:gone.fifo';
  await sns({ Action: 'Subscribe', TopicArn, Protocol: 'sqs', Endpoint });
  const publication = { Action: 'Publish', TopicArn, Message: 'x', MessageGroupId: 'g' };
  await sns(publication);
  await sns(publication);
  const list = await run('topic', 'list', '--url', server.url);
  assert.match(list.out, /prices\.fifo +1 +1 +0 +1/);
  const show = await run('topic', 'show', 'prices.fifo', '--url', server.url);
  assert.match(show.out, /^endpoint +state +raw +delivered +filtered out +failed +waiting/);
  assert.match(show.out, /failed .*there is no queue .*gone\.fifo \(lost\)/);
  const explain = await run('topic', 'explain', 'prices.fifo', '--url', server.url);
  assert.match(explain.out, /the SHA-256 of the message/);
  assert.match(explain.out, /suppressed .*by id, nothing differed/);
  const json = await run('topic', 'list', '--json', '--url', server.url);
  assert.equal(JSON.parse(json.out).topics[0].name, 'prices.fifo');
  assert.equal((await run('topic', 'show', 'none', '--url', server.url)).code, 1);
  assert.equal((await run('topic', 'fly')).code, 2);
});

test('the ready line names the contract and the ledger if they are set', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'oncemq-cli-'));
  const contract = join(folder, 'contract.json');
  const ledger = join(folder, 'ledger');
  writeFileSync(contract, '{"queues":[{"queue":"*.fifo","contract":"envelope"}]}');
  const { line } = await serve(t, '--contract', contract, '--ledger', ledger);
  assert.ok(line.endsWith(` contract=${contract} ledger=${ledger}`), line);
  const plain = await serve(t);
  assert.doesNotMatch(plain.line, / (auth|contract|ledger)=/);
});

test("commands sign with the keys of the environment, and print the server's error without them", async (t) => {
  const key = { accessKeyId: 'AKIDPARTS', secretAccessKey: 'secret' };
  const config = join(mkdtempSync(join(tmpdir(), 'oncemq-cli-')), 'config.json');
  const queues = ['jobs.fifo'];
  writeFileSync(
    config,
    JSON.stringify({ auth: 'sigv4', region: 'eu-west-1', credentials: [key], queues }),
  );
  const { line } = await serve(t, '--config', config);
  assert.match(line, / auth=sigv4$/);
  assert.doesNotMatch(line, /secret/);
  const url = /http:\S+/.exec(line)?.[0] as string;
  const keys = {
    AWS_ACCESS_KEY_ID: key.accessKeyId,
    AWS_SECRET_ACCESS_KEY: key.secretAccessKey,
    AWS_REGION: 'eu-west-1',
  };
  const listed = await runWith(keys, 'queue', 'list', '--url', url);
  assert.equal(listed.code, 0, listed.error);
  assert.match(listed.out, /jobs\.fifo/);
  const peeked = await runWith(
    keys,
    'queue',
    'peek',
    'jobs.fifo',
    '--group',
    'a b+ü',
    '--url',
    url,
  );
  assert.equal(peeked.code, 0, peeked.error);
  const purged = await runWith(keys, 'queue', 'purge', 'jobs.fifo', '--url', url);
  assert.equal(purged.code, 0, purged.error);
  const unsigned = await run('queue', 'list', '--url', url);
  assert.equal(unsigned.code, 1);
  assert.match(unsigned.error, /Sign the request/);
  const elsewhere = await runWith(
    { ...keys, AWS_REGION: 'us-east-1' },
    'queue',
    'list',
    '--url',
    url,
  );
  assert.match(elsewhere.error, /scoped to a valid region, not 'us-east-1'/);
});

test('serve with signatures and without keys ends with 2 and says what is missing', async () => {
  const { code, error } = await run('serve', '--auth', 'sigv4', '--memory');
  assert.equal(code, 2);
  assert.match(error, /sigv4 needs keys/);
});

test('a server that cuts its answer off is named, and a stream that breaks is no crash', async (t) => {
  const server = createServer((request, response) => {
    const isStream = request.url?.startsWith('/_oncemq/events') === true;
    response.writeHead(200, {
      'content-type': isStream ? 'text/event-stream' : 'application/json',
      'x-amzn-requestid': 'x',
    });
    // The connection ends once the start of the answer is on its way.
    response.write(isStream ? 'event: sent\ndata: {"at":0,"type":"sent"}\n\n' : '{"queues":[', () =>
      response.destroy(),
    );
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.after(() => server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const commands = [['queue', 'list'], ['queue', 'purge', 'q'], ['topic', 'show', 'q'], ['events']];
  for (const command of commands) {
    const { code, error: err } = await run(...command, '--url', url);
    assert.equal(err, `oncemq: The server at ${url} closed the connection.\n`, command.join(' '));
    assert.equal(code, 1);
  }
});

test('JSON without what was asked for is not an answer of OnceMQ, nor is an event that is no JSON', async (t) => {
  const server = createServer((request, response) => {
    const isStream = request.url?.startsWith('/_oncemq/events') === true;
    response.writeHead(200, {
      'content-type': isStream ? 'text/event-stream' : 'application/json',
    });
    response.end(isStream ? 'data: nonsense\n\n' : '{}');
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.after(() => server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const commands = [
    ['queue', 'list'],
    ['queue', 'peek', 'q'],
    ['queue', 'explain', 'q'],
    ['queue', 'explain', 'q', 'id'],
    ['queue', 'violations', 'q'],
    ['topic', 'list'],
    ['topic', 'show', 'q'],
    ['topic', 'explain', 'q'],
    ['events'],
  ];
  for (const command of commands) {
    const { code, error: err } = await run(...command, '--url', url);
    assert.match(err, /^oncemq: The server at \S+ is not OnceMQ .*\n$/, command.join(' '));
    assert.equal(code, 1);
  }
});
