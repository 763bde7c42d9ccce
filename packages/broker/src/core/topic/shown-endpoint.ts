/**
 * An endpoint as events and reasons tell of it. A URL may hold a user and a password, for the endpoint alone; what is told
 * is streamed, kept in ledgers and copied about. Who may list subscriptions sees the whole URL there.
 */

/** All that stands before the last `@` of the host's part. */
const credentials = /^(https?:\/\/)[^/?#]*@/;

export function shownEndpoint(endpoint: string): string {
  return endpoint.replace(credentials, '$1****@');
}
