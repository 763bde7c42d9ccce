// @ts-check
// Makes a clone ready to run: installs if the manifests changed, builds if a source changed, and
// otherwise takes a few milliseconds. Every npm script that runs compiled code calls it first.
//
//   node scripts/prepare.mjs                    only that
//   node scripts/prepare.mjs PROGRAM ARGUMENTS  then also runs the program, in this process
//
// It is the only JavaScript in the repository, because it runs before the compiler is installed.
// Two stamps, one in node_modules and one in .build, record what was done. A stamp is written only
// after its step succeeded, so a step that failed or was interrupted is repeated. A lock file makes
// concurrent runs take turns. Progress goes to stderr; stdout belongs to the program.

import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const nodeMajorMin = 20;
const lockPollMs = 100;
const parentPollMs = 250;
const outputBytesMax = 64 * 1024 * 1024;

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const installStampFile = join(root, 'node_modules', '.oncemq-installed');
const buildStampFile = join(root, '.build', '.built');
const lockFile = join(root, '.build', '.lock');
const packages = ['packages/broker', 'packages/toolkit'];
const sourceFolders = [...packages, 'bench', 'examples', 'scripts', 'test'];
/** The output folders of the compiler, each with the source folder it mirrors. */
const outputs = [
  { from: '.', to: '.build' },
  ...packages.map((folder) => ({ from: folder, to: join(folder, 'dist') })),
];

if (Number(process.versions.node.split('.')[0]) < nodeMajorMin) {
  fail(`OnceMQ needs Node.js ${nodeMajorMin} or newer; this is ${process.version}.`);
}
if (!isInstalled() || !isBuilt()) {
  const unlock = lock();
  // Checked again under the lock: another run may have done the work while this one waited.
  if (!isInstalled()) install();
  if (!isBuilt()) build();
  unlock();
}
const program = process.argv[2];
if (program !== undefined) {
  endWithParent();
  process.argv.splice(1, 2, join(root, program));
  await import(pathToFileURL(join(root, program)).href);
}

/**
 * Between npm and this process there is a shell. It dies of the signal that npm forwards to it, but does not forward it
 * itself, so a server would be left behind.
 */
function endWithParent() {
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    process.kill(process.pid, 'SIGTERM');
  }, parentPollMs);
  timer.unref();
}

function install() {
  const hasLockfile = existsSync(join(root, 'package-lock.json'));
  const verb = hasLockfile ? 'ci' : 'install';
  const step = `npm ${verb}`;
  say(`installing (${step})`);
  // The compiler is a development dependency, needed even if NODE_ENV is "production".
  run(step, 'npm', [verb, '--include=dev', '--no-audit', '--no-fund', '--loglevel=error']);
  writeFileSync(installStampFile, installStamp());
}

function build() {
  say('building (tsc -b)');
  // Taken before the compiler reads, so that the next run builds a file saved during the build.
  const stamp = buildStamp();
  run('tsc -b', process.execPath, [join(root, 'node_modules', 'typescript', 'bin', 'tsc'), '-b']);
  removeStaleOutputs();
  copyConsole();
  linkCommand();
  writeFileSync(buildStampFile, stamp);
}

/** The compiler only emits modules; the console's HTML, styles and images are copied beside them unchanged. */
function copyConsole() {
  const [from, to] = ['src', 'dist/src'].map((folder) =>
    join(root, 'packages', 'broker', folder, 'console'),
  );
  const asItIs = /\.(html|css|svg)$/;
  const copied = (folder) =>
    readdirSync(folder, { recursive: true }).filter((name) => asItIs.test(name));
  for (const name of copied(to)) rmSync(join(to, name));
  for (const name of copied(from)) {
    mkdirSync(dirname(join(to, name)), { recursive: true });
    copyFileSync(join(from, name), join(to, name));
  }
}

/** Makes `npx oncemq` work: npm could not link the command during installation, before it was built. */
function linkCommand() {
  // npm makes a command executable only when it links it; a build from scratch makes a new file.
  chmodSync(join(root, 'packages', 'broker', 'dist', 'src', 'cli', 'main.js'), 0o755);
  if (existsSync(join(root, 'node_modules', '.bin', 'oncemq'))) return;
  const step = 'npm rebuild oncemq';
  run(step, 'npm', ['rebuild', 'oncemq', '--ignore-scripts', '--loglevel=error']);
}

/** The compiler leaves behind the outputs of deleted sources, and a stale test would still run. */
function removeStaleOutputs() {
  for (const { from, to } of outputs) {
    for (const output of filesUnder(join(root, to), ['node_modules'])) {
      const source = output.replace(/(\.d\.ts|\.js)(\.map)?$/, '.ts');
      const isCompiled = source !== output;
      if (isCompiled && !existsSync(join(root, from, relative(join(root, to), source)))) {
        rmSync(output);
      }
    }
  }
}

function isInstalled() {
  return readIfThere(installStampFile) === installStamp();
}

function isBuilt() {
  return (
    outputs.every(({ to }) => existsSync(join(root, to))) &&
    readIfThere(buildStampFile) === buildStamp()
  );
}

/** Everything that decides what npm installs, by content, so that a fresh checkout alone does not trigger an install. */
function installStamp() {
  const hash = createHash('sha256');
  hash.update(`${process.platform} ${process.arch} ${process.versions.modules}\n`);
  for (const file of [
    'package.json',
    'package-lock.json',
    '.npmrc',
    ...packages.map((folder) => join(folder, 'package.json')),
  ]) {
    hash.update(`${file}\n${readIfThere(join(root, file))}\n`);
  }
  return hash.digest('hex');
}

/** Everything the compiler reads, by path, time and size, because reading all contents would be slower. */
function buildStamp() {
  const hash = createHash('sha256').update(installStamp());
  const configs = readdirSync(root).filter((name) => /^tsconfig.*\.json$/.test(name));
  const sources = sourceFolders.flatMap((folder) =>
    filesUnder(join(root, folder), ['node_modules', 'dist', 'results']),
  );
  for (const file of [...configs.map((name) => join(root, name)), ...sources]) {
    const { mtimeMs, size } = statSync(file);
    hash.update(`${relative(root, file)} ${mtimeMs} ${size}\n`);
  }
  return hash.digest('hex');
}

/**
 * @param {string} folder
 * @param {readonly string[]} skipped names of folders that are not entered
 * @returns {string[]} all files below, in a stable order; none if the folder does not exist
 */
function filesUnder(folder, skipped) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      if (!entry.isDirectory()) return entry.isFile() ? [path] : [];
      return skipped.includes(entry.name) ? [] : filesUnder(path, skipped);
    });
}

/** Takes the lock once no other live run holds it. Returns a function that releases it; exit releases it too. */
function lock() {
  mkdirSync(dirname(lockFile), { recursive: true });
  // Hard-linked into place, not written, so that a visible lock already names its holder.
  const ownFile = `${lockFile}-${process.pid}`;
  writeFileSync(ownFile, String(process.pid));
  while (!linked(ownFile, lockFile)) {
    if (isAlive(Number(readIfThere(lockFile)))) {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, lockPollMs);
    } else {
      rmSync(lockFile, { force: true });
    }
  }
  rmSync(ownFile);
  const unlock = () => {
    process.off('exit', unlock);
    rmSync(lockFile, { force: true });
  };
  process.on('exit', unlock);
  return unlock;
}

/**
 * @param {string} existing
 * @param {string} created
 * @returns {boolean} false if `created` already exists
 */
function linked(existing, created) {
  try {
    linkSync(existing, created);
    return true;
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === 'EEXIST') return false;
    throw error;
  }
}

/** @param {number} pid */
function isAlive(pid) {
  try {
    return pid > 0 && process.kill(pid, 0);
  } catch {
    return false;
  }
}

/**
 * Runs a step silently; if it fails, shows its output and exits with its exit code.
 * @param {string} step
 * @param {string} program
 * @param {readonly string[]} args
 */
function run(step, program, args) {
  const isScript = process.platform === 'win32' && program === 'npm';
  const done = spawnSync(program, args, {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: outputBytesMax,
    shell: isScript,
  });
  if (done.status === 0) return;
  process.stderr.write(`${done.stdout ?? ''}${done.stderr ?? ''}`);
  const reason = done.error ? `: ${done.error.message}` : '';
  fail(`${step} failed${reason}`, done.status ?? 1);
}

/** @param {string} file */
function readIfThere(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

/** @param {string} text */
function say(text) {
  process.stderr.write(`oncemq: ${text}\n`);
}

/**
 * @param {string} text
 * @param {number} exitCode
 * @returns {never}
 */
function fail(text, exitCode = 1) {
  say(text);
  process.exit(exitCode);
}
