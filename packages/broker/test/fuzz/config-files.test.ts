/**
 * Config files and contract files from grammars, mutated in a few places, read in this process: each is accepted or refused
 * with a ConfigError that names the file, and nothing else is thrown. What is accepted is used: queues and topics are
 * created, and messages are judged by the contract.
 *
 * Flags: `--seed N`, `--path n` for that one file, and `--commands N` for a shorter or longer run.
 */

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { bindingOf } from '@oncemq/toolkit';
import { type Config, ConfigError, readConfig } from '../../src/server/config/config.ts';
import { contractIn } from '../../src/server/contract/contract-file.ts';
import { start } from '../../src/server/start-server.ts';
import { Chance } from '../support/chance.ts';
import { seededRun } from '../support/seeded.ts';
import { configFile, contractFile } from './config-grammar.ts';
import { prototypeNames } from './hostile-values.ts';
import { jsonText, mutated, type Tree } from './json-grammar.ts';
import { publication } from './policy-grammars.ts';

const configsUsual = 1_500;
/** Fewer, because compiling a schema takes ten milliseconds. */
const contractsUsual = 100;
/** A server is started on one in so many of the accepted files: starting takes some milliseconds. */
const startedEvery = 8;

interface Trial {
  readonly chance: Chance;
  readonly file: string;
  readonly number: number;
}

/** Writes file after file and tries each; the text of a failure shows the file and how to repeat it. */
async function tryFiles(
  t: TestContext,
  { grammar, usual }: { readonly grammar: (chance: Chance) => Tree; readonly usual: number },
  use: (trial: Trial) => Promise<void>,
): Promise<void> {
  const run = seededRun();
  console.log(`seed ${run.seed}: ${t.name}`);
  const folder = mkdtempSync(join(tmpdir(), 'oncemq-config-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'file.json');
  const first = run.path === undefined ? 0 : Number(run.path);
  const end = run.path === undefined ? (run.commands ?? usual) : first + 1;
  let accepted = 0;
  for (let number = first; number < end; number += 1) {
    const chance = new Chance(run.seed, number);
    const text = jsonText(mutated(grammar(chance), chance));
    writeFileSync(file, text);
    try {
      await use({ chance, file, number });
      accepted += 1;
    } catch (error) {
      const again = `Again: npm run build && node packages/broker/dist/test/fuzz/config-files.test.js --seed ${run.seed} --path ${number}`;
      const shown = `${again}\n${text.slice(0, 3_000)}`;
      if (!(error instanceof ConfigError)) throw new Error(shown, { cause: error });
      assert.ok(error.message.includes(file), `${error.message}\n${shown}`);
    }
  }
  t.diagnostic(`${accepted} of ${end - first} files were accepted`);
  assert.ok(run.path !== undefined || accepted > 0, 'some files are right');
}

test('a config file is accepted, or refused with an error that names it', (t) =>
  tryFiles(t, { grammar: configFile, usual: configsUsual }, async ({ file, number }) => {
    const config: Config = readConfig({ config: file }, {});
    if (number % startedEvery !== 0) return;
    // Whatever the file says, this test listens only here, and stores nothing.
    const server = await start({
      ...config,
      host: '127.0.0.1',
      port: 0,
      log: 'silent',
      storage: { kind: 'memory' },
      contract: undefined,
      ledger: undefined,
    });
    await server.close();
  }));

test('a contract file is accepted, or refused with an error that names it', (t) =>
  tryFiles(t, { grammar: contractFile, usual: contractsUsual }, async ({ file, chance }) => {
    const contract = contractIn(file);
    for (const queue of ['orders.fifo', 'jobs', ...prototypeNames]) {
      const body = jsonText(mutated(publication(chance), chance));
      const judged = bindingOf(contract.queues, queue)?.judge({ body, attributes: {} });
      const violation =
        judged?.ok === false ? { rule: judged.code, reason: judged.text } : undefined;
      assert.ok(violation === undefined || typeof violation.reason === 'string');
    }
  }));
