/**
 * A real Chromium for the console's tests: one for a file, a page for each test. The browser is what `scripts/chromium.ts`
 * finds, and `npm test` installs it where it is missing; where that cannot be, the tests are skipped by name, or fail
 * where REQUIRE_CLIENTS is 1, as in `.ci/run`.
 *
 * Every page of every test is held to the same: no request leaves the server it came from, no script fails, and nothing
 * is refused by the page's own security policy.
 */

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { after, before, describe, type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import {
  type Browser,
  chromium,
  type LaunchOptions,
  type Locator,
  type Page,
} from 'playwright-core';
import { startTestServer, type TestServer, type TestServerOptions } from '../../src/testing.ts';

const root = fileURLToPath(new URL('../../../../../', import.meta.url));
/** For whatever a test waits to see; two cores may be busy with other tests. */
const patienceMs = 60_000;

/** Of a file: a page mostly waits, for its next look at the server or for its next frame. */
const testsAtOnce = 4;

export interface Look {
  readonly hash?: string;
  readonly theme?: 'light' | 'dark';
  readonly width?: number;
}

export interface Console {
  /** A server on a manual clock, closed when the test ends. */
  serve(t: TestContext, options?: TestServerOptions): Promise<TestServer>;
  /** A page of the server, closed and judged when the test ends. */
  open(t: TestContext, server: { readonly url: string }, look?: Look): Promise<Page>;
}

export function describeConsole(title: string, body: (console: Console) => void): void {
  const finder = `${root}.build/scripts/chromium.js`;
  const found = spawnSync(process.execPath, [finder, '--find'], { encoding: 'utf8' });
  assert.equal(found.status, 0, found.stderr);
  const launch = JSON.parse(found.stdout) as LaunchOptions | null;
  if (launch === null) {
    const missing = 'no Chromium is at hand; node .build/scripts/chromium.js says why';
    const skip = process.env['REQUIRE_CLIENTS'] === '1' ? false : missing;
    test(title, { skip }, () => assert.fail(missing));
    return;
  }
  describe(title, { concurrency: testsAtOnce }, () => {
    let browser: Browser;
    before(async () => {
      browser = await chromium.launch(launch);
    });
    after(() => browser.close());
    body({ serve, open: (t, server, look) => openPage(browser, t, server, look) });
  });
}

async function serve(t: TestContext, options: TestServerOptions = {}): Promise<TestServer> {
  const server = await startTestServer({ clock: 'manual', ...options });
  t.after(() => server.close());
  return server;
}

/** What a page may complain of: it asked for something that is not there, or for a server that is gone. */
const expectedComplaint = /Failed to load resource/;

async function openPage(
  browser: Browser,
  t: TestContext,
  { url }: { readonly url: string },
  { hash = '#/', theme = 'light', width = 1280 }: Look = {},
): Promise<Page> {
  const context = await browser.newContext({
    viewport: { width, height: 900 },
    colorScheme: theme,
    timezoneId: 'UTC',
    reducedMotion: 'reduce',
  });
  const page = await context.newPage();
  page.setDefaultTimeout(patienceMs);
  const wrong: string[] = [];
  page.on('request', (request) => {
    if (new URL(request.url()).origin !== new URL(url).origin) wrong.push(request.url());
  });
  page.on('pageerror', (error) => wrong.push(String(error)));
  page.on('console', (message) => {
    const isWrong = message.type() === 'error' && !expectedComplaint.test(message.text());
    if (isWrong) wrong.push(message.text());
  });
  t.after(async () => {
    await context.close();
    assert.deepEqual(wrong, []);
  });
  await page.goto(`${url}/_oncemq/${hash}`);
  return page;
}

export async function goTo(page: Page, hash: string): Promise<void> {
  await page.evaluate(`location.hash = ${JSON.stringify(hash)}`);
}

/** Waits until the text is to be seen. */
export async function sees(page: Page, text: string | RegExp): Promise<void> {
  await page.getByText(text).filter({ visible: true }).first().waitFor();
}

/** The same for a text that goes again by itself: it is waited for from before the act that brings it. */
export async function seesAfter(
  page: Page,
  text: string | RegExp,
  act: () => Promise<void>,
): Promise<void> {
  await Promise.all([sees(page, text), act()]);
}

/** The row of a table on the page, or of this table, that has this text, waited for; its cells as they are read. */
export async function rowWith(place: Page | Locator, text: string): Promise<string[]> {
  const row = place.getByRole('row').filter({ hasText: text }).first();
  await row.waitFor();
  return (await row.locator('th, td').allInnerTexts()).map((cell) =>
    cell.replaceAll('\u00a0', ' '),
  );
}
