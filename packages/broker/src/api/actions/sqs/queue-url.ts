/**
 * Queue URLs (1.4–1.6): `<scheme>://<host>/<account>/<name>`. In requests, only the last two path segments count, and a
 * bare name is accepted too. In answers, scheme and host are the public URL's or those that the client used.
 */

import type { ActionBackend, Call } from '../action.ts';

/** What actions on one queue have in common. */
export type QueueInput = { readonly QueueUrl?: string };

/** No queue has this name, so core refuses it as a missing queue, as AWS does for a bad URL (1.6). */
const noQueue = '';

/** The parts of a URL; the account only if it has the form of one. */
interface Place {
  readonly url: string;
  readonly account: string | undefined;
  readonly queue: string;
}

/**
 * A cache of parsed URLs, since clients send the same few with every request and parsing one costs more than a lookup. It
 * is cleared when full; long texts, which are hardly URLs, are not cached.
 */
const placesMax = 1_000;
const rememberedLengthMax = 512;
const places: Map<string, Place> = new Map();
let latest: Place = { url: '', account: undefined, queue: noQueue };

export function queueOf({ QueueUrl: url = '' }: QueueInput, { realm }: ActionBackend): string {
  // Comparing with one string is cheaper than hashing a new one.
  const { account, queue } = url === latest.url ? latest : placeOf(url);
  return account === undefined || account === realm.account ? queue : noQueue;
}

function placeOf(url: string): Place {
  if (url.length > rememberedLengthMax) return takeApart(url);
  const known = places.get(url);
  if (known === undefined) {
    if (places.size === placesMax) places.clear();
    latest = takeApart(copyOf(url));
    places.set(latest.url, latest);
  } else {
    latest = known;
  }
  return latest;
}

/** A separate string: a slice of the request would keep the whole request in memory. */
function copyOf(text: string): string {
  return JSON.parse(JSON.stringify(text));
}

function takeApart(url: string): Place {
  const nameAt = url.lastIndexOf('/') + 1;
  const accountAt = nameAt < 2 ? 0 : url.lastIndexOf('/', nameAt - 2) + 1;
  const account = url.slice(accountAt, Math.max(accountAt, nameAt - 1));
  const isAccount = /^\d{12}$/.test(account);
  return { url, account: isAccount ? account : undefined, queue: url.slice(nameAt) };
}

export function urlOf(queue: string, { baseUrl, backend }: Call): string {
  return `${baseUrl}/${backend.realm.account}/${queue}`;
}

export function urlsOf(queues: readonly string[], call: Call): readonly string[] {
  return queues.map((queue) => urlOf(queue, call));
}
