/**
 * The jobs in examples/07-ci-gate, run as their services would run them: each step that is a command, in a repository with
 * a remote, with the variables of the service. `npm ci` is left out: the packages are linked, so nothing is fetched.
 */

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { base, mailer, Repository } from './repository.ts';

const folder = fileURLToPath(new URL('../../../../../../examples/07-ci-gate/', import.meta.url));

interface Step {
  readonly command: string;
  readonly env: Readonly<Record<string, string>>;
}

/** The lines below the one at the index that are indented further than it. */
function blockBelow(lines: readonly string[], index: number): string[] {
  const indent = (line = ''): number => line.search(/\S/);
  const own = indent(lines[index]?.replace('- ', '  '));
  const rest = lines.slice(index + 1);
  const end = rest.findIndex((line) => line.trim() !== '' && indent(line) <= own);
  return rest.slice(0, end < 0 ? rest.length : end).map((line) => line.trim());
}

/** The commands of a GitHub job or action, with the variables of their steps. */
function githubSteps(file: string): Step[] {
  const lines = readFileSync(join(folder, file), 'utf8').split('\n');
  let env: Record<string, string> = {};
  return lines.flatMap((line, index) => {
    if (/^\s*env:$/.test(line)) {
      const pairs = blockBelow(lines, index).map((each) => each.split(/:\s+/) as [string, string]);
      env = Object.fromEntries(pairs);
    }
    const run = /^\s*(?:- )?run: (.*)$/.exec(line)?.[1];
    if (run === undefined) return [];
    return [{ command: run === '|' ? blockBelow(lines, index).join('\n') : run, env }];
  });
}

function gitlabSteps(file: string): Step[] {
  const lines = readFileSync(join(folder, file), 'utf8').split('\n');
  const script = blockBelow(
    lines,
    lines.findIndex((line) => /^\s*script:$/.test(line)),
  );
  return script.map((line) => ({ command: line.replace(/^- /, ''), env: {} }));
}

/** The defaults of an action's inputs, as GitHub fills them in for a pull request to main. */
function inputsOf(file: string): Map<string, string> {
  const text = readFileSync(join(folder, file), 'utf8');
  const inputs = text.matchAll(/^ {2}(\w+):\n {4}description: .*\n {4}default: (.*)$/gm);
  return new Map(
    [...inputs].map(([, name = '', value = '']) => [
      `inputs.${name}`,
      value.replace(/\$\{\{ github\.base_ref \}\}/, 'main'),
    ]),
  );
}

function run(
  repository: Repository,
  steps: readonly Step[],
  given: Readonly<Record<string, string>>,
) {
  const inputs = inputsOf('action.yml');
  let [code, out]: [number | null, string] = [0, ''];
  for (const { command, env } of steps.filter((step) => step.command !== 'npm ci')) {
    const filled = Object.entries(env).map(([name, value]) => [
      name,
      value.replace(/\$\{\{ ([\w.]+) \}\}/g, (_, expression: string) => {
        const known = inputs.get(expression);
        assert.notEqual(known, undefined, `${expression} is not an input`);
        return known as string;
      }),
    ]);
    const variables = { ...process.env, ...given, ...Object.fromEntries(filled) };
    const options = { cwd: repository.folder, encoding: 'utf8', env: variables } as const;
    const step = spawnSync('bash', ['-e', '-c', command], options);
    [code, out] = [step.status, out + step.stdout + step.stderr];
    if (code !== 0) break;
  }
  return { code, out };
}

function repositories(t: TestContext): { good: Repository; bad: Repository } {
  const [good, bad] = [new Repository(t, base), new Repository(t, base)];
  for (const each of [good, bad]) each.git('update-ref', 'refs/remotes/origin/main', 'main');
  good.commit({ 'README.md': 'new' });
  bad.commit({ 'src/mailer.js': mailer });
  return { good, bad };
}

test('the GitHub action annotates the line, writes both reports and fails', (t) => {
  const { good, bad } = repositories(t);
  const steps = githubSteps('action.yml');
  assert.equal(steps.length, 1);
  const { code, out } = run(bad, steps, {});
  assert.equal(code, 1, out);
  assert.match(out, /^::error file=src\/mailer\.js,line=4,/m);
  const job = readFileSync(join(folder, 'github-job.yml'), 'utf8');
  const uploaded = /sarif_file: (.*)/.exec(job)?.[1] ?? '';
  const sarif = JSON.parse(readFileSync(join(bad.folder, uploaded), 'utf8'));
  assert.equal(sarif.runs[0].results[0].ruleId, 'send-bypasses-producer');
  assert.ok(existsSync(join(bad.folder, 'oncemq-gate.xml')));
  assert.equal(run(good, steps, {}).code, 0);
});

test('the GitHub job has no other command than npm ci, and uses the action', () => {
  assert.deepEqual(
    githubSteps('github-job.yml').map(({ command }) => command),
    ['npm ci'],
  );
  const job = readFileSync(join(folder, 'github-job.yml'), 'utf8');
  assert.match(job, /uses: \.\/\.github\/actions\/oncemq-gate\n/);
});

test('the GitLab job writes both of its reports and fails, as often as it runs', (t) => {
  const { good, bad } = repositories(t);
  bad.commit({ 'oncemq-gate.json': '{ "allow": [] }' });
  const steps = gitlabSteps('gitlab-job.yml');
  assert.equal(steps.length, 2);
  const variables = { CI_MERGE_REQUEST_TARGET_BRANCH_NAME: 'main' };
  const { code, out } = run(bad, steps, variables);
  assert.equal(code, 1, out);
  const [issue] = JSON.parse(readFileSync(join(bad.folder, 'gl-code-quality-report.json'), 'utf8'));
  assert.deepEqual(issue.location, { path: 'src/mailer.js', lines: { begin: 4 } });
  assert.match(readFileSync(join(bad.folder, 'oncemq-gate.xml'), 'utf8'), /<failure /);
  // A report in the place of the exceptions would end the second run.
  assert.equal(run(bad, steps, variables).code, 1);
  assert.equal(run(good, steps, variables).code, 0);
});
