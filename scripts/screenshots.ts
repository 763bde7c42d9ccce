// Retakes the pictures of the console in docs/images: a small shop on a manual clock, whose story is the same each time
// except for the ids of its messages.
//
//   npm run screenshots
//
// The story: orders come in, some twice; one payment has the same body as another but a different tenant in its
// attributes, which a content hash does not cover; a consumer holds three groups; prices are published to a topic with
// filters.

import { spawnSync } from 'node:child_process';
import { mkdirSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type Browser, chromium, type LaunchOptions, type Page } from 'playwright-core';
import { startTestServer, type TestServer } from '#broker/testing.js';
import { tellStory } from './story.ts';

const pictureBytesMax = 250 * 1024;
const folder = fileURLToPath(new URL('../../docs/images/', import.meta.url));
const finder = fileURLToPath(new URL('chromium.js', import.meta.url));

interface Picture {
  readonly name: string;
  readonly hash: string;
  readonly theme: 'light' | 'dark';
  /** The text that must be on the page before the picture is taken. */
  readonly shows: string;
  readonly height: number;
}

const { stdout } = spawnSync(process.execPath, [finder, '--find'], { encoding: 'utf8' });
const launch = JSON.parse(stdout) as LaunchOptions | null;
if (launch === null)
  throw new Error('No Chromium was found. Install it with node .build/scripts/chromium.js.');

mkdirSync(folder, { recursive: true });
await using server = await startTestServer({ clock: 'manual' });
const browser = await chromium.launch(launch);
try {
  const collision = await tellStory(server, () => watch(server));
  const pictures: readonly Picture[] = [
    { name: 'overview', hash: '#/', theme: 'light', shows: 'payments.fifo', height: 830 },
    { name: 'overview-dark', hash: '#/', theme: 'dark', shows: 'payments.fifo', height: 830 },
    { name: 'window', hash: collision, theme: 'light', shows: 'another event', height: 1000 },
    { name: 'window-dark', hash: collision, theme: 'dark', shows: 'another event', height: 1000 },
    {
      name: 'queue',
      hash: '#/queues/orders.fifo/groups',
      theme: 'light',
      shows: 'Blocked',
      height: 640,
    },
    {
      name: 'topic',
      hash: '#/topics/prices',
      theme: 'light',
      shows: 'Does not match',
      height: 960,
    },
  ];
  for (const picture of pictures) await take(browser, picture);
} finally {
  await browser.close();
}

/** Reads the overview once, so that the server counts rates from here on. */
async function watch({ url }: TestServer): Promise<void> {
  await (await fetch(`${url}/_oncemq/overview`)).text();
}

async function take(from: Browser, { name, hash, theme, shows, height }: Picture): Promise<void> {
  const context = await from.newContext({
    viewport: { width: 1240, height },
    colorScheme: theme,
    reducedMotion: 'reduce',
    timezoneId: 'UTC',
  });
  const page = await context.newPage();
  await page.goto(`${server.url}/_oncemq/${hash}`);
  if (name === 'topic') await tryMessage(page);
  await page.getByText(shows).first().waitFor();
  const path = `${folder}console-${name}.png`;
  await page.screenshot({ path });
  await context.close();
  const { size } = statSync(path);
  if (size > pictureBytesMax) throw new Error(`${path} has ${size} bytes.`);
  console.log(`${path} ${Math.ceil(size / 1024)} KB`);
}

async function tryMessage(page: Page): Promise<void> {
  await page.getByLabel('Attributes').fill('region: us\nkind: price\namount: 120');
  await page.getByRole('button', { name: 'Try' }).click();
  await page.evaluate('scrollTo(0, 0)');
}
