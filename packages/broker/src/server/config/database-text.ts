/**
 * Databases as people are told which one it is: host and name, never the password.
 */

export function databaseText(urls: readonly string[]): string {
  return urls
    .map((url) => {
      const { host, pathname } = new URL(url);
      return `${decodeURIComponent(host)}${pathname}`;
    })
    .join(',');
}

/** What a setting that names a database must look like. */
export const databaseUrl: RegExp = /^postgres(ql)?:\/\/\S*$/;
