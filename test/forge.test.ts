// The files that the forge reads: the workflow runs this repository's own commands, on the Node.js versions that it promises, and
// every YAML file can be parsed.
//
// What GitHub makes of them is not tested here.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { describe, test } from 'node:test';

interface Step {
  readonly run?: string;
  readonly uses?: string;
}

interface Workflow {
  readonly permissions: unknown;
  readonly jobs: Readonly<
    Record<
      'test',
      { readonly strategy: { readonly matrix: unknown }; readonly steps: readonly Step[] }
    >
  >;
}

const yaml = createRequire(import.meta.url)('js-yaml') as { safeLoad(text: string): unknown };
const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as {
  readonly scripts: Readonly<Record<string, string>>;
};
const workflow = parsed('.github/workflows/test.yml') as Workflow;
const steps = workflow.jobs.test.steps;

describe('every YAML file of the forge can be parsed', () => {
  const names = readdirSync('.github', { recursive: true, encoding: 'utf8' });
  for (const name of names.filter((each) => each.endsWith('.yml'))) {
    test(name, () => assert.equal(typeof parsed(join('.github', name)), 'object'));
  }
});

test('the workflow runs the two commands, and every npm script it names exists', () => {
  const commands = steps.flatMap(({ run = '' }) => run.match(/npm (run )?[\w:]+/g) ?? []);
  assert.deepEqual(commands, ['npm start', 'npm test']);
  for (const command of commands) {
    assert.ok(Object.hasOwn(manifest.scripts, command.split(' ').at(-1) as string), command);
  }
});

test('the workflow runs on Node.js 20, 22 and 24, and may only read', () => {
  assert.deepEqual(workflow.jobs.test.strategy.matrix, { node: [20, 22, 24] });
  assert.deepEqual(workflow.permissions, { contents: 'read' });
});

test('dependabot watches npm, and the actions that the workflow uses', () => {
  const { updates } = parsed('.github/dependabot.yml') as {
    readonly updates: readonly { readonly 'package-ecosystem': string }[];
  };
  const watched = updates.map((update) => update['package-ecosystem']);
  assert.deepEqual(watched, ['npm', 'github-actions']);
  assert.ok(steps.some(({ uses }) => uses?.startsWith('actions/checkout@')));
});

function parsed(file: string): unknown {
  return yaml.safeLoad(readFileSync(file, 'utf8'));
}
