/**
 * Which page is shown, from the fragment (`#…`) of the address: the server serves a single page at any base path, and
 * links, bookmarks and the back button work.
 *
 *   #/                                  every queue and topic
 *   #/queues/NAME/TAB                   one queue; #/queues/NAME/window/SEQUENCE/NUMBER compares a suppressed send
 *   #/topics/NAME                       one topic
 *   #/store                             where everything is kept, and the servers that share it
 */

export type Tab = 'window' | 'groups' | 'messages' | 'redrive' | 'attributes';

export type Route =
  | { readonly page: 'overview' }
  | {
      readonly page: 'queue';
      readonly name: string;
      readonly tab: Tab | undefined;
      /** The parts after the tab: a group, or the send to show. */
      readonly rest: readonly string[];
    }
  | { readonly page: 'topic'; readonly name: string }
  | { readonly page: 'store' }
  | { readonly page: 'nowhere' };

const tabs: readonly Tab[] = ['window', 'groups', 'messages', 'redrive', 'attributes'];

export function readRoute(hash: string): Route {
  const [section = '', name = '', tab = '', ...rest] = hash
    .replace(/^#?\/?/, '')
    .split('/')
    .map(decoded);
  if (section === '') return { page: 'overview' };
  if (section === 'store' && name === '') return { page: 'store' };
  if (name === '') return { page: 'nowhere' };
  if (section === 'topics') return { page: 'topic', name };
  const known = tabs.find((each) => each === tab);
  if (section !== 'queues' || (tab !== '' && known === undefined)) return { page: 'nowhere' };
  return { page: 'queue', name, tab: known, rest };
}

export const storeLink = '#/store';

export function queueLink(name: string, ...rest: readonly (string | number)[]): string {
  return link('queues', name, ...rest);
}

export function topicLink(name: string): string {
  return link('topics', name);
}

function link(...parts: readonly (string | number)[]): string {
  return `#/${parts.map((part) => encodeURIComponent(part)).join('/')}`;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
