/**
 * Sources with a send to a FIFO queue or topic planted in them, which the gate must find at the given lines, and harmless
 * ones, in which it must find nothing. Several files make one case where a send goes through another file: the first is
 * the one that is scanned.
 */

export interface Planted {
  readonly title: string;
  /** The files by their paths; the first is scanned. */
  readonly files: Readonly<Record<string, string>>;
  readonly lines: readonly number[];
}

const v3 =
  "import { SQSClient, SendMessageCommand, ReceiveMessageCommand } from '@aws-sdk/client-sqs';\n";
const fifo = "{ QueueUrl: url, MessageBody: 'x', MessageGroupId: 'g' }";

function one(path: string, title: string, text: string, ...lines: number[]): Planted {
  return { title, files: { [path]: text }, lines };
}

const ts = (title: string, text: string, ...lines: number[]): Planted =>
  one('src/a.ts', title, text, ...lines);
const js = (title: string, text: string, ...lines: number[]): Planted =>
  one('src/a.cjs', title, text, ...lines);

export const scripts: readonly Planted[] = [
  ts('a command', `${v3}await c.send(new SendMessageCommand(${fifo}));`, 2),
  ts(
    'an alias of an import',
    `import { SendMessageCommand as S } from '@aws-sdk/client-sqs';\nnew S(${fifo});`,
    2,
  ),
  ts('an alias in a variable', `${v3}const Send = SendMessageCommand;\nnew Send(${fifo});`, 3),
  ts(
    'an alias assigned later',
    `${v3}let Send;\nSend = SendMessageCommand;\nnew Send(${fifo});`,
    4,
  ),
  ts(
    'a namespace',
    `import * as sqs from '@aws-sdk/client-sqs';\nnew sqs.SendMessageCommand(${fifo});`,
    2,
  ),
  ts(
    'a computed name',
    `import * as sqs from '@aws-sdk/client-sqs';\nnew sqs['SendMessageCommand'](${fifo});`,
    2,
  ),
  ts(
    'a name computed from parts',
    `import * as sqs from '@aws-sdk/client-sqs';\nconst verb = 'Send';\nnew sqs[\`\${verb}Message\` + 'Command'](${fifo});`,
    3,
  ),
  ts(
    'import()',
    `const { SendMessageCommand: S } = await import('@aws-sdk/client-sqs');\nnew S(${fifo});`,
    2,
  ),
  ts(
    'import() with then',
    `import('@aws-sdk/client-sqs').then(({ SendMessageCommand }) => c.send(\nnew SendMessageCommand(${fifo})));`,
    2,
  ),
  ts('a subclass', `${v3}class Order extends SendMessageCommand {}\nnew Order(${fifo});`, 3),
  ts(
    'super in a subclass',
    `${v3}class Order extends SendMessageCommand {\n  constructor(b: string) {\n    super({ QueueUrl: 'a.fifo', MessageBody: b, MessageGroupId: 'g' });\n  }\n}`,
    4,
  ),
  ts(
    'a wrapper',
    `${v3}const put = (input) => c.send(new SendMessageCommand(input));\nput(${fifo});`,
    2,
  ),
  {
    title: 'a wrapper in another file',
    files: {
      'src/a.ts': `import { put } from './put.js';\nawait put(${fifo});`,
      'src/put.ts': `${v3}export async function put(input) { await c.send(new SendMessageCommand(input)); }`,
    },
    lines: [2],
  },
  {
    title: 'a wrapper of a wrapper in a third file',
    files: {
      'src/a.ts': `import mail from './mail.js';\nmail(${fifo});`,
      'src/mail.ts':
        "import { put } from './put.js';\nexport default (input) => put({ ...input });",
      'src/put.ts': `${v3}export const put = (input) => c.send(new SendMessageCommand(input));`,
    },
    lines: [2],
  },
  {
    title: 'a method of a class in another file',
    files: {
      'src/a.ts': `import { Mailer } from './mailer.js';\nconst m = new Mailer();\nm.push(${fifo});`,
      'src/mailer.ts': `${v3}export class Mailer {\n  #c = new SQSClient({});\n  push(input) { return this.#c.send(new SendMessageCommand(input)); }\n}`,
    },
    lines: [3],
  },
  {
    title: 'a re-export',
    files: {
      'src/a.ts': `import { Send } from './aws/index.js';\nnew Send(${fifo});`,
      'src/aws/index.ts': "export * from './sqs.js';",
      'src/aws/sqs.ts': "export { SendMessageCommand as Send } from '@aws-sdk/client-sqs';",
    },
    lines: [2],
  },
  {
    title: 'a client from another file',
    files: {
      'src/a.ts':
        "import { sqs } from './client.js';\nconst input = build();\nsqs.sendMessage(input);\nconst k = { MessageGroupId: 'g' };",
      'src/client.ts':
        "import { SQS } from '@aws-sdk/client-sqs';\nexport const sqs = new SQS({});",
    },
    lines: [3],
  },
  {
    title: 'a queue name from another file',
    files: {
      'src/a.ts': `${v3}import { ORDERS } from './names.js';\nnew SendMessageCommand({ QueueUrl: ORDERS, MessageBody: 'x' });`,
      'src/names.ts': "export const ORDERS = 'https://sqs.example.org/1/orders.fifo';",
    },
    lines: [3],
  },
  js(
    'a method of version 2',
    `const AWS = require('aws-sdk');\nconst q = new AWS.SQS();\nq.sendMessage(${fifo}).promise();`,
    3,
  ),
  js(
    'a client module of version 2',
    `const SQS = require('aws-sdk/clients/sqs');\nnew SQS().sendMessage(${fifo}, done);`,
    2,
  ),
  js(
    '.bind',
    `const { SQS } = require('aws-sdk');\nconst q = new SQS();\nconst put = q.sendMessage.bind(q);\nput(${fifo});`,
    4,
  ),
  js(
    '.call and .apply',
    `const { SQS } = require('aws-sdk');\nconst q = new SQS();\nq.sendMessage.call(q, ${fifo});\nq.sendMessage.apply(q, [${fifo}]);`,
    3,
    4,
  ),
  js(
    'promisify',
    `const { SQS } = require('aws-sdk');\nconst { promisify } = require('util');\nconst q = new SQS();\nconst put = promisify(q.sendMessage).bind(q);\nput(${fifo});`,
    5,
  ),
  js(
    'a method taken out',
    `const { SQS } = require('aws-sdk');\nconst { sendMessage: put } = new SQS();\nput(${fifo});`,
    3,
  ),
  js(
    'a computed method',
    `const { SQS } = require('aws-sdk');\nconst q = new SQS();\nconst how = 'sendMessage';\nq[how](${fifo});`,
    4,
  ),
  js(
    'makeRequest',
    `const { SQS } = require('aws-sdk');\nnew SQS().makeRequest('sendMessage', ${fifo}).send();`,
    2,
  ),
  js(
    'a client behind X-Ray',
    `const AWS = xray.captureAWS(require('aws-sdk'));\nconst q = new AWS.SQS();\nq.sendMessage(${fifo});`,
    3,
  ),
  js(
    'module.exports',
    `const { SQS } = require('aws-sdk');\nmodule.exports = { put: () => new SQS().sendMessage(${fifo}) };`,
    2,
  ),
  ts(
    'a parameter with a type',
    "import type { SNS } from '@aws-sdk/client-sns';\nconst p = (topic: SNS, input) => topic.publish(input);\np(t, { TopicArn: 'a.fifo' });",
    2,
  ),
  ts(
    'a field of a class',
    "import { SNS } from '@aws-sdk/client-sns';\nclass A {\n  constructor(private readonly bus: SNS) {}\n  go() { return this.bus.publish({ TopicArn: arn, MessageGroupId: 'g' }); }\n}",
    4,
  ),
  ts(
    'a client of nobody knows where',
    `export const go = (ctx) => ctx.sqs.sendMessage(${fifo});`,
    1,
  ),
  ts(
    'a command from another package',
    `import { SendMessageCommand } from '@acme/aws';\nnew SendMessageCommand(${fifo});`,
    2,
  ),
  ts('a command handed on', `${v3}await run(SendMessageCommand, ${fifo});`, 2),
  ts(
    'a batch made by map',
    "import { SendMessageBatchCommand } from '@aws-sdk/client-sqs';\nnew SendMessageBatchCommand({ QueueUrl, Entries: all.map((o) => ({ Id: o.id, MessageGroupId: o.g })) });",
    2,
  ),
  ts(
    'input in a variable',
    `${v3}const input: any = { QueueUrl };\ninput.MessageGroupId = 'g';\nnew SendMessageCommand(input);`,
    4,
  ),
  ts(
    'input with a spread',
    `${v3}const more = { MessageGroupId: 'g' };\nnew SendMessageCommand({ QueueUrl, ...more });`,
    3,
  ),
  ts(
    'sqs-producer',
    "import { Producer } from 'sqs-producer';\nProducer.create({ queueUrl: 'https://x/orders.fifo' });",
    2,
  ),
  ts(
    'a request by hand',
    "await fetch(url, { headers: { 'x-amz-target': 'AmazonSQS.SendMessage' }, body: JSON.stringify({ MessageGroupId: 'g' }) });",
    1,
  ),
  ts(
    'a query by hand',
    "await aws.fetch(url, { body: new URLSearchParams({ Action: 'SendMessage', MessageGroupId: 'g' }) });",
    1,
  ),
  ts('a query in a URL', "await fetch(url + '?Action=SendMessage&MessageGroupId=g');", 1),
  ts(
    'a command line',
    "execSync('aws sqs send-message --message-group-id g --queue-url ' + url);",
    1,
  ),
  ts(
    'a command as a list',
    "spawn('aws', ['sqs', 'send-message', '--message-group-id', 'g', '--message-body', 'x']);",
    1,
  ),
  ts(
    'a target in AWS CDK',
    "import * as targets from 'aws-cdk-lib/aws-events-targets';\nrule.addTarget(new targets.SqsQueue(queue, { messageGroupId: 'g' }));",
    2,
  ),
  ts(
    'a target of EventBridge',
    "await events.putTargets({ Targets: [{ Arn: arn, SqsParameters: { MessageGroupId: 'g' } }] });",
    1,
  ),
  ts(
    'a target in Pulumi',
    "new aws.cloudwatch.EventTarget('t', {\n  arn,\n  sqsTarget: { messageGroupId: 'g' },\n});",
    3,
  ),
  ts(
    'a hidden producer under an alias',
    "import { defineProducer as define } from '@oncemq/toolkit';\nexport const p = define({});",
    2,
  ),
  one(
    'src/a.jsx',
    'JSX',
    `${v3}const B = () => <b onClick={() => c.send(new SendMessageCommand(${fifo}))} />;`,
    2,
  ),
  one(
    'src/a.js',
    'Flow',
    `// @flow\n${v3}const put = (a: ?string) => c.send(new SendMessageCommand(${fifo}));`,
    3,
  ),
  ts(
    'a file that cannot be parsed',
    `${v3}const = = ;\nnew SendMessageCommand(${fifo});\n{{{ <% %>`,
    3,
  ),
  one(
    'bin/send',
    'a program of Node.js without an extension',
    `#!/usr/bin/env node\n${v3}new SendMessageCommand(${fifo});`,
    3,
  ),
  one(
    'src/Send.vue',
    'a component of Vue',
    `<script setup>\n${v3}new SendMessageCommand(${fifo});\n</script>`,
    3,
  ),
  // Harmless.
  ts(
    'a policy',
    "const statement = { Action: 'sqs:SendMessage', Resource: 'arn:aws:sqs:x:1:orders.fifo' };",
  ),
  ts('a command line for a standard queue', "execSync('aws sqs send-message --message-body x');"),
  ts('a standard queue', `${v3}new SendMessageCommand({ QueueUrl, MessageBody: 'x' });`),
  ts(
    'a standard queue in a file about FIFO',
    `${v3}const other = 'orders.fifo';\nnew SendMessageCommand({ QueueUrl: plain, MessageBody: other.length });`,
  ),
  ts(
    'a standard batch in a file about FIFO',
    "import { SendMessageBatchCommand } from '@aws-sdk/client-sqs';\nconst other = 'orders.fifo';\nnew SendMessageBatchCommand({ QueueUrl, Entries: all.map((o) => ({ Id: o.id, MessageBody: o.b })) });",
  ),
  ts(
    'a receiver',
    `${v3}await c.send(new ReceiveMessageCommand({ QueueUrl: 'orders.fifo', MessageSystemAttributeNames: ['MessageGroupId'] }));\nconsole.log(m.Attributes.MessageGroupId);`,
  ),
  ts(
    'a receiver that forwards to a standard queue',
    `${v3}await c.send(new ReceiveMessageCommand({ QueueUrl: 'orders.fifo' }));\nconst put = (input) => c.send(new SendMessageCommand(input));`,
  ),
  ts(
    'redis.publish',
    `${v3}import Redis from 'ioredis';\nconst redis = new Redis();\nredis.publish('orders.fifo', JSON.stringify({ MessageGroupId: 'g' }));`,
  ),
  ts(
    'a publish of an unknown bus',
    `${v3}export const f = (bus) => bus.publish({ topic: 'a.fifo' });`,
  ),
  ts(
    'sendMessage of a browser',
    `${v3}chrome.runtime.sendMessage({ text: 'orders.fifo' });\nbot.sendMessage(chat, 'a.fifo');`,
  ),
  ts(
    'a name in a comment or a text',
    `${v3}// new SendMessageCommand(${fifo})\nconst t = "new SendMessageCommand({ MessageGroupId })";`,
  ),
  ts(
    'a name that is shadowed',
    `${v3}function f(SendMessageCommand) {\n  return new SendMessageCommand({ text: 'a.fifo' });\n}`,
  ),
  ts(
    'a producer of the toolkit that sends',
    "import { orders } from './orders.producer.js';\nawait orders.send(event, { queueUrl: 'orders.fifo', client });",
  ),
  ts(
    'a type',
    "import type { SendMessageCommandInput } from '@aws-sdk/client-sqs';\nexport interface A extends SendMessageCommandInput { MessageGroupId: string }",
  ),
  one('src/a.spec.tsx', 'a test', `${v3}new SendMessageCommand(${fifo});`),
  {
    title: 'a call of a wrapper with a standard queue',
    files: {
      'src/a.ts':
        "import { put } from './put.js';\nawait put({ QueueUrl: plain, MessageBody: 'x' });",
      'src/put.ts': `${v3}export const put = (input) => c.send(new SendMessageCommand(input));`,
    },
    lines: [],
  },
  {
    title: 'files that import each other',
    files: {
      'src/a.ts': "import { b } from './b.js';\nexport const a = () => b();",
      'src/b.ts': "import { a } from './a.js';\nexport const b = () => a();",
    },
    lines: [],
  },
];

const py = (title: string, text: string, ...lines: number[]): Planted =>
  one('app/send.py', title, text, ...lines);
const go = (title: string, text: string, ...lines: number[]): Planted =>
  one(
    'cmd/main.go',
    title,
    `package main\nimport "github.com/aws/aws-sdk-go-v2/service/sqs"\n${text}`,
    ...lines,
  );
const java = (title: string, text: string, ...lines: number[]): Planted =>
  one(
    'src/main/java/A.java',
    title,
    `import software.amazon.awssdk.services.sqs.*;\n${text}`,
    ...lines,
  );
const kotlin = (title: string, text: string, ...lines: number[]): Planted =>
  one('src/main/kotlin/A.kt', title, text, ...lines);
const ruby = (title: string, text: string, ...lines: number[]): Planted =>
  one('lib/send.rb', title, text, ...lines);
const php = (title: string, text: string, ...lines: number[]): Planted =>
  one('src/Send.php', title, `<?php\n${text}`, ...lines);
const cs = (title: string, text: string, ...lines: number[]): Planted =>
  one('src/Send.cs', title, `using Amazon.SQS;\n${text}`, ...lines);
const sh = (title: string, text: string, ...lines: number[]): Planted =>
  one('bin/send.sh', title, `#!/bin/sh\n${text}`, ...lines);
const tf = (title: string, text: string, ...lines: number[]): Planted =>
  one('infra/main.tf', title, text, ...lines);
const cfn = (title: string, text: string, ...lines: number[]): Planted =>
  one('infra/stack.yaml', title, `AWSTemplateFormatVersion: '2010-09-09'\n${text}`, ...lines);

export const others: readonly Planted[] = [
  py(
    'a client',
    "import boto3\nsqs = boto3.client('sqs')\nsqs.send_message(\n    QueueUrl=url,\n    MessageGroupId='g',\n)",
    3,
  ),
  py('a resource', "queue.send_messages(Entries=[{'Id': '1', 'MessageGroupId': 'g'}])", 1),
  py(
    'a dictionary',
    "import boto3\nargs = dict(QueueUrl=url, MessageGroupId='g')\nboto3.client('sqs').send_message(**args)",
    3,
  ),
  py(
    'a method in a variable',
    "import boto3\nput = boto3.client('sqs').send_message\nput(QueueUrl='https://x/a.fifo')",
    2,
  ),
  py(
    'a name that is computed',
    "import boto3\nput = getattr(sqs, 'send_' + 'message')\nput(QueueUrl=url, MessageGroupId='g')",
    3,
  ),
  py(
    '_make_api_call',
    "import boto3\nsqs._make_api_call('SendMessage', {'QueueUrl': url, 'MessageGroupId': 'g'})",
    2,
  ),
  py(
    'a query by hand',
    "requests.post(url, data={'Action': 'SendMessage', 'MessageGroupId': 'g'})",
    1,
  ),
  py(
    'a command as a list',
    "subprocess.run(['aws', 'sqs', 'send-message', '--message-group-id', 'g'])",
    1,
  ),
  one(
    'bin/send',
    'a program of Python without an extension',
    "#!/usr/bin/env python3\nimport boto3\nsqs.send_message(QueueUrl=url, MessageGroupId='g')",
    3,
  ),
  py('getattr', "import boto3\ngetattr(sqs, 'send_message')(QueueUrl=url, MessageGroupId='g')", 2),
  py('a topic', "import boto3\nsns.publish(TopicArn=arn, Message='x', MessageGroupId='g')", 2),
  py(
    'a send behind one of a bot',
    "bot.send_message(chat)\nqueue.send_message(MessageBody='x', MessageGroupId='g')",
    2,
  ),
  py(
    'a dictionary that is changed',
    "import boto3\nargs = {'QueueUrl': url}\nargs['MessageGroupId'] = 'g'\nsqs.send_message(**args)",
    4,
  ),
  py('an operator of Airflow', "SqsPublishOperator(sqs_queue=url, message_group_id='g')", 1),
  py('a target in AWS CDK', "rule.add_target(targets.SqsQueue(queue, message_group_id='g'))", 1),
  py(
    'a receiver that tells a bot the group',
    "import boto3\nm = sqs.receive_message(QueueUrl='orders.fifo')\nslack.send_message(m['Attributes']['MessageGroupId'])",
  ),
  py(
    'a standard queue',
    "import boto3\nFIFO = 'orders.fifo'\nsqs.send_message(QueueUrl=url, MessageBody='x')",
  ),
  py(
    'redis',
    "import boto3, redis\nsqs.receive_message(QueueUrl='orders.fifo')\nr.publish('orders.fifo', 'x')",
  ),
  py(
    'a receiver',
    "import boto3\nsqs.receive_message(QueueUrl='orders.fifo', AttributeNames=['MessageGroupId'])",
  ),
  py('a bot', "bot.send_message(chat_id, 'orders.fifo')"),
  py(
    'a comment and a docstring',
    "import boto3\n# sqs.send_message(MessageGroupId='g')\ndef f():\n    '''sqs.send_message(MessageGroupId='g')'''",
  ),
  one('tests/test_send.py', 'a test', "sqs.send_message(QueueUrl=u, MessageGroupId='g')"),
  go(
    'input in place',
    'c.SendMessage(ctx, &sqs.SendMessageInput{\n  MessageGroupId: aws.String("g"),\n})',
    3,
  ),
  go(
    'input in a variable',
    'in := &sqs.SendMessageInput{MessageGroupId: g}\nc.SendMessage(ctx, in)',
    4,
  ),
  go('input for somebody else', 'return &sqs.SendMessageInput{MessageGroupId: g}', 3),
  go(
    'a topic',
    'client.Publish(ctx, &sns.PublishInput{TopicArn: aws.String("a.fifo"), MessageGroupId: g})',
    3,
  ),
  go(
    'a standard queue',
    'const other = "orders.fifo"\nc.SendMessage(ctx, &sqs.SendMessageInput{QueueUrl: u})',
  ),
  go('redis', 'rdb.Publish(ctx, "orders.fifo", body)'),
  go(
    'a receiver',
    'c.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{QueueUrl: aws.String("orders.fifo")})',
  ),
  java('a builder', 'sqs.sendMessage(b -> b.queueUrl(u).messageGroupId("g"));', 2),
  java(
    'a request',
    'SendMessageRequest r = SendMessageRequest.builder().messageGroupId("g").build();\nsqs.sendMessage(r);',
    3,
  ),
  java(
    'a request for somebody else',
    'return SendMessageRequest.builder().queueUrl("https://x/a.fifo").build();',
  ),
  java(
    'a reference to a method',
    'Function<SendMessageRequest, Object> put = sqs::sendMessage;\nput.apply(SendMessageRequest.builder().messageGroupId("g").build());',
    2,
  ),
  java('version 1', 'sqs.sendMessage(new SendMessageRequest(u, b).withMessageGroupId("g"));', 2),
  java('Spring', 'sqsTemplate.send(to -> to.queue("orders.fifo").payload(o));', 2),
  java(
    'a header of Spring',
    'template.send(m);\nqueueMessagingTemplate.convertAndSend(q, o, Map.of(SqsMessageHeaders.SQS_GROUP_ID_HEADER, "g"));',
    3,
  ),
  java(
    'a standard queue',
    'String other = "orders.fifo";\nsqs.sendMessage(b -> b.queueUrl(u).messageBody("x"));',
  ),
  java('an event bus', 'String other = "orders.fifo";\nevents.publish(event);'),
  java(
    'a receiver',
    'sqs.receiveMessage(r -> r.queueUrl("orders.fifo").attributeNames(MessageGroupId));',
  ),
  kotlin(
    'a block',
    'import aws.sdk.kotlin.services.sqs.SqsClient\nsqs.sendMessage {\n  messageGroupId = "g"\n}',
    2,
  ),
  kotlin(
    'a standard queue',
    'import aws.sdk.kotlin.services.sqs.SqsClient\nsqs.sendMessage { queueUrl = u }',
  ),
  ruby('brackets', "sqs.send_message(queue_url: u, message_group_id: 'g')", 1),
  ruby(
    'no brackets',
    "require 'aws-sdk-sqs'\nsqs.send_message queue_url: u,\n  message_group_id: 'g'",
    2,
  ),
  ruby('public_send', "sqs.public_send(:send_message, queue_url: u, message_group_id: 'g')", 1),
  ruby('send with a text', "sqs.send('send_message', queue_url: u, message_group_id: 'g')", 1),
  ruby(
    'a method in a variable',
    "require 'aws-sdk-sqs'\nput = sqs.method(:send_message)\nput.call(queue_url: u, message_group_id: 'g')",
    2,
  ),
  ruby(
    'a text to somebody else',
    "require 'aws-sdk-sqs'\nsqs.receive_message(queue_url: 'orders.fifo')\nSlack.send_message('late')",
  ),
  ruby(
    'a standard queue',
    "require 'aws-sdk-sqs'\nOTHER = 'orders.fifo'\nsqs.send_message(queue_url: u, message_body: 'x')",
  ),
  ruby('redis', "require 'aws-sdk-sqs'\nredis.publish('orders.fifo', body)"),
  php(
    'a client',
    "use Aws\\Sqs\\SqsClient;\n$c->sendMessage(['QueueUrl' => $u, 'MessageGroupId' => 'g']);",
    3,
  ),
  php('a command', "$c->execute($c->getCommand('SendMessage', ['MessageGroupId' => 'g']));", 2),
  php(
    'input in a variable',
    "use Aws\\Sqs\\SqsClient;\n$in = ['MessageGroupId' => 'g'];\n$c->sendMessageAsync($in);",
    4,
  ),
  php(
    'a method in a variable',
    "use Aws\\Sqs\\SqsClient;\n$how = 'sendMessage';\n$c->$how(['MessageGroupId' => 'g']);",
    3,
  ),
  php(
    'a standard queue',
    "use Aws\\Sqs\\SqsClient;\n$other = 'orders.fifo';\n$c->sendMessage(['QueueUrl' => $u]);",
  ),
  php('redis', "use Aws\\Sqs\\SqsClient;\n$redis->publish('orders.fifo', $b);"),
  cs(
    'a request',
    'await sqs.SendMessageAsync(new SendMessageRequest { QueueUrl = u, MessageGroupId = "g" });',
    2,
  ),
  cs(
    'a request in a variable',
    'var r = new SendMessageRequest(u, b);\nr.MessageGroupId = "g";\nawait sqs.SendMessageAsync(r);',
    4,
  ),
  cs('a standard queue', 'var other = "orders.fifo";\nawait sqs.SendMessageAsync(u, body);'),
  cs('a bus', 'var other = "orders.fifo";\nawait bus.PublishAsync(new OrderPlaced());'),
  sh('a command', 'aws sqs send-message --queue-url "$U" --message-group-id g', 2),
  sh(
    'a command of several lines',
    'aws --region eu-west-1 sqs send-message \\\n  --queue-url "$U" \\\n  --message-group-id g',
    2,
  ),
  sh('a topic', 'aws sns publish --topic-arn arn:aws:sns:x:1:orders.fifo --message x', 2),
  sh(
    'input in a file',
    'U=https://x/orders.fifo\naws sqs send-message-batch --queue-url "$U" --entries file://x.json',
    3,
  ),
  one(
    '.github/workflows/x.yml',
    'a job',
    'jobs:\n  a:\n    steps:\n      - run: aws sqs send-message --queue-url x --message-group-id g',
    4,
  ),
  one('Makefile', 'make', 'seed:\n\taws sqs send-message --queue-url x.fifo --message-body y', 2),
  sh(
    'a command in a variable',
    'AWS="aws sqs"\n$AWS send-message --queue-url "$U" --message-group-id g',
    3,
  ),
  sh(
    'options in a variable',
    'MORE="--message-group-id g"\naws sqs send-message --queue-url "$U" $MORE',
    3,
  ),
  sh('a container', 'docker run amazon/aws-cli sqs send-message --message-group-id g', 2),
  sh('curl', 'curl "$U?Action=SendMessage&MessageBody=x&MessageGroupId=g"', 2),
  sh(
    'a standard queue beside a receiver',
    'aws sqs receive-message --queue-url https://x/a.fifo\naws sqs send-message --queue-url $U --message-body x',
  ),
  one('bin/send.ps1', 'PowerShell', 'Send-SQSMessage -QueueUrl $u -MessageGroupId g', 1),
  one(
    'src/main.rs',
    'Rust',
    'use aws_sdk_sqs::Client;\nclient.send_message().message_group_id("g").send().await?;',
    2,
  ),
  one('lib/a.ex', 'Elixir', 'ExAws.SQS.send_message(u, "x", message_group_id: "g")', 1),
  one('a.cpp', 'C++', 'request.SetMessageGroupId("g");\nclient.SendMessage(request);', 2),
  one('a.swift', 'Swift', 'sqs.sendMessage(input: SendMessageInput(messageGroupId: "g"))', 1),
  one(
    'src/main.rs',
    'a standard queue in Rust',
    'client.send_message().queue_url(u).send().await?;',
  ),
  sh('another command in a variable', '"$SLACK" send-message --text "orders.fifo is late"'),
  sh('a standard queue', 'aws sqs send-message --queue-url "$U" --message-body x'),
  sh('a receiver', 'aws sqs receive-message --queue-url https://x/orders.fifo'),
  sh('a comment', '# aws sqs send-message --message-group-id g'),
  tf(
    'a target of EventBridge',
    'resource "aws_cloudwatch_event_target" "a" {\n  sqs_target {\n    message_group_id = "g"\n  }\n}',
    3,
  ),
  tf(
    'a schedule',
    'resource "aws_scheduler_schedule" "a" {\n  target {\n    sqs_parameters { message_group_id = "g" }\n  }\n}',
    3,
  ),
  tf(
    'an integration of API Gateway',
    'request_templates = {\n  "application/json" = "Action=SendMessage&MessageGroupId=g"\n}',
    2,
  ),
  tf(
    'a queue',
    'resource "aws_sqs_queue" "a" {\n  name = "orders.fifo"\n  fifo_queue = true\n  fifo_throughput_limit = "perMessageGroupId"\n}',
  ),
  tf('a comment', '# message_group_id = "g"\n/* message_group_id = "g" */'),
  cfn(
    'a target',
    'Resources:\n  R:\n    Type: AWS::Events::Rule\n    Properties:\n      Targets:\n        - SqsParameters:\n            MessageGroupId: g',
    8,
  ),
  cfn(
    'a queue',
    'Resources:\n  Q:\n    Type: AWS::SQS::Queue\n    Properties:\n      QueueName: orders.fifo\n      FifoThroughputLimit: perMessageGroupId',
  ),
  one(
    'infra/flow.json',
    'Step Functions',
    '{ "Resource": "arn:aws:states:::sqs:sendMessage",\n "Parameters": { "MessageGroupId.$": "$.id" } }',
    2,
  ),
  one(
    'fixtures/event.json',
    'an event of Lambda',
    '{ "Records": [ { "attributes": { "MessageGroupId": "1" } } ] }',
  ),
  one('README.md', 'a page', 'aws sqs send-message --message-group-id g'),
  one('vendor/x/send.php', 'a dependency', "<?php $c->sendMessage(['MessageGroupId' => 'g']);"),
];
