// The browser for the console's tests and screenshots: a Chromium, driven by playwright-core.
//
//   chromium.js              installs one if none is available, and prints one line about it
//   chromium.js --find       for the tests: prints how to launch the available one as JSON (null for none); installs nothing
//
// Any Chromium on the machine will do: CHROMIUM_PATH first, then browsers in the path, then playwright's own. Whether one
// works is found out by starting it. A missing one comes from Debian if apt-get can be used, otherwise from playwright.
// Every step has a timeout and may fail; the script then says why. ONCEMQ_NO_INSTALL=1 forbids installing (installs.ts).

import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, join } from 'node:path';
import { chromium } from 'playwright-core';
import { installWithApt } from './apt-get.ts';
import { refusalToInstall } from './installs.ts';
import { run } from './run-command.ts';

/** Options for playwright's `launch`. Without a path, it is playwright's own browser. */
interface Launch {
  readonly executablePath?: string;
  readonly args: readonly string[];
}

const installMsMax = 300_000;
const startMsMax = 30_000;
const why = "the console's tests and screenshots need a browser";

const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome'];
const apple = '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome';

// Chromium's sandbox refuses to run as root, as in most containers; the pages here are our own.
const args = process.getuid?.() === 0 ? ['--no-sandbox'] : [];

if (process.argv[2] === '--find') {
  console.log(JSON.stringify((await find()) ?? null));
} else {
  const present = await find();
  const complaints = present === undefined ? await install() : [];
  const found = present ?? (await find());
  const where = found?.executablePath ?? "playwright's own";
  console.log(
    found === undefined
      ? `chromium: not available: ${complaints.join('; ')}`
      : `chromium: ${present === undefined ? 'installed' : 'present'}: ${where}`,
  );
}

async function find(): Promise<Launch | undefined> {
  const named = process.env['CHROMIUM_PATH'];
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  const suffix = process.platform === 'win32' ? '.exe' : '';
  const paths = [
    ...(named === undefined ? [] : [named]),
    ...names.flatMap((name) => folders.map((folder) => join(folder, `${name}${suffix}`))),
    apple,
  ].filter((path) => existsSync(path));
  for (const executablePath of new Set(paths)) {
    if (await starts({ executablePath, args })) return { executablePath, args };
  }
  return (await starts({ args })) ? { args } : undefined;
}

async function starts(launch: Launch): Promise<boolean> {
  try {
    const browser = await chromium.launch({ ...launch, args: [...args], timeout: startMsMax });
    await browser.close();
    return true;
  } catch {
    return false;
  }
}

/** Returns why each attempt failed; empty if one worked. */
async function install(): Promise<string[]> {
  const complaints: string[] = [];
  for (const [name, attempt] of [
    ['apt-get', () => installWithApt(['chromium'], why)],
    ['playwright', installWithPlaywright],
  ] as const) {
    const complaint = await attempt();
    if (complaint === undefined) return [];
    complaints.push(`${name}: ${complaint}`);
  }
  return complaints;
}

async function installWithPlaywright(): Promise<string | undefined> {
  const what = 'chromium-headless-shell';
  const refusal = refusalToInstall({ what, where: "playwright's folder in your home", why });
  if (refusal !== undefined) return refusal;
  const cli = createRequire(import.meta.url).resolve('playwright-core/cli.js');
  const command = [process.execPath, cli, 'install', what];
  const { ok, complaint } = await run(command, {}, installMsMax);
  return ok ? undefined : complaint;
}
