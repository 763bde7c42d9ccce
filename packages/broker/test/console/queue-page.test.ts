/**
 * The first page and a queue's page in a real browser: what they show, that it is live, and what can be done from them.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeConsole, rowWith, sees, seesAfter } from './browser.ts';
import { ask, sns, sqs } from './calls.ts';
import { createFifo, receive, send } from './scenes.ts';

describeConsole('queues in the console', ({ serve, open }) => {
  test('the overview has queues and topics with counts, oldest age, blocked groups and rates', async (t) => {
    const server = await serve(t);
    await createFifo(server, 'orders.fifo');
    await createFifo(server, 'before.fifo');
    await sns(server, 'CreateTopic', { Name: 'prices' });
    for (const body of ['before', 'before']) await send(server, 'before.fifo', body);
    await server.clock.advance(60);
    const page = await open(t, server);
    await sees(page, 'orders.fifo');
    // What was suppressed before anybody looked was not counted, and no more is claimed.
    await sees(page, 'Suppressed in 0 s');
    for (const group of ['a', 'b', 'c']) await send(server, 'orders.fifo', group, { group });
    await send(server, 'orders.fifo', 'a', { group: 'a' });
    await sqs(server, 'ReceiveMessage', { QueueUrl: 'orders.fifo', VisibilityTimeout: 300 });
    await server.clock.advance(65);
    await sees(page, '1 m 5 s');
    const [name, visible, inFlight, delayed, oldest, groups, blocked] = await rowWith(
      page,
      'orders.fifo',
    );
    assert.match(name ?? '', /orders\.fifo/);
    assert.deepEqual(
      [visible, inFlight, delayed, oldest, groups, blocked],
      ['2', '1', '–', '1 m 5 s', '3', '1'],
    );
    await page.getByRole('img', { name: '3 sends accepted and 1 suppressed' }).waitFor();
    const tile = page.locator('.tiles > div').filter({ hasText: 'Suppressed in 1 m 5 s' });
    assert.match(await tile.innerText(), /1$/);
    assert.match((await rowWith(page, 'prices'))[0] ?? '', /prices/);
  });

  test('the overview changes by itself when something is sent', async (t) => {
    const server = await serve(t);
    await createFifo(server, 'orders.fifo');
    const page = await open(t, server);
    await sees(page, 'Live');
    await page.getByRole('cell', { name: '7', exact: true }).waitFor({ state: 'detached' });
    for (let index = 0; index < 7; index += 1) await send(server, 'orders.fifo', `m${index}`);
    await page.getByRole('cell', { name: '7', exact: true }).waitFor();
  });

  test('without a queue the overview says how to make one', async (t) => {
    const page = await open(t, await serve(t));
    await sees(page, 'There are no queues yet');
    await sees(page, 'create-queue');
  });

  test('a group shows what waits, what is in flight, and which message blocks it until when', async (t) => {
    const server = await serve(t);
    await createFifo(server, 'orders.fifo');
    for (const body of ['1', '2', '3']) await send(server, 'orders.fifo', body, { group: 'busy' });
    await send(server, 'orders.fifo', '4', { group: 'free' });
    const { body } = await sqs(server, 'ReceiveMessage', {
      QueueUrl: 'orders.fifo',
      VisibilityTimeout: 90,
    });
    const messageId: string = body.Messages[0].MessageId;
    const page = await open(t, server, { hash: '#/queues/orders.fifo/groups' });
    const [group, messages, inFlight, , state] = await rowWith(page, 'busy');
    assert.deepEqual([group, messages, inFlight], ['busy', '3', '1']);
    assert.match(
      state ?? '',
      new RegExp(`^Blocked by ${messageId.slice(0, 12)}.*in flight.*1 m 30 s left$`),
    );
    assert.equal((await rowWith(page, 'free')).at(-1), 'Ready');
    await page.getByLabel('Blocked only').check();
    await page.getByRole('link', { name: 'free' }).waitFor({ state: 'detached' });
    await server.clock.advance(90);
    await sees(page, 'No group is blocked.');
  });

  test('messages are peeked at with formatted bodies, and none is received', async (t) => {
    const server = await serve(t);
    await createFifo(server, 'orders.fifo');
    await send(server, 'orders.fifo', '{"order":1,"customer":{"name":"Ada"}}', {
      attributes: { tenant: 'blue' },
    });
    const page = await open(t, server, { hash: '#/queues/orders.fifo/messages' });
    await page.getByRole('button', { name: '{"order":1' }).click();
    const body = page.getByRole('region', { name: /^Body of/ });
    assert.equal(
      await body.innerText(),
      '{\n  "order": 1,\n  "customer": {\n    "name": "Ada"\n  }\n}',
    );
    await sees(page, 'tenant');
    const { messages } = (await ask(server, 'queues/orders.fifo/messages')).body;
    assert.equal(messages[0].receiveCount, 0);
  });

  test('paging works when bodies are so large that a page ends early', async (t) => {
    const server = await serve(t);
    await sqs(server, 'CreateQueue', { QueueName: 'large' });
    for (let number = 0; number < 20; number += 1) {
      await send(server, 'large', `${number} ${'x'.repeat(1_000_000)}`);
    }
    const page = await open(t, server, { hash: '#/queues/large/messages' });
    // A page ends with the message whose body reaches 4 MiB.
    for (const first of [5, 10, 15]) {
      await page.getByRole('button', { name: 'Next' }).click();
      await page.getByRole('button', { name: `${first} xxx` }).waitFor();
    }
    await page.getByRole('button', { name: '19 xxx' }).waitFor();
  });

  test('a message is sent from the page, and sent again it is reported as suppressed', async (t) => {
    const server = await serve(t);
    await createFifo(server, 'orders.fifo');
    const page = await open(t, server, { hash: '#/queues/orders.fifo' });
    await page.getByRole('button', { name: 'Send a message' }).click();
    const dialog = page.getByRole('dialog', { name: 'Send a message to orders.fifo' });
    await dialog.getByLabel('Body').fill('{"order":1}');
    await dialog.getByLabel('Attributes').fill('tenant: blue');
    await dialog.getByRole('button', { name: 'Send' }).click();
    await dialog.getByText('Accepted').waitFor();
    await dialog.getByRole('button', { name: 'Send' }).click();
    await dialog.getByText('Suppressed').waitFor();
    await dialog.getByRole('link', { name: 'See why' }).click();
    await page.getByRole('link', { name: 'Suppressed', exact: true }).waitFor();
    const { messages } = (await ask(server, 'queues/orders.fifo/messages')).body;
    assert.deepEqual(
      messages.map(({ body }: { body: string }) => body),
      ['{"order":1}'],
    );
    assert.deepEqual(messages[0].attributes, [{ name: 'tenant', type: 'String', value: 'blue' }]);
  });

  test('a refused send shows why, and the dialog stays open', async (t) => {
    const server = await serve(t);
    await sqs(server, 'CreateQueue', {
      QueueName: 'strict.fifo',
      Attributes: { FifoQueue: 'true' },
    });
    const page = await open(t, server, { hash: '#/queues/strict.fifo' });
    await page.getByRole('button', { name: 'Send a message' }).click();
    await page.getByRole('dialog').getByLabel('Body').fill('x');
    await page.getByRole('dialog').getByRole('button', { name: 'Send' }).click();
    await sees(page, /ContentBasedDeduplication/);
    assert.equal(await page.getByRole('dialog').getByLabel('Body').inputValue(), 'x');
  });

  test('an attribute entered twice is refused', async (t) => {
    const server = await serve(t);
    await sqs(server, 'CreateQueue', { QueueName: 'jobs' });
    const page = await open(t, server, { hash: '#/queues/jobs' });
    await page.getByRole('button', { name: 'Send a message' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Body').fill('x');
    await dialog.getByLabel('Attributes').fill('tenant: blue\ntenant: red');
    await dialog.getByRole('button', { name: 'Send' }).click();
    await sees(page, 'The attribute tenant appears twice.');
    assert.equal((await ask(server, 'queues/jobs')).body.visible, 0);
  });

  test("a purge asks for confirmation with the queue's name, and does nothing when dismissed", async (t) => {
    const server = await serve(t);
    await createFifo(server, 'orders.fifo');
    await send(server, 'orders.fifo', 'one');
    const page = await open(t, server, { hash: '#/queues/orders.fifo' });
    const visible = async (): Promise<number> =>
      (await ask(server, 'queues/orders.fifo')).body.visible;
    const dialog = page.getByRole('dialog', { name: 'Purge orders.fifo?' });
    await page.getByRole('button', { name: 'Purge' }).click();
    await dialog.waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    assert.equal(await visible(), 1);
    await page.getByRole('button', { name: 'Purge' }).click();
    const purge = dialog.getByRole('button', { name: 'Purge orders.fifo' });
    await seesAfter(page, 'orders.fifo was purged.', () => purge.click());
    assert.equal(await visible(), 0);
  });

  test('a redrive is started from the page and shows its progress', async (t) => {
    const server = await serve(t);
    await sqs(server, 'CreateQueue', { QueueName: 'dead' });
    const RedrivePolicy =
      '{"deadLetterTargetArn":"arn:aws:sqs:us-east-1:000000000000:dead","maxReceiveCount":1}';
    await sqs(server, 'CreateQueue', { QueueName: 'jobs', Attributes: { RedrivePolicy } });
    for (const body of ['1', '2', '3', '4']) await send(server, 'jobs', body);
    for (let round = 0; round < 2; round += 1) await receive(server, 'jobs', 0);
    const page = await open(t, server, { hash: '#/queues/dead/redrive' });
    await page.getByRole('button', { name: 'Start a redrive' }).click();
    await page.getByLabel('Messages per second').fill('1');
    await page.getByRole('button', { name: 'Start', exact: true }).click();
    await sees(page, 'Running');
    await server.clock.advance(2);
    await sees(page, /^[123] of 4 messages moved$/);
    assert.ok(
      Number(
        await page.getByRole('progressbar', { name: 'Messages moved' }).getAttribute('value'),
      ) > 0,
    );
    await server.clock.advance(10);
    await sees(page, '4 of 4 messages moved');
    await sees(page, 'Completed');
    assert.equal((await ask(server, 'queues/jobs')).body.visible, 4);
  });

  test('an attribute is shown and changed', async (t) => {
    const server = await serve(t);
    await createFifo(server, 'orders.fifo');
    const page = await open(t, server, { hash: '#/queues/orders.fifo/attributes' });
    await page.getByRole('button', { name: 'Change VisibilityTimeout' }).click();
    await page.getByLabel('Value').fill('77');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('row', { name: /VisibilityTimeout 77/ }).waitFor();
    const { body } = await sqs(server, 'GetQueueAttributes', {
      QueueUrl: 'orders.fifo',
      AttributeNames: ['VisibilityTimeout'],
    });
    assert.equal(body.Attributes.VisibilityTimeout, '77');
  });

  test('a missing queue is reported, with a way back', async (t) => {
    const page = await open(t, await serve(t), { hash: '#/queues/none' });
    await sees(page, 'Not found');
    await page.getByRole('link', { name: 'All queues and topics' }).click();
    await sees(page, 'There are no queues yet');
  });

  test('a topic shows subscriptions, filters and deliveries, and a message is tried against them', async (t) => {
    const server = await serve(t);
    const { TopicArn } = await sns(server, 'CreateTopic', { Name: 'prices' });
    for (const queue of ['eu', 'all']) {
      await sqs(server, 'CreateQueue', { QueueName: queue });
      await sns(server, 'Subscribe', {
        TopicArn,
        Protocol: 'sqs',
        Endpoint: `arn:aws:sqs:us-east-1:000000000000:${queue}`,
        ...(queue === 'eu'
          ? {
              'Attributes.entry.1.key': 'FilterPolicy',
              'Attributes.entry.1.value': '{"region":["eu"]}',
            }
          : {}),
      });
    }
    const page = await open(t, server, { hash: '#/topics/prices' });
    await sees(page, '{"region":["eu"]}');
    await sees(page, 'none, matches every message');
    await sns(server, 'Publish', { TopicArn, Message: 'hello' });
    await sees(page, 'Queued');
    const deliveries = page.getByRole('table', { name: 'Latest deliveries' });
    assert.equal((await rowWith(deliveries, 'Filtered out'))[2], 'eu');
    const verdicts = page.getByRole('listitem');
    await page.getByLabel('Attributes').fill('region: us');
    await page.getByRole('button', { name: 'Try' }).click();
    await verdicts.first().waitFor();
    assert.deepEqual(await verdicts.allInnerTexts(), ['Does not match eu', 'Matches all']);
    await page.getByLabel('Attributes').fill('region: eu');
    await page.getByLabel('Another filter policy').fill('{"region":["us"]}');
    await page.getByRole('button', { name: 'Try' }).click();
    await sees(page, 'The policy above');
    assert.deepEqual(await verdicts.allInnerTexts(), [
      'Does not match The policy above',
      'Matches eu',
      'Matches all',
    ]);
    assert.equal((await ask(server, 'queues/all')).body.visible, 1);
  });

  test('a matching endpoint is shown in full, and fits a small screen', async (t) => {
    const server = await serve(t);
    const { TopicArn } = await sns(server, 'CreateTopic', { Name: 'prices' });
    const Endpoint = `http://127.0.0.1:1/${'p'.repeat(80)}`;
    await sns(server, 'Subscribe', { TopicArn, Protocol: 'http', Endpoint });
    const page = await open(t, server, { hash: '#/topics/prices', width: 360 });
    await page.getByRole('button', { name: 'Try' }).click();
    assert.equal(await page.getByRole('listitem').innerText(), `Matches ${Endpoint}`);
    assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 360);
  });

  test('the chosen scope of a tried policy survives an update of the page', async (t) => {
    const server = await serve(t);
    const { TopicArn } = await sns(server, 'CreateTopic', { Name: 'prices' });
    const page = await open(t, server, { hash: '#/topics/prices' });
    const scope = page.getByLabel('Scope of that policy');
    await scope.selectOption('Message body');
    await page.getByLabel('Message', { exact: true }).fill('{"region":"eu"}');
    await page.getByLabel('Another filter policy').fill('{"region":["eu"]}');
    // The page is painted anew meanwhile.
    await sqs(server, 'CreateQueue', { QueueName: 'jobs' });
    const Endpoint = 'arn:aws:sqs:us-east-1:000000000000:jobs';
    await sns(server, 'Subscribe', { TopicArn, Protocol: 'sqs', Endpoint });
    await sees(page, 'none, matches every message');
    assert.equal(await scope.inputValue(), 'MessageBody');
    await page.getByRole('button', { name: 'Try' }).click();
    await sees(page, 'The policy above');
    assert.equal(await page.getByRole('listitem').first().innerText(), 'Matches The policy above');
  });
});
