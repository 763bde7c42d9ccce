/**
 * Producers that the contract file registers: the gate runs those whose files, input or entry changed, and takes sends in
 * their files for theirs; any other sender is refused.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  contractFile,
  mailer,
  orders,
  producer,
  program,
  Repository,
  registered,
} from './repository.ts';

const python = "import boto3\nboto3.client('sqs').send_message(QueueUrl=u, MessageGroupId='g')\n";

test('a registered program runs if its files changed, and only then', (t) => {
  const repository = new Repository(t, registered);
  repository.commit({ 'README.md': 'new' });
  assert.match(repository.gate('--base', 'main').out, /nothing to check/);
  repository.commit({ 'producers/orders.mjs': `${program()}// changed\n` });
  const { code, out, error } = repository.gate('--base', 'main');
  assert.equal(code, 0, out + error);
  assert.match(out, /^orders +envelope +passed/m);
  assert.match(out, /^orders: compared +unchanged +passed/m);
  assert.match(out, /bypass +passed +a part of the registered producer orders/);
});

test('a changed input or entry makes it run, another entry does not', (t) => {
  const repository = new Repository(t, registered);
  const other = {
    ...orders,
    name: 'other',
    command: 'exit 1',
    paths: ['elsewhere/**'],
    input: undefined,
  };
  repository.commit({ 'producers/orders.jsonl': '{"id":"1"}\n{"id":"2"}\n{"id":"3"}\n' });
  assert.match(repository.gate('--base', 'main').out, /^orders +envelope +passed/m);
  repository.git('checkout', '-q', 'main');
  repository.commit({ 'oncemq.contract.json': contractFile({ producers: [orders, other] }) });
  repository.git('checkout', '-q', '-B', 'work');
  const named = { ...orders, queue: 'new-orders.fifo' };
  repository.commit({ 'oncemq.contract.json': contractFile({ producers: [named, other] }) });
  const { code, out } = repository.gate('--base', 'main');
  assert.equal(code, 0, out);
  assert.match(out, /^orders +envelope +passed/m);
});

test('what breaks the contract is found, and a program that fails is a finding', (t) => {
  const repository = new Repository(t, registered);
  repository.commit({ 'producers/orders.mjs': program("'order'") });
  const shared = repository.gate('--base', 'main');
  assert.equal(shared.code, 1);
  assert.match(shared.out, /orders in oncemq\.contract\.json, hash-behavior: key-shared/);
  repository.commit({ 'producers/orders.mjs': 'process.exit(3);\n', 'a.py': python });
  const { code, out } = repository.gate('--base', 'main');
  assert.equal(code, 1);
  assert.match(out, /program: program-failed\n.*exit code 3/);
  assert.match(out, /a\.py:2, bypass: send-bypasses-producer/);
});

test('a program that publishes to a topic is judged by what it publishes', (t) => {
  const publish = `import { SNSClient, PublishCommand } from '@aws-sdk/client-sns';
const body = JSON.stringify({ event_id: '0190a000-0000-7000-8000-00000000000' + (process.env.DAY ?? 1),
  event_source: 'kfm.parts.orders', event_time: '2025-12-04T00:00:00Z', dedupe_key: 'a', payload: {} });
await new SNSClient({}).send(new PublishCommand({ TopicArn: process.env.TOPIC_ARN, Message: body, MessageGroupId: 'g' }));
`;
  const { queue: _, input: __, ...rest } = orders;
  const repository = new Repository(t, {});
  const entry = { ...rest, topic: 'orders.fifo' };
  repository.commit({
    'producers/orders.mjs': publish,
    'oncemq.contract.json': contractFile({ producers: [entry] }),
  });
  const { code, out, error } = repository.gate('--base', 'main');
  assert.equal(code, 0, out + error);
  assert.match(out, /^orders +replay-window +passed/m);
  repository.commit({ 'producers/orders.mjs': '// sends nothing\n' });
  assert.match(repository.gate('--base', 'main').out, /nothing-sent/);
});

test('a sender in another language is refused until it is registered', (t) => {
  const repository = new Repository(t, registered);
  repository.commit({
    'jobs/mail.py': python,
    'bin/seed.sh': 'aws sqs send-message --queue-url a.fifo\n',
  });
  const { code, out } = repository.gate('--base', 'main');
  assert.equal(code, 1);
  assert.match(out, /jobs\/mail\.py:2, bypass: send-bypasses-producer/);
  assert.match(out, /bin\/seed\.sh:1, bypass: send-bypasses-producer/);
  const jobs = { ...orders, name: 'jobs', paths: ['./jobs/', 'bin/*.sh'] };
  repository.commit({ 'oncemq.contract.json': contractFile({ producers: [orders, jobs] }) });
  const after = repository.gate('--base', 'main');
  assert.equal(after.code, 0, after.out);
});

test('a wrapper in an unchanged file makes a sender of the changed one', (t) => {
  const wrapper =
    mailer.replace(/export const[\s\S]*/, '') +
    'export const put = (sqs, input) => sqs.send(new SendMessageCommand(input));\n';
  const repository = new Repository(t, { 'src/put.js': wrapper });
  repository.commit({
    'src/a.ts': "import { put } from './put.js';\nput(sqs, { QueueUrl, MessageGroupId: 'g' });\n",
  });
  const { code, out } = repository.gate('--base', 'main');
  assert.equal(code, 1);
  assert.match(out, /src\/a\.ts:2, bypass: send-bypasses-producer/);
});

test('a changed schema of a queue makes its producers run', (t) => {
  const queues = [{ queue: 'orders.fifo', schema: 'schemas/order.json' }];
  const repository = new Repository(t, {
    ...registered,
    'oncemq.contract.json': contractFile({ queues, producers: [orders] }),
    'schemas/order.json': '{ "required": ["payload"] }',
  });
  repository.commit({ 'schemas/order.json': '{ "required": ["payload", "price"] }' });
  const { code, out } = repository.gate('--base', 'main');
  assert.equal(code, 1, out);
  assert.match(out, /orders in oncemq\.contract\.json, envelope: schema-violated/);
});

test('a change of the rules makes every producer run', (t) => {
  const module = producer().replace("'./keys.js'", "'./keys.js'");
  const repository = new Repository(t, {
    ...registered,
    'src/keys.ts': "export const orderKey = (id: string): string => 'order-' + id;\n",
    'src/orders.producer.ts': module,
  });
  repository.commit({
    'oncemq.contract.json': contractFile({ strict: true, producers: [orders] }),
  });
  const { code, out } = repository.gate('--base', 'main');
  assert.equal(code, 0, out);
  assert.match(out, /^orders +envelope +passed/m);
  assert.match(out, /^orders \(kfm\.parts\.orders\) +envelope +passed/m);
});
