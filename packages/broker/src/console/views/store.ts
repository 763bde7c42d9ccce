/**
 * Where everything is kept. Over PostgreSQL: the servers that share the database, which of them this page came from, and how
 * far the records are behind the journal.
 */

import type { Store, StoreNode } from '../app/answers.ts';
import type { App, View } from '../app/app.ts';
import { look } from '../app/server.ts';
import { type Child, h } from '../components/dom.ts';
import { bytes, count, dayAndTime, duration, exactCount, shortId } from '../components/format.ts';
import { type Tile, tileRow } from '../components/numbers.ts';
import { table } from '../components/table.ts';

/** Rows become records within seconds; later than this, something is wrong. */
const lagMsMax = 120_000;

const storageTexts: ReadonlyMap<string, string> = new Map([
  ['memory', 'In memory: queues and messages are lost when the server ends.'],
  ['lmdb', 'Embedded: in a directory on the disk of this server.'],
  ['postgres', 'PostgreSQL: in a database that any number of servers share.'],
]);

export function storeView(app: App): View {
  let store: Store | undefined;

  async function load(): Promise<void> {
    store = await look<Store>('store');
    app.learn(store);
  }

  function render(): Child {
    if (store === undefined) return undefined;
    const { storage, unavailable, lostCommits, nodes, node } = store;
    const tiles = tilesOf(store);
    return [
      h(
        'nav',
        { class: 'crumbs', 'aria-label': 'Breadcrumb' },
        h('a', { href: '#/' }, 'Queues and topics'),
      ),
      h('h1', { tabindex: -1 }, 'Store'),
      h('p', {}, storageTexts.get(storage) ?? storage),
      unavailable !== null &&
        h('p', { class: 'notice bad', role: 'alert' }, `Changes are refused: ${unavailable}`),
      lostCommits.count > 0 &&
        h('p', { class: 'notice bad', role: 'alert' }, lostCommits.latest ?? 'Commits were lost.'),
      tiles.length > 0 && tileRow(tiles),
      nodes !== null && nodeList(nodes, node),
    ];
  }

  return { title: 'Store', load, render };
}

function tilesOf({ sizeBytes, journal }: Store): Tile[] {
  if (journal !== null) {
    return [
      { label: 'Journal', text: bytes(journal.bytes) },
      { label: 'Rows in it, about', text: count(journal.rows) },
      { label: 'Not records yet', text: count(journal.pendingRows) },
      {
        label: 'Oldest of these',
        text: duration(journal.lagMs),
        tone: journal.lagMs > lagMsMax ? 'bad' : undefined,
      },
    ];
  }
  return sizeBytes === null ? [] : [{ label: 'Size on disk', text: bytes(sizeBytes) }];
}

function nodeList(nodes: readonly StoreNode[], answering: string | null): HTMLElement {
  return h(
    'section',
    { 'aria-labelledby': 'servers-title' },
    h(
      'div',
      { class: 'heading' },
      h(
        'h2',
        { id: 'servers-title' },
        'Servers ',
        h('span', { class: 'total' }, exactCount(nodes.length)),
      ),
    ),
    table(
      'Servers that share the database',
      [
        { title: 'Server' },
        { title: 'State' },
        { title: 'Since', class: 'wide' },
        { title: 'Last seen' },
        { title: 'Version' },
        { title: 'Format', class: 'number wide' },
      ],
      nodes.map(({ id, name, startedAt, seenAt, isRunning, version, format }) =>
        h(
          'tr',
          { key: id },
          h(
            'th',
            { scope: 'row' },
            name ?? shortId(id),
            id === answering && h('span', { class: 'tag' }, 'answers'),
          ),
          h(
            'td',
            {},
            h(
              'span',
              { class: isRunning ? 'state ready' : 'state blocked' },
              isRunning ? 'Running' : 'Silent',
            ),
          ),
          h('td', { class: 'wide' }, dayAndTime(startedAt)),
          h('td', {}, dayAndTime(seenAt)),
          h('td', {}, version),
          h('td', { class: 'number wide' }, String(format)),
        ),
      ),
    ),
  );
}
