// Says before anything is installed or fetched that does not come with npm: what, into where and why. The variable
// ONCEMQ_NO_INSTALL=1, which `npm test -- --no-install` sets, forbids it; then the same line says what is missing instead.
//
// The scripts that install ask here first. What npm installs into the clone's own node_modules is not their business.

export interface Install {
  /** What is installed, for people: "chromium", "the packages golang-go and maven". */
  readonly what: string;
  /** What it changes: "this system (apt-get)", "the folder .clients (pip)". */
  readonly where: string;
  readonly why: string;
}

export const noInstallVariable = 'ONCEMQ_NO_INSTALL';

/** Says what comes now, on standard error. Returns why it may not be done, or undefined if it may. */
export function refusalToInstall({ what, where, why }: Install): string | undefined {
  const isForbidden = process.env[noInstallVariable] === '1';
  const verb = isForbidden ? 'not installing' : 'installing';
  console.error(`oncemq: ${verb} ${what} into ${where}: ${why}`);
  return isForbidden ? `${noInstallVariable} forbids to install ${what}` : undefined;
}
