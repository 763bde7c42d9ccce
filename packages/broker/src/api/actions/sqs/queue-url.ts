/**
 * Queue URLs (1.4–1.6): `<scheme>://<host>/<account>/<name>`. In requests, only the last two path segments count, and a
 * bare name is accepted too. In answers, scheme and host are the public URL's or those that the client used.
 */

import type { ActionBackend, Call } from '../action.ts';

/** What actions on one queue have in common. */
export type QueueInput = { readonly QueueUrl?: string };

/** No queue has this name, so core refuses it as a missing queue, as AWS does for a bad URL (1.6). */
const noQueue = '';

export function queueOf({ QueueUrl: url = '' }: QueueInput, { realm }: ActionBackend): string {
  const nameAt = url.lastIndexOf('/') + 1;
  const accountAt = nameAt < 2 ? 0 : url.lastIndexOf('/', nameAt - 2) + 1;
  const account = url.slice(accountAt, Math.max(accountAt, nameAt - 1));
  // What has not the form of an account is not compared.
  const isElsewhere = account !== realm.account && /^\d{12}$/.test(account);
  return isElsewhere ? noQueue : url.slice(nameAt);
}

export function urlOf(queue: string, { baseUrl, backend }: Call): string {
  return `${baseUrl}/${backend.realm.account}/${queue}`;
}

export function urlsOf(queues: readonly string[], call: Call): readonly string[] {
  return queues.map((queue) => urlOf(queue, call));
}
