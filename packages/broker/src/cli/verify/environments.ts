/**
 * The environments in which `verify` runs producers. They differ in everything that must not change a message: the time
 * zone, the locale, the clock, the host, folders, variables. The first environment has none of the differences and the
 * second one all; to find which of them changed a message, further ones have a single difference each.
 *
 * What this machine does not allow to vary is told in `notes`, so that nobody takes it for tested.
 */

import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { type CheckResult, type Finding, finding } from '@oncemq/toolkit';
import { preloadUrl } from './environment-preload.ts';
import { mirrorFolder } from './mirrored-folder.ts';

/** Each with the article that a sentence needs: "Another time zone changed …". */
export const differences = [
  'another time zone',
  'another locale',
  'a moved clock',
  'another host name',
  'another home folder',
  'another folder for temporary files',
  'another working directory',
  'other variables of the run',
  'another order of the environment',
  'another hash seed',
  'another order of members',
] as const;

export type Difference = (typeof differences)[number];

/** A difference between any two runs. */
export const anotherProcess =
  'another process (its pid, random values, the moment it ran, or what earlier runs left behind)';

/** What a program may not survive, for reasons that have nothing to do with its messages. */
export const fragile: readonly Difference[] = [
  'another locale',
  'a moved clock',
  'another host name',
  'another home folder',
  'another working directory',
  'other variables of the run',
];

/** The check that both kinds of producers have. */
export function environmentCheck(findings: readonly Finding[]): CheckResult {
  const title = 'the same bytes on every machine, at any time, in any time zone and locale';
  return { check: 'environment', title, findings };
}

export function environmentFinding(what: string, change: string): Finding {
  const begun = `${what.charAt(0).toUpperCase()}${what.slice(1)}`;
  return finding('environment-dependent', { what: begun, change });
}

export interface Environment {
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** The command and arguments before those of the program, which change its host name. */
  readonly wrapper: readonly string[];
  readonly areMembersReversed: boolean;
}

/** −12 and +14 hours: 26 hours apart, so it is never the same day in both. The signs of these names are reversed. */
const zones = ['Etc/GMT+12', 'Etc/GMT-14'] as const;
/** Turkish has other upper-case letters, digit groups and dates than English. */
const locales = ['C.UTF-8', 'tr_TR.UTF-8'] as const;
/** 1 year, 37 days, 7 hours and 13 minutes. */
const clockMinutes = ((365 + 37) * 24 + 7) * 60 + 13;
const hostName = 'oncemq-other-host';

/** Variables in which CI services, schedulers and platforms tell a program about this run or this machine. */
const runVariables = [
  ...[
    'RUN_ID',
    'BUILD_ID',
    'BUILD_NUMBER',
    'BUILD_TAG',
    'BUILD_URL',
    'JOB_ID',
    'EXECUTION_ID',
    'REQUEST_ID',
  ],
  ...[
    'GITHUB_RUN_ID',
    'GITHUB_RUN_NUMBER',
    'GITHUB_RUN_ATTEMPT',
    'GITHUB_SHA',
    'GITHUB_REF',
    'GITHUB_ACTOR',
  ],
  ...[
    'CI_JOB_ID',
    'CI_PIPELINE_ID',
    'CI_COMMIT_SHA',
    'CI_COMMIT_REF_NAME',
    'CI_RUNNER_ID',
    'GIT_COMMIT',
  ],
  ...['AIRFLOW_CTX_DAG_RUN_ID', 'AIRFLOW_CTX_EXECUTION_DATE', 'AIRFLOW_CTX_TRY_NUMBER'],
  ...['POD_NAME', 'POD_IP', 'NODE_NAME', 'CONTAINER_ID', 'DYNO', 'K_REVISION', 'INVOCATION_ID'],
  ...['USER', 'LOGNAME', 'USERNAME'],
];

export class Environments {
  readonly #folder: string = mkdtempSync(join(tmpdir(), 'oncemq-environments-'));
  readonly #cwd: string;
  readonly #home: string = join(this.#folder, 'home');
  readonly #mirror: string = join(this.#folder, 'work');
  readonly #hasHome: boolean;
  readonly #hasMirror: boolean;
  readonly #wrapper: readonly string[];
  readonly #fakeTime: string | undefined;

  /** Processes run in `cwd`, or in a mirror of it. Modules run in Node, where the preload does all. */
  constructor(cwd: string, kind: 'modules' | 'programs') {
    this.#cwd = cwd;
    this.#fakeTime = kind === 'modules' ? undefined : fakeTimeLibrary();
    this.#wrapper = kind === 'modules' ? [] : hostNameWrapper();
    mkdirSync(join(this.#folder, 'tmp'));
    this.#hasHome = mirrorFolder(homedir(), this.#home);
    this.#hasMirror = mirrorFolder(cwd, this.#mirror);
  }

  /** What could not be varied for programs. */
  programNotes(): string[] {
    return [
      ...(this.#fakeTime === undefined
        ? ['The clock was moved for Node programs only: libfaketime is not installed.']
        : []),
      ...(this.#wrapper.length === 0
        ? [
            'The host name was changed for Node programs and in HOSTNAME only: unshare is not allowed.',
          ]
        : []),
      ...(isInstalled(locales[1])
        ? []
        : [`Programs other than Node had no other locale: ${locales[1]} is not installed.`]),
      ...this.folderNotes(),
    ];
  }

  folderNotes(): string[] {
    return [
      ...(this.#hasHome
        ? []
        : ['The home folder was the same in all runs: it cannot be mirrored.']),
      ...(this.#hasMirror ? [] : ['The working directory was the same in all runs.']),
    ];
  }

  /** The environment with these differences, on top of the variables given. */
  with(given: Readonly<Record<string, string>>, named: Iterable<Difference>): Environment {
    const chosen = new Set(named);
    const at = (name: Difference): 0 | 1 => (chosen.has(name) ? 1 : 0);
    const isMirrored = chosen.has('another working directory') && this.#hasMirror;
    const cwd = isMirrored ? this.#mirror : this.#cwd;
    const locale = locales[at('another locale')];
    const isOtherRun = chosen.has('other variables of the run');
    const runValue = isOtherRun ? 'oncemq-second' : 'oncemq-first';
    const run = Object.fromEntries(runVariables.map((name) => [name, runValue]));
    const env: Record<string, string> = {
      // One that is not set gets a value in the first environment, too, since in production it will have one.
      ...(isOtherRun ? { ...given, ...run, ONCEMQ_VERIFY_USER: runValue } : { ...run, ...given }),
      NODE_OPTIONS: `${given['NODE_OPTIONS'] ?? ''} --import ${preloadUrl}`.trim(),
      TZ: zones[at('another time zone')],
      LANG: locale,
      LC_ALL: locale,
      PYTHONHASHSEED: String(at('another hash seed')),
      PWD: cwd,
    };
    if (chosen.has('another home folder') && this.#hasHome) env['HOME'] = this.#home;
    if (chosen.has('another folder for temporary files')) {
      const TMPDIR = join(this.#folder, 'tmp');
      Object.assign(env, { TMPDIR, TMP: TMPDIR, TEMP: TMPDIR });
    }
    if (chosen.has('another host name')) {
      env['HOSTNAME'] = hostName;
      env['ONCEMQ_VERIFY_HOSTNAME'] = hostName;
    }
    if (chosen.has('a moved clock')) this.#moveClock(env);
    const entries = Object.entries(env);
    return {
      env: Object.fromEntries(
        chosen.has('another order of the environment') ? entries.reverse() : entries,
      ),
      cwd,
      wrapper: chosen.has('another host name') ? this.#wrapper : [],
      areMembersReversed: chosen.has('another order of members'),
    };
  }

  close(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #moveClock(env: Record<string, string>): void {
    if (this.#fakeTime === undefined) {
      env['ONCEMQ_VERIFY_CLOCK_MS'] = String(clockMinutes * 60_000);
      return;
    }
    env['LD_PRELOAD'] = [env['LD_PRELOAD'], this.#fakeTime].filter(Boolean).join(':');
    env['FAKETIME'] = `+${clockMinutes}m`;
    // Timeouts must keep working.
    env['FAKETIME_DONT_FAKE_MONOTONIC'] = '1';
  }
}

/** Debian and others have a folder for each architecture. */
function fakeTimeLibrary(): string | undefined {
  const architectures = existsSync('/usr/lib') ? readdirSync('/usr/lib') : [];
  return [
    '/usr/local/lib',
    '/usr/lib',
    '/usr/lib64',
    ...architectures.map((name) => `/usr/lib/${name}`),
  ]
    .map((folder) => `${folder}/faketime/libfaketime.so.1`)
    .find((file) => existsSync(file));
}

/** A host name of its own needs a namespace; where the system allows none, the list is empty. */
function hostNameWrapper(): readonly string[] {
  const ways = [['--uts'], ['--user', '--map-current-user', '--keep-caps', '--uts']];
  const set = ['sh', '-c', 'hostname "$0" && exec "$@"', hostName];
  const way = ways.find((flags) => spawnSync('unshare', [...flags, ...set, 'true']).status === 0);
  return way === undefined ? [] : ['unshare', ...way, ...set];
}

function isInstalled(locale: string): boolean {
  const { stdout } = spawnSync('locale', ['-a'], { encoding: 'utf8' });
  const plain = (name: string): string => name.toLowerCase().replaceAll('-', '');
  return (stdout ?? '').split('\n').some((line) => plain(line) === plain(locale));
}
