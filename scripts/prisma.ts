// A client of Prisma, made for the test of its recipe (packages/toolkit/test/recipes.test.ts). Prisma is no dependency of
// the clone: its generator has 170 MB, and asks for programs that npm does not have. The client that it makes needs none of
// them with a driver adapter, so the variable below names another program instead of letting it fetch one.
//
//   prisma.js              installs it into .clients and makes the client, if there is none, and prints one line about it
//   prisma.js --find       for the tests: prints the client's folder as JSON (null for none); fetches nothing

import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { refusalToInstall } from './installs.ts';
import { run } from './run-command.ts';

const version = '6.19.3';
const npmMsMax = 300_000;
const generateMsMax = 60_000;
const folder = fileURLToPath(new URL(`../../.clients/prisma-${version}`, import.meta.url));
const client = join(folder, 'client');
const why = "a test of the toolkit's stores runs Prisma";

const schema = `
datasource db {
  provider = "postgresql"
  url      = "postgresql://unused"
}
generator client {
  provider   = "prisma-client-js"
  output     = "./client"
  engineType = "client"
}
model Order {
  name String @id
  @@map("prisma_orders")
}
`;

if (process.argv[2] === '--find') {
  console.log(JSON.stringify(isMade() ? client : null));
} else {
  const wasMade = isMade();
  const complaint = wasMade ? undefined : await make();
  const state = wasMade ? 'present' : 'installed';
  console.log(`prisma: ${complaint === undefined ? state : `not available: ${complaint}`}`);
}

function isMade(): boolean {
  return existsSync(join(client, 'index.js'));
}

/** Returns undefined, or why it failed. */
async function make(): Promise<string | undefined> {
  const refusal = refusalToInstall({ what: 'Prisma', where: `${folder} (npm)`, why });
  if (refusal !== undefined) return refusal;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{ "private": true }\n');
  writeFileSync(join(folder, 'schema.prisma'), schema);
  const packages = ['prisma', '@prisma/client', '@prisma/adapter-pg'];
  const npm = ['npm', 'install', '--ignore-scripts', '--no-audit', '--no-fund'];
  const pinned = packages.map((name) => `${name}@${version}`);
  const installed = await run([...npm, ...pinned], {}, npmMsMax, folder);
  if (!installed.ok) return `npm: ${installed.complaint}`;
  const cli = join('node_modules', 'prisma', 'build', 'index.js');
  const env = { PRISMA_SCHEMA_ENGINE_BINARY: process.execPath, CHECKPOINT_DISABLE: '1' };
  const generate = [process.execPath, cli, 'generate', '--schema', 'schema.prisma'];
  const generated = await run(generate, env, generateMsMax, folder);
  return generated.ok ? undefined : `prisma generate: ${generated.complaint}`;
}
