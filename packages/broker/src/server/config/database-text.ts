/**
 * Databases as they are named in settings, and as people are told which one it is: host and name, never the password.
 */

import { resolve } from 'node:path';

export function databaseText(urls: readonly string[]): string {
  return urls
    .map((url) => {
      const { host, pathname, searchParams } = new URL(url);
      // A socket's folder stands behind.
      return `${decodeURIComponent(host) || (searchParams.get('host') ?? '')}${pathname}`;
    })
    .join(',');
}

/** What a setting that names a database must look like. */
export const databaseUrl: RegExp = /^postgres(ql)?:\/\/\S*$/;

/** Instead of a URL: a database of the server's own. */
export const embedded = 'embedded';
export const embeddedUser = 'oncemq';

/** The URL of the one that is kept in this folder. Other servers of the same user can be started with it. */
export function embeddedUrl(folder: string): string {
  const host = encodeURIComponent(resolve(folder)).replaceAll('%2F', '/');
  return `postgres:///postgres?host=${host}&user=${embeddedUser}`;
}
