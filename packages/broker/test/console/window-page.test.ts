/**
 * The window in a real browser: why a message vanished, told by the timeline, the list, the comparison and the search; and
 * time that is moved from the page.
 */

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { startServer } from '../../src/index.ts';
import { describeConsole, goTo, rowWith, sees, seesAfter } from './browser.ts';
import { consume, createFifo, send, sendMany } from './scenes.ts';

const windowOf = (queue: string): string => `#/queues/${queue}/window`;

describeConsole('the window in the console', ({ serve, open }) => {
  test('a suppressed send opens next to its original, with differences marked', async (t) => {
    const server = await serve(t);
    await createFifo(server, 'orders.fifo');
    await send(server, 'orders.fifo', '{"total":10,"note":"a"}', {
      id: 'order-1',
      attributes: { tenant: 'blue', v: '1' },
    });
    await server.clock.advance(12);
    await send(server, 'orders.fifo', '{"total":19,"note":"a"}', {
      id: 'order-1',
      group: 'other',
      attributes: { tenant: 'red', v: '1' },
    });
    const page = await open(t, server, { hash: windowOf('orders.fifo') });
    await page.getByRole('img', { name: /1 send accepted, 1 suppressed, 0 collisions/ }).waitFor();
    await page.getByRole('link', { name: 'Suppressed', exact: true }).click();
    await sees(page, 'an accepted message with the same deduplication id');
    await sees(page, '12 s after');
    const table = page.getByRole('table', { name: 'The original and the suppressed send' });
    const marks = await table.locator('mark').allInnerTexts();
    assert.deepEqual(marks, ['g', 'other', 'blue', 'red', '0', '9']);
    await sees(page, '1 line with differences.');
    assert.match(
      (await table.getByRole('row', { name: 'Attribute v' }).innerText()) ?? '',
      /the same in both/,
    );
  });

  test('differences are marked even if two bodies are equal JSON, or reported as beyond the shown part', async (t) => {
    const server = await serve(t);
    await createFifo(server, 'orders.fifo');
    const long = 'x'.repeat(20_000);
    const pairs = [
      ['{"order":9007199254740993}', '{"order":9007199254740992}'],
      ['{"order":1}', '{"order": 1}'],
      [`${long}1`, `${long}2`],
    ] as const;
    for (const [index, pair] of pairs.entries()) {
      for (const body of pair) await send(server, 'orders.fifo', body, { id: `order-${index}` });
    }
    const page = await open(t, server, { hash: `${windowOf('orders.fifo')}/1/0` });
    await sees(page, '1 line with differences.');
    const marks = page.locator('.side-by-side mark');
    assert.deepEqual(await marks.allTextContents(), ['3', '2']);
    await goTo(page, `${windowOf('orders.fifo')}/2/1`);
    await sees(page, '{"order": 1}');
    assert.deepEqual(await marks.allTextContents(), [' ']);
    await goTo(page, `${windowOf('orders.fifo')}/3/2`);
    await sees(page, 'The difference is beyond the part that is shown.');
  });

  test('clicking a suppressed send in the timeline opens it', async (t) => {
    const server = await serve(t);
    await createFifo(server, 'orders.fifo');
    await send(server, 'orders.fifo', 'same');
    await server.clock.advance(150);
    await send(server, 'orders.fifo', 'same');
    await server.clock.advance(75);
    const page = await open(t, server, { hash: windowOf('orders.fifo') });
    const picture = page.getByRole('img', { name: /1 send accepted, 1 suppressed/ });
    await picture.waitFor();
    const box = (await picture.boundingBox()) as { width: number; height: number };
    // 75 of 300 seconds ago is three quarters from the left.
    await picture.click({ position: { x: box.width * 0.75, y: box.height * 0.7 } });
    await sees(page, 'The two are identical');
  });

  test('hundreds of later sends hide no suppressed one, neither in the timeline nor in its list', async (t) => {
    const server = await serve(t);
    await createFifo(server, 'orders.fifo');
    await send(server, 'orders.fifo', 'same');
    await send(server, 'orders.fifo', 'same');
    await server.clock.advance(150);
    await sendMany(server, 'orders.fifo', 300);
    const page = await open(t, server, { hash: windowOf('orders.fifo') });
    const picture = page.getByRole('img', { name: /301 sends accepted, 1 suppressed/ });
    await picture.waitFor();
    await sees(page, 'Showing 200 of 302. Search to find the others.');
    await page.getByRole('button', { name: 'Suppressed' }).click();
    await rowWith(page, 'after the original, identical');
    const box = (await picture.boundingBox()) as { width: number; height: number };
    await picture.click({ position: { x: box.width * 0.5, y: box.height * 0.7 } });
    await sees(page, 'The two are identical');
  });

  test('a collision is listed as such and says that an event is lost', async (t) => {
    const server = await serve(t);
    await createFifo(server, 'orders.fifo');
    await send(server, 'orders.fifo', 'renewed', { attributes: { tenant: 'blue' } });
    await send(server, 'orders.fifo', 'renewed', { attributes: { tenant: 'red' } });
    await send(server, 'orders.fifo', 'renewed', { attributes: { tenant: 'blue' } });
    const page = await open(t, server, { hash: windowOf('orders.fifo') });
    await page.getByRole('button', { name: 'Collisions' }).click();
    assert.match((await rowWith(page, 'Collision'))[5] ?? '', /different attributes/);
    await page
      .getByRole('link', { name: 'Suppressed', exact: true })
      .waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'Collision' }).click();
    await sees(page, 'another event, and it is lost');
    assert.deepEqual(await page.locator('.side-by-side mark').allInnerTexts(), ['blue', 'red']);
  });

  test('a message that breaks the contract of its queue is highlighted with the reason', async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'oncemq-console-'));
    t.after(() => rmSync(folder, { recursive: true }));
    const contract = join(folder, 'contract.json');
    const queues = [{ queue: 'orders.fifo', contract: 'envelope', mode: 'observe' }];
    writeFileSync(contract, JSON.stringify({ queues }));
    const server = await serve(t, { contract });
    await createFifo(server, 'orders.fifo');
    await send(server, 'orders.fifo', 'no envelope');
    const page = await open(t, server, { hash: windowOf('orders.fifo') });
    await page.getByRole('img', { name: /1 violation/ }).waitFor();
    assert.match((await rowWith(page, 'Violation')).join(' '), /body-not-envelope/);
    // Others of the same moment, for the same reason: each has a row, and keeps it when the page is painted anew.
    await sendMany(server, 'orders.fifo', 5);
    await page.getByRole('img', { name: /6 violations/ }).waitFor();
    await send(server, 'orders.fifo', 'seen', { group: 'last' });
    await page.getByRole('img', { name: /7 violations/ }).waitFor();
    assert.equal(await page.getByRole('row', { name: 'Violation' }).count(), 7);
  });

  test('on a small screen, which has no columns, each side of a comparison is labeled', async (t) => {
    const server = await serve(t);
    await createFifo(server, 'orders.fifo');
    for (const body of ['one', 'two']) await send(server, 'orders.fifo', body, { id: 'x' });
    const page = await open(t, server, { hash: `${windowOf('orders.fifo')}/1/0`, width: 400 });
    await sees(page, '1 line with differences.');
    const labels = `[...document.querySelectorAll('.side-by-side tr:has(.body) td')].map(
      (cell) => getComputedStyle(cell, '::before').content)`;
    assert.deepEqual(await page.evaluate(labels), ['"Original"', '"Suppressed"']);
  });

  test('for an original that is no longer kept, the page shows what the window knows', async (t) => {
    const server = await serve(t);
    await createFifo(server, 'orders.fifo');
    const { body } = await send(server, 'orders.fifo', 'one', { id: 'x' });
    await consume(server, 'orders.fifo');
    await send(server, 'orders.fifo', 'two', { id: 'x' });
    const page = await open(t, server, { hash: windowOf('orders.fifo') });
    await page.getByRole('link', { name: 'Suppressed', exact: true }).click();
    await sees(page, `No longer kept. Its MD5 is ${body.MD5OfMessageBody}.`);
    await sees(page, 'no longer in the queue');
    const suppressed = page.getByRole('region', { name: 'Body of the suppressed send' });
    assert.equal(await suppressed.innerText(), 'two');
  });

  test('sends are found by id, by message id, by key and by the hash of the body', async (t) => {
    const server = await serve(t);
    await createFifo(server, 'orders.fifo');
    const { body } = await send(server, 'orders.fifo', '{"dedupe_key":"landsat/32"}', {
      group: 'path-32',
    });
    await send(server, 'orders.fifo', '{"dedupe_key":"landsat/33"}', { group: 'path-33' });
    const page = await open(t, server, { hash: windowOf('orders.fifo') });
    const search = page.getByRole('searchbox');
    const hash = 'f'.repeat(64);
    await search.fill(hash);
    await sees(page, 'No matching sends in the window.');
    const id = await page.evaluate(sha256, '{"dedupe_key":"landsat/32"}');
    for (const text of [id, body.MessageId, 'landsat/32', body.MD5OfMessageBody]) {
      await search.fill('none of them');
      await sees(page, 'No matching sends in the window.');
      await search.fill(text);
      await sees(page, 'path-32');
      assert.equal(await page.getByText('path-33').count(), 0, text);
    }
  });

  test('a text too long for an address is searched for by its beginning', async (t) => {
    const server = await serve(t);
    await createFifo(server, 'orders.fifo');
    const long = '\u{1F4E6}'.repeat(10_000);
    await send(server, 'orders.fifo', long, { group: 'long' });
    await send(server, 'orders.fifo', 'short', { group: 'short' });
    const page = await open(t, server, { hash: windowOf('orders.fifo') });
    const search = page.getByRole('searchbox');
    await search.focus();
    await page.keyboard.insertText(long);
    await page.getByText('short').waitFor({ state: 'detached' });
    await rowWith(page, 'long');
  });

  test('a send found only by its id opens, and stays open when the search ends', async (t) => {
    const server = await serve(t);
    await createFifo(server, 'orders.fifo');
    await send(server, 'orders.fifo', 'the oldest of all', { id: 'first' });
    await sendMany(server, 'orders.fifo', 1_000);
    const page = await open(t, server, { hash: windowOf('orders.fifo') });
    await page.getByRole('searchbox').fill('first');
    await sees(page, 'A complete deduplication id is found however old it is');
    await page.getByRole('link', { name: 'Accepted' }).click();
    await sees(page, 'the oldest of all');
    await page.getByRole('searchbox').fill('');
    for (const group of ['late', 'later']) {
      await send(server, 'orders.fifo', group, { group });
      await rowWith(page, group);
    }
    await sees(page, 'the oldest of all');
    assert.equal(await page.locator('.notice').count(), 0);
  });

  test('with scope messageGroup the search says that it does not find older ids', async (t) => {
    const server = await serve(t);
    await createFifo(server, 'orders.fifo', { DeduplicationScope: 'messageGroup' });
    await send(server, 'orders.fifo', 'old', { id: 'first' });
    await sendMany(server, 'orders.fifo', 1_000);
    const page = await open(t, server, { hash: windowOf('orders.fifo') });
    await page.getByRole('searchbox').fill('first');
    await sees(page, 'For an older id, use oncemq queue explain with its group');
  });

  test('time can be moved from the page, and entries expire in view', async (t) => {
    const server = await serve(t);
    await createFifo(server, 'orders.fifo');
    await send(server, 'orders.fifo', 'old');
    await server.clock.advance(200);
    await send(server, 'orders.fifo', 'young', { group: 'later' });
    const page = await open(t, server, { hash: windowOf('orders.fifo') });
    await sees(page, '1 m 40 s left');
    const before = server.clock.now();
    await page.getByRole('button', { name: '+1 s' }).click();
    await sees(page, '1 m 39 s left');
    await page.getByRole('button', { name: '+30 s' }).click();
    await sees(page, '1 m 9 s left');
    await page.getByLabel('Seconds to advance the clock by').fill('69');
    const move = page.getByRole('button', { name: 'Advance', exact: true });
    await seesAfter(page, /^Expired$/, () => move.click());
    assert.equal(server.clock.now(), before + 100_000);
    await sees(page, '3 m 20 s left');
    await page.getByRole('button', { name: '+5 m' }).click();
    await sees(page, 'The window is empty');
  });

  test('the page is also live without the event stream', async (t) => {
    const server = await serve(t);
    await createFifo(server, 'orders.fifo');
    const page = await open(t, server);
    await page.route('**/_oncemq/events*', (route) => route.abort());
    await goTo(page, windowOf('orders.fifo'));
    await sees(page, 'The window is empty');
    await send(server, 'orders.fifo', 'one', { group: 'seen' });
    await sees(page, 'seen');
  });

  test('with a real clock the page offers no way to move time', async (t) => {
    const server = await startServer({ port: 0, memory: true, log: 'silent' });
    t.after(() => server.close());
    const page = await open(t, server);
    await sees(page, 'There are no queues yet');
    await sees(page, 'real clock');
    assert.equal(await page.getByRole('button', { name: 'Advance' }).count(), 0);
  });
});

async function sha256(text: string): Promise<string> {
  const bytes = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  return [...new Uint8Array(bytes)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
