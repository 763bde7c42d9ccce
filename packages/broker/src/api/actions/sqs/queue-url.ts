/**
 * Queue URLs (1.4–1.6): `<scheme>://<host>/<account>/<name>`. Coming in, only the last two path segments count, and a
 * bare name is taken too. Going out, scheme and host are those that the client used.
 */

import type { ActionBackend, Call } from '../action.ts';

/** What actions on one queue have in common. */
export type QueueInput = { readonly QueueUrl?: string };

/** No queue has this name, so core refuses it as missing, which is what a bad URL gives (1.6). */
const noQueue = '';

export function queueOf({ QueueUrl: url = '' }: QueueInput, { realm }: ActionBackend): string {
  const nameAt = url.lastIndexOf('/') + 1;
  const accountAt = nameAt < 2 ? 0 : url.lastIndexOf('/', nameAt - 2) + 1;
  const account = url.slice(accountAt, Math.max(accountAt, nameAt - 1));
  const isForeign = account !== realm.account && /^\d{12}$/.test(account);
  return isForeign ? noQueue : url.slice(nameAt);
}

export function urlOf(queue: string, { baseUrl, backend }: Call): string {
  return `${baseUrl}/${backend.realm.account}/${queue}`;
}

export function urlsOf(queues: readonly string[], call: Call): readonly string[] {
  return queues.map((queue) => urlOf(queue, call));
}
