/**
 * The console for everybody and under everything: keyboard, screen readers, small screens, light and dark, hostile
 * messages, a thousand queues, a server that goes away.
 */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import type { Page } from 'playwright-core';
import { startServer } from '../../src/index.ts';
import type { TestServer } from '../../src/testing.ts';
import { startPostgres } from '../support/postgres.ts';
import { describeConsole, goTo, sees } from './browser.ts';
import { ask, sns, sqs } from './calls.ts';
import { createFifo, receive, send, sendMany } from './scenes.ts';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const axeRules = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa'];

/** Every view, with what must be on it before it is judged. */
const views: Readonly<Record<string, string>> = {
  '#/': 'orders.fifo',
  '#/queues/orders.fifo/window': 'Suppressed',
  '#/queues/orders.fifo/window/1/0': 'another event, and it is lost',
  '#/queues/orders.fifo/groups': 'Blocked',
  '#/queues/orders.fifo/messages': 'In flight',
  '#/queues/dead/redrive': 'Dead letters come from',
  '#/queues/orders.fifo/attributes': 'VisibilityTimeout',
  '#/topics/prices': 'Try a message',
  '#/store': 'In memory',
  '#/queues/none': 'Not found',
};

describeConsole('the console for everybody', ({ serve, open }) => {
  for (const theme of ['light', 'dark'] as const) {
    test(`no view breaks a rule of WCAG 2.1 A or AA that axe knows, in ${theme}`, async (t) => {
      const server = await serve(t);
      await setScene(server);
      const page = await open(t, server, { theme });
      for (const [hash, text] of Object.entries(views)) {
        await goTo(page, hash);
        await sees(page, text);
        if (hash.endsWith('messages')) await page.locator('.preview').first().click();
        assert.deepEqual(await violations(page), [], hash);
      }
      for (const button of ['Send a message', 'Purge']) {
        await goTo(page, '#/queues/orders.fifo');
        await page.getByRole('button', { name: button }).click();
        await page.getByRole('dialog').waitFor();
        assert.deepEqual(await violations(page), [], button);
        await page.keyboard.press('Escape');
      }
    });
  }

  test('the page of a store that servers share names them, and fits a small screen', async (t) => {
    const postgres = (await startPostgres()).url;
    const server = await serve(t, { postgres });
    await serve(t, { postgres });
    const page = await open(t, server, { width: 360 });
    await page.getByRole('link', { name: 'postgres storage' }).click();
    const servers = page.getByRole('table', { name: 'Servers that share the database' });
    await servers.getByText('Running').nth(1).waitFor();
    assert.equal(await servers.getByText('answers').count(), 1);
    await sees(page, 'Not records yet');
    assert.deepEqual(await violations(page), []);
    const width = await page.evaluate('document.documentElement.scrollWidth');
    assert.ok((width as number) <= 360, `it is ${width} wide`);
  });

  test('neither does a whitespace-only message or a table cut off by a small screen', async (t) => {
    const server = await serve(t);
    await sqs(server, 'CreateQueue', { QueueName: 'jobs' });
    await send(server, 'jobs', ' \n ');
    const page = await open(t, server, { width: 320, hash: '#/queues/jobs/messages' });
    await page.getByRole('button', { name: 'only whitespace' }).waitFor();
    assert.deepEqual(await violations(page), []);
    const { TopicArn } = await sns(server, 'CreateTopic', { Name: 'prices' });
    const Endpoint = 'arn:aws:sqs:us-east-1:000000000000:jobs';
    await sns(server, 'Subscribe', { TopicArn, Protocol: 'sqs', Endpoint });
    await sqs(server, 'DeleteQueue', { QueueUrl: 'jobs' });
    await goTo(page, '#/topics/prices');
    await sees(page, 'There were no deliveries since this page was opened.');
    await sns(server, 'Publish', { TopicArn, Message: 'lost' });
    await page.getByRole('table', { name: 'Failed deliveries' }).waitFor();
    assert.deepEqual(await violations(page), []);
  });

  test('the way from the list to a suppressed send and back works by keyboard alone', async (t) => {
    const server = await serve(t);
    await setScene(server);
    const page = await open(t, server);
    await sees(page, 'orders.fifo');
    await tabTo(page, 'Skip to content');
    await page.keyboard.press('Enter');
    await tabTo(page, 'Find a queue by name');
    await page.keyboard.type('orders');
    await tabTo(page, 'orders.fifo');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'orders.fifo' }).waitFor();
    await tabTo(page, 'Collision');
    await page.keyboard.press('Enter');
    await sees(page, 'another event, and it is lost');
    await tabTo(page, 'Close');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 2, name: 'Collision' }).waitFor({ state: 'detached' });
    await tabTo(page, 'OnceMQ');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 2, name: /^Queues/ }).waitFor();
  });

  test('the focus and the text of a search survive an update of the page', async (t) => {
    const server = await serve(t);
    await setScene(server);
    const page = await open(t, server);
    const search = page.getByRole('searchbox');
    await search.fill('ord');
    await sqs(server, 'CreateQueue', { QueueName: 'ordinary' });
    await sees(page, 'ordinary');
    assert.equal(await focused(page), 'Find a queue by name');
    assert.equal(await search.inputValue(), 'ord');
  });

  test('no view is wider than a small screen', async (t) => {
    const server = await serve(t);
    await setScene(server);
    const page = await open(t, server, { width: 360 });
    for (const [hash, text] of Object.entries(views)) {
      await goTo(page, hash);
      await sees(page, text);
      const width = await page.evaluate('document.documentElement.scrollWidth');
      assert.ok((width as number) <= 360, `${hash} is ${width} wide`);
    }
  });

  test('long names, addresses and values keep every column in place', async (t) => {
    const server = await serve(t);
    const long = 'n'.repeat(75);
    await createFifo(server, `${long}.fifo`);
    await send(server, `${long}.fifo`, 'b'.repeat(1_000), {
      group: 'G'.repeat(128),
      attributes: { ['A'.repeat(250)]: 'v'.repeat(2_000) },
    });
    const { TopicArn } = await sns(server, 'CreateTopic', { Name: 'prices' });
    const Endpoint = `http://127.0.0.1:1/${'p'.repeat(200)}`;
    await sns(server, 'Subscribe', { TopicArn, Protocol: 'http', Endpoint });
    const page = await open(t, server);
    const columns: Readonly<Record<string, string>> = {
      '#/': 'Last 5 minutes',
      [`#/queues/${long}.fifo/window`]: 'Details',
      [`#/queues/${long}.fifo/groups`]: 'State',
      [`#/queues/${long}.fifo/messages`]: 'State',
      '#/topics/prices': 'Pending',
    };
    for (const [hash, last] of Object.entries(columns)) {
      await goTo(page, hash);
      const column = page.getByRole('columnheader', { name: last });
      await column.waitFor();
      if (hash.endsWith('messages')) await page.locator('.preview').click();
      const { x, width } = (await column.boundingBox()) as { x: number; width: number };
      assert.ok(x + width <= 1280, `${last} of ${hash} ends at ${x + width}`);
    }
    await goTo(page, `#/queues/${long}.fifo/messages`);
    const value = page.getByRole('cell', { name: 'vvv' });
    const { height } = (await value.boundingBox()) as { height: number };
    assert.ok(height < 900, `the value is ${height} high`);
  });

  test('light and dark follow the system until one is chosen, and the choice stays', async (t) => {
    const server = await serve(t);
    const page = await open(t, server, { theme: 'dark' });
    const ground = (): Promise<unknown> =>
      page.evaluate('getComputedStyle(document.body).backgroundColor');
    await sees(page, 'There are no queues yet');
    const dark = await ground();
    await page.getByRole('button', { name: 'Light theme' }).click();
    await page.getByRole('button', { name: 'Dark theme' }).waitFor();
    const light = await ground();
    assert.notEqual(light, dark);
    await page.reload();
    await sees(page, 'There are no queues yet');
    assert.equal(await ground(), light);
  });

  test('the content of a hostile message is only ever text', async (t) => {
    const server = await serve(t);
    await createFifo(server, 'orders.fifo');
    const hostile = '<img src=x onerror="document.title=1"><script>document.title=1</script>';
    const turned = '\u202Egnp.exe\u2066';
    await send(server, 'orders.fifo', hostile, {
      attributes: { note: hostile },
      group: '<b>g</b>',
    });
    await send(server, 'orders.fifo', hostile, { attributes: { note: turned }, group: '<b>g</b>' });
    await send(server, 'orders.fifo', turned, { group: '../../..' });
    const page = await open(t, server, { hash: '#/queues/orders.fifo/messages' });
    await page.getByRole('button', { name: '<img' }).click();
    assert.equal(await page.getByRole('region', { name: /^Body of/ }).innerText(), hostile);
    for (const hash of ['#/queues/orders.fifo/groups', '#/queues/orders.fifo/window/1/0']) {
      await goTo(page, hash);
      await sees(page, '<b>g</b>');
    }
    assert.equal(await page.locator('main img, main script, main b').count(), 0);
    assert.match(await page.title(), /orders\.fifo/);
  });

  test('a body of a megabyte is cut until all of it is requested', async (t) => {
    const server = await serve(t);
    await createFifo(server, 'orders.fifo');
    await send(server, 'orders.fifo', 'x'.repeat(1_000_000));
    const page = await open(t, server, { hash: '#/queues/orders.fifo/messages' });
    await page.getByRole('button', { name: 'xxx' }).click();
    await sees(page, 'The first 4,096 of 1,000,000 characters.');
    await page.getByRole('button', { name: 'Show the whole body' }).click();
    await page.getByRole('button', { name: 'Show the whole body' }).waitFor({ state: 'detached' });
    const text = await page.getByRole('region', { name: /^Body of/ }).textContent();
    assert.equal(text?.length, 1_000_000);
  });

  test('one of a thousand queues can be found, and sorting shows the largest first', async (t) => {
    const server = await serve(t);
    for (let index = 0; index < 1_000; index += 1) {
      await sqs(server, 'CreateQueue', { QueueName: `queue-${String(index).padStart(4, '0')}` });
    }
    await send(server, 'queue-0777', 'one');
    const page = await open(t, server);
    await sees(page, '1–50 of 1,000');
    assert.equal(await page.getByRole('row').count(), 51);
    await page.getByRole('button', { name: 'Next' }).click();
    await sees(page, 'queue-0050');
    await page.getByRole('button', { name: /^Visible/ }).click();
    const first = page.getByRole('rowheader').first();
    await first.filter({ hasText: 'queue-0777' }).waitFor();
    await page.getByRole('searchbox').fill('queue-099');
    await sees(page, 'queue-0999');
    assert.equal(await page.getByRole('rowheader').count(), 10);
  });

  test('a thousand topics are shown a page at a time, with a note that there are more', async (t) => {
    const server = await serve(t);
    for (let index = 0; index <= 1_000; index += 1) {
      await sns(server, 'CreateTopic', { Name: `topic-${String(index).padStart(4, '0')}` });
    }
    const page = await open(t, server);
    await sees(page, '1–50 of 1,000');
    await sees(page, 'There are more');
    assert.equal(await page.getByRole('rowheader').count(), 50);
    await page.getByRole('button', { name: 'Next' }).click();
    await sees(page, 'topic-0050');
  });

  test('a queue with twenty thousand messages in five thousand groups is shown a page at a time', async (t) => {
    const server = await serve(t);
    await createFifo(server, 'orders.fifo');
    await sendMany(server, 'orders.fifo', 20_000);
    const page = await open(t, server, { hash: '#/queues/orders.fifo/messages' });
    await sees(page, '{"number":0}');
    assert.equal(await page.getByRole('row').count(), 51);
    await page.getByRole('button', { name: 'Next' }).click();
    await sees(page, '{"number":99}');
    await goTo(page, '#/queues/orders.fifo/groups');
    // The messages name their groups, too; only the groups have this column.
    await page.getByRole('columnheader', { name: 'In flight' }).waitFor();
    await sees(page, 'group-7');
    assert.equal(await page.getByRole('row').count(), 51);
    await goTo(page, '#/queues/orders.fifo/window');
    await page.getByRole('img', { name: /20,000 sends accepted/ }).waitFor();
    assert.equal(await page.getByRole('row').count(), 51);
  });

  test('behind a proxy, below another path, the page works the same', async (t) => {
    const server = await serve(t);
    await createFifo(server, 'orders.fifo');
    const page = await open(
      t,
      { url: await proxied(t, server.url) },
      { hash: '#/queues/orders.fifo' },
    );
    await page.getByRole('button', { name: '+1 s' }).click();
    await page.getByRole('button', { name: 'Send a message' }).click();
    await page.getByRole('dialog').getByLabel('Body').fill('through the proxy');
    await page.getByRole('dialog').getByRole('button', { name: 'Send' }).click();
    await sees(page, 'Accepted as');
    await page.keyboard.press('Escape');
    await sees(page, '5 m left');
  });

  test('when the server goes down the page says so, and when it is back the page continues', async (t) => {
    const first = await startServer({ port: 0, memory: true, log: 'silent' });
    const { port, url } = first;
    await sqs(first, 'CreateQueue', { QueueName: 'before' });
    const page = await open(t, { url });
    await sees(page, 'before');
    await first.close();
    await sees(page, 'The server does not answer.');
    await sees(page, 'before');
    const second = await startServer({ port, memory: true, log: 'silent' });
    t.after(() => second.close());
    await sqs(second, 'CreateQueue', { QueueName: 'after' });
    await sees(page, 'after');
    await sees(page, 'Live');
  });
});

/** Something of everything: a collision, a blocked group, a dead-letter queue, a topic with a filter. */
async function setScene(server: TestServer): Promise<void> {
  await sqs(server, 'CreateQueue', { QueueName: 'dead' });
  const RedrivePolicy =
    '{"deadLetterTargetArn":"arn:aws:sqs:us-east-1:000000000000:dead","maxReceiveCount":1}';
  await sqs(server, 'CreateQueue', { QueueName: 'jobs', Attributes: { RedrivePolicy } });
  await createFifo(server, 'orders.fifo');
  await send(server, 'orders.fifo', '{"a":1}', { attributes: { tenant: 'blue' } });
  await server.clock.advance(3);
  await send(server, 'orders.fifo', '{"a":1}', { attributes: { tenant: 'red' } });
  await send(server, 'orders.fifo', '{"a":1}', { attributes: { tenant: 'blue' } });
  await receive(server, 'orders.fifo', 120);
  const { TopicArn } = await sns(server, 'CreateTopic', { Name: 'prices' });
  await sns(server, 'Subscribe', {
    TopicArn,
    Protocol: 'sqs',
    Endpoint: 'arn:aws:sqs:us-east-1:000000000000:jobs',
    'Attributes.entry.1.key': 'FilterPolicy',
    'Attributes.entry.1.value': '{"region":["eu"]}',
  });
  assert.equal((await ask(server, 'queues/orders.fifo')).body.inFlight, 1);
}

/** The address of the server below `/mq` of another one, which names itself to the server as proxies do. */
async function proxied(t: TestContext, target: string): Promise<string> {
  const proxy = createServer((incoming, outgoing) => {
    const path = (incoming.url ?? '').replace(/^\/mq/, '');
    const headers = { ...incoming.headers, host: new URL(target).host };
    const { method } = incoming;
    const forwarded = request(`${target}${path}`, { method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(outgoing);
    });
    // The page closes its stream of events when it is left.
    outgoing.on('close', () => forwarded.destroy());
    forwarded.on('error', () => outgoing.destroy());
    incoming.pipe(forwarded);
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  t.after(() => {
    proxy.closeAllConnections();
    proxy.close();
  });
  return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}/mq`;
}

async function violations(page: Page): Promise<string[]> {
  await page.evaluate(axe);
  const run = `axe.run(document, { runOnly: ${JSON.stringify(axeRules)} })`;
  const found = (await page.evaluate(run)) as {
    violations: { id: string; nodes: { html: string; failureSummary: string }[] }[];
  };
  return found.violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`),
  );
}

/** What a screen reader would call what has the focus. */
async function focused(page: Page): Promise<string> {
  const name = `(document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent).trim()`;
  return (await page.evaluate(name)) as string;
}

const tabsMax = 80;

async function tabTo(page: Page, name: string): Promise<void> {
  for (let tabs = 0; tabs < tabsMax; tabs += 1) {
    await page.keyboard.press('Tab');
    if ((await focused(page)) === name) return;
  }
  assert.fail(`${name} was not reached; the focus is on ${await focused(page)}`);
}
