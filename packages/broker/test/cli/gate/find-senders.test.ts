/**
 * What the gate finds in source text and what it ignores: it finds each send to a FIFO target that bypasses a producer, by
 * line, however it is written; it ignores comments, tests, and sends to standard queues.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SenderScan } from '../../../src/cli/gate/scan/find-senders.ts';
import { others, scripts } from './planted-senders.ts';

const sdk =
  "import { SendMessageCommand, SendMessageBatchCommand as Many } from '@aws-sdk/client-sqs';";

function found(text: string, path = 'src/mailer.ts'): string[] {
  return new SenderScan().find({ path, text }).map(({ code, line }) => `${line} ${code}`);
}

test('commands and methods of the SDK are found with their lines', () => {
  const text = [
    sdk,
    "import * as sns from '@aws-sdk/client-sns';",
    "await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: 'x', MessageGroupId: 'g' }));",
    'await sqs.send(',
    '  new Many({',
    "    QueueUrl: base + '/orders.fifo',",
    '  }),',
    ');',
    'await client.sendMessage({ MessageGroupId });',
    "await topics.send(new sns.PublishCommand({ TopicArn: 'arn:orders.fifo' }));",
    'await client.send(new SendMessageCommand(input));',
  ].join('\n');
  assert.deepEqual(
    found(text),
    [3, 5, 9, 10, 11].map((line) => `${line} send-bypasses-producer`),
  );
});

test('aliases of require and sqs-producer are found', () => {
  const required = "const { SendMessageCommand: Send } = require('@aws-sdk/client-sqs');";
  assert.deepEqual(found(`${required}\nnew Send({ MessageGroupId: 'g' })`, 'a.cjs'), [
    '2 send-bypasses-producer',
  ]);
  const producer =
    "import { Producer } from 'sqs-producer';\nProducer.create({ queueUrl: 'a.fifo' });";
  assert.deepEqual(found(producer), ['2 send-bypasses-producer']);
});

test('standard queues, comments, tests and other clients are not reported', () => {
  assert.deepEqual(found(`${sdk}\nnew SendMessageCommand({ QueueUrl, MessageBody: 'x' });`), []);
  assert.deepEqual(
    found(
      `${sdk}\n// new SendMessageCommand({ MessageGroupId })\n/* .sendMessage({ MessageGroupId }) */`,
    ),
    [],
  );
  const send = `${sdk}\nnew SendMessageCommand({ MessageGroupId: 'g' });`;
  assert.deepEqual(found(send, 'src/mailer.test.ts'), []);
  assert.deepEqual(found(send, 'README.md'), []);
  assert.deepEqual(found('bus.publish({ topic: "a.fifo" });'), []);
  assert.deepEqual(
    found(
      `${sdk}\nconst text = 'it\\'s // no comment'; new SendMessageCommand({ MessageGroupId });`,
    ),
    ['2 send-bypasses-producer'],
  );
});

test('a pattern that looks like a comment hides no send, nor do brackets in a string', () => {
  const lines = [
    sdk,
    "const bare = (path) => path.replace(/\\/*$/, '') + path.match(/[/*']/);",
    "new SendMessageCommand({ MessageBody: ':))', MessageGroupId: 'g' });",
    'const half = (all) => all / 2; /* of all */ // new SendMessageCommand({ MessageGroupId });',
    'half = i++ / 2; // new SendMessageCommand({ MessageGroupId });',
  ];
  assert.deepEqual(found(lines.join('\n')), ['3 send-bypasses-producer']);
});

test('a file of megabytes in one string is read', () => {
  const text = `${sdk}\nconst data = \`${'x\\\\'.repeat(1_000_000)}\`;\nnew SendMessageCommand({ MessageGroupId });`;
  assert.deepEqual(found(text), ['3 send-bypasses-producer']);
});

test('a send is found however long its arguments before the group are', () => {
  const long = 'x'.repeat(20_000);
  const entries = '{ Id: next(), MessageBody: body() },\n'.repeat(500);
  for (const given of [`MessageBody: '${long}'`, `Entries: [${entries}]`]) {
    const text = `${sdk}\nnew SendMessageCommand({ ${given}, MessageGroupId: 'g' });`;
    assert.deepEqual(found(text), ['2 send-bypasses-producer']);
  }
  // The end of the argument is found behind a long string: only the second send has a group.
  const both = `new SendMessageCommand({ MessageBody: '${long}' });\nnew Many({ MessageGroupId });`;
  assert.deepEqual(found(`${sdk}\n${both}`), ['3 send-bypasses-producer']);
});

test('a file in which nothing is closed is read', () => {
  const mention = `${sdk} // '@oncemq/toolkit'\n`;
  const begun = ['new SendMessageCommand({ a: ( ', 'defineProducer<', '= /[', '"', '`', '/*'];
  for (const text of begun) assert.deepEqual(found(mention + text.repeat(20_000)), [], text);
  const withTexts = "new SendMessageCommand({ a: 'a text of some length' + ( ";
  assert.deepEqual(found(mention + withTexts.repeat(2_000)), []);
});

test('a producer in a file that verify does not read is found', () => {
  const text =
    "import { defineProducer } from '@oncemq/toolkit';\nexport const a = defineProducer<X>({});";
  assert.deepEqual(found(text), ['2 producer-hidden']);
  assert.deepEqual(found(text, 'src/a.producer.ts'), []);
});

for (const { title, files, lines } of [...scripts, ...others]) {
  const [path = '', text = ''] = Object.entries(files)[0] ?? [];
  test(`${path}: ${title}: ${lines.length === 0 ? 'harmless' : 'found'}`, () => {
    const scan = new SenderScan((name) => files[name]);
    const found = scan.find({ path, text });
    assert.deepEqual(
      found.map(({ line }) => line),
      lines,
      found.map((each) => each.text).join('\n'),
    );
  });
}

test('sources that invite a search to go back and forth are read', () => {
  const hostile: readonly (readonly [string, string])[] = [
    ['a.py', `${'\t'.repeat(100_000)}x`],
    ['a.py', `import boto3\n${'sqs.send_message(a=(\n'.repeat(20_000)}`],
    ['a.sh', `aws ${'--x \\\n'.repeat(9)}`.repeat(5_000)],
    ['a.ts', `${sdk}\nconst a = ${"'x' + ".repeat(20_000)}'y';\nnew SendMessageCommand(a);`],
    ['a.ts', `${sdk}\nconst a = [${'1, '.repeat(150_000)}];`],
    [
      'a.ts',
      `${sdk}\nlet a = a; const { b } = b; class C extends C {}\nnew SendMessageCommand(a);`,
    ],
  ];
  for (const [path, text] of hostile) assert.deepEqual(found(text, path), [], text.slice(0, 80));
});
