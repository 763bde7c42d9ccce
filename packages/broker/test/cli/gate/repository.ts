/**
 * A git repository that a test of the gate creates: a base, a branch, and what the branch adds or changes; and the files
 * that such repositories usually have.
 */

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';

export const main: string = fileURLToPath(new URL('../../../src/cli/main.js', import.meta.url));
const modules = fileURLToPath(new URL('../../../../../../node_modules', import.meta.url));

export class Repository {
  readonly folder: string = mkdtempSync(join(tmpdir(), 'oncemq-gate-'));
  /** What the gate takes for the system's folder of temporary files. */
  readonly temporary: string = mkdtempSync(join(tmpdir(), 'oncemq-gate-'));

  constructor(t: TestContext, files: Readonly<Record<string, string>>) {
    t.after(() => {
      rmSync(this.folder, { recursive: true });
      rmSync(this.temporary, { recursive: true });
    });
    symlinkSync(modules, join(this.folder, 'node_modules'), 'junction');
    this.git('init', '-q', '-b', 'main');
    this.commit({ '.gitignore': 'node_modules\n', ...files });
    this.git('checkout', '-q', '-b', 'work');
  }

  commit(files: Readonly<Record<string, string>>): void {
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(this.folder, name)), { recursive: true });
      writeFileSync(join(this.folder, name), text);
    }
    this.git('add', '--all');
    this.git(
      '-c',
      'user.name=test',
      '-c',
      'user.email=test@example.org',
      'commit',
      '-q',
      '-m',
      'x',
    );
  }

  git(...args: string[]): void {
    const { status, stderr } = spawnSync('git', args, { cwd: this.folder, encoding: 'utf8' });
    assert.equal(status, 0, stderr);
  }

  gate(...args: string[]): { code: number | null; out: string; error: string } {
    const words = [main, 'gate', ...args];
    const { status, stdout, stderr } = spawnSync(process.execPath, words, {
      cwd: this.folder,
      env: { ...process.env, TMPDIR: this.temporary },
      encoding: 'utf8',
    });
    return { code: status, out: stdout, error: stderr };
  }
}

export const keys: string = "export const orderKey = (id: string): string => 'order-' + id;\n";

export function producer(samples = "[{ id: '1' }, { id: '2' }]"): string {
  return `import { defineProducer } from '@oncemq/toolkit';
import { orderKey } from './keys.js';
interface Order { id: string }
export const orders = defineProducer<Order>({
  source: 'kfm.parts.orders',
  dedupeKey: ({ id }: Order) => orderKey(id),
  eventTime: () => 0,
  samples: ${samples},
});
`;
}

export const mailer: string = `import { SendMessageCommand } from '@aws-sdk/client-sqs';

export const mail = (sqs, QueueUrl) =>
  sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: 'x', MessageGroupId: 'g' }));
`;

export const base: Readonly<Record<string, string>> = {
  'src/keys.ts': keys,
  'src/orders.producer.ts': producer(),
  'src/old.js': mailer,
};

/** A program that sends an order for each line of its input; the key and the target can be chosen. */
export function program(key = "'order-' + id", target = 'QueueUrl: process.env.QUEUE_URL'): string {
  return `import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
for (const line of readFileSync(0, 'utf8').split('\\n').filter(Boolean)) {
  const { id } = JSON.parse(line);
  const hash = createHash('sha256').update(id).digest('hex');
  const body = JSON.stringify({
    event_id: hash.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*/, '$1-$2-7$3-8$4-$5'),
    event_source: 'kfm.parts.shop',
    event_time: '2025-12-04T00:00:00Z',
    dedupe_key: ${key},
    payload: { id },
  });
  const answer = await fetch(process.env.AWS_ENDPOINT_URL, {
    method: 'POST',
    headers: { 'content-type': 'application/x-amz-json-1.0', 'x-amz-target': 'AmazonSQS.SendMessage' },
    body: JSON.stringify({ ${target}, MessageBody: body, MessageGroupId: 'g' }),
  });
  if (!answer.ok) throw new Error(await answer.text());
}
`;
}

export const orders: { readonly [name: string]: unknown } = {
  name: 'orders',
  command: `${JSON.stringify(process.execPath)} producers/orders.mjs`,
  queue: 'orders.fifo',
  input: 'producers/orders.jsonl',
  paths: ['producers/**'],
};

export function contractFile(content: object = { producers: [orders] }): string {
  return JSON.stringify(content);
}

/** A repository with one registered program. */
export const registered: Readonly<Record<string, string>> = {
  'oncemq.contract.json': contractFile(),
  'producers/orders.mjs': program(),
  'producers/orders.jsonl': '{"id":"1"}\n{"id":"2"}\n',
};
