// Installs Debian packages, for the scripts that fetch what npm does not have: without prompts, with a
// timeout, and only as root. It never throws, but returns why it failed: the caller may have another
// source, or tells the user.

import { run } from './run-command.ts';

const aptMsMax = 300_000;

/** Returns undefined, or why it failed. */
export async function installWithApt(packages: readonly string[]): Promise<string | undefined> {
  if (process.getuid?.() !== 0) return 'needs root';
  const quiet = { DEBIAN_FRONTEND: 'noninteractive' };
  const apt = ['apt-get', '-qq', '-o', 'DPkg::Lock::Timeout=60'];
  // Even if the update fails, the existing package lists may be good enough.
  await run([...apt, 'update'], quiet, aptMsMax);
  const install = [...apt, 'install', '-y', '--no-install-recommends', ...packages];
  const { ok, complaint } = await run(install, quiet, aptMsMax);
  return ok ? undefined : complaint;
}
