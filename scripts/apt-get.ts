// Installs packages from Debian, for the scripts that fetch what npm does not have: where there is apt-get
// and the right to use it, without a question, and for at most so long. It never throws: it says why it
// did not work.

import { run } from './run-command.ts';

const aptMsMax = 300_000;

/** Undefined, or why it did not work. */
export async function installWithApt(packages: readonly string[]): Promise<string | undefined> {
  if (process.getuid?.() !== 0) return 'needs root';
  const quiet = { DEBIAN_FRONTEND: 'noninteractive' };
  const apt = ['apt-get', '-qq', '-o', 'DPkg::Lock::Timeout=60'];
  // An update that fails may leave lists that are good enough.
  await run([...apt, 'update'], quiet, aptMsMax);
  const install = [...apt, 'install', '-y', '--no-install-recommends', ...packages];
  const { ok, complaint } = await run(install, quiet, aptMsMax);
  return ok ? undefined : complaint;
}
