// Gets Debian packages, for the scripts that fetch what npm does not have: without prompts and with a
// timeout. Each says first what it does and why (installs.ts). It never throws, but returns why it failed: the caller
// may have another source, or tells the user.

import { refusalToInstall } from './installs.ts';
import { type Run, run } from './run-command.ts';

const aptMsMax = 300_000;
const isRoot = process.getuid?.() === 0;

/** Installs them, only as root. Returns undefined, or why it failed. */
export async function installWithApt(
  packages: readonly string[],
  why: string,
): Promise<string | undefined> {
  if (!isRoot) return 'needs root';
  const what = `Debian's ${packages.join(' and ')}`;
  const refusal = refusalToInstall({ what, where: 'this system (apt-get)', why });
  if (refusal !== undefined) return refusal;
  await updateLists();
  const { ok, complaint } = await aptGet(['install', '-y', '--no-install-recommends', ...packages]);
  return ok ? undefined : complaint;
}

/** Puts the package's archive into the folder, without installing it. Returns undefined, or why it failed. */
export async function downloadWithApt(
  name: string,
  folder: string,
  why: string,
): Promise<string | undefined> {
  const refusal = refusalToInstall({ what: `Debian's ${name}`, where: folder, why });
  if (refusal !== undefined) return refusal;
  if (isRoot) await updateLists();
  const { ok, complaint } = await aptGet(['download', name], folder);
  return ok ? undefined : complaint;
}

/** Even if this fails, the existing package lists may be good enough. */
async function updateLists(): Promise<void> {
  await aptGet(['update']);
}

function aptGet(args: readonly string[], cwd?: string): Promise<Run> {
  const quiet = { DEBIAN_FRONTEND: 'noninteractive' };
  return run(['apt-get', '-qq', '-o', 'DPkg::Lock::Timeout=60', ...args], quiet, aptMsMax, cwd);
}
