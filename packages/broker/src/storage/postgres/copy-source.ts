/**
 * A PostgreSQL database as the source of a copy (storage/copying). No server may use it meanwhile. First everything in the
 * journal becomes records; then records are read page by page. Messages and window entries have an order in common, which a
 * store that keeps them together needs.
 */

import { type Change, type OwnerId, ownerOf, topicIn } from '../../core/changes.ts';
import { CopyError, type CopySource } from '../copying/copy.ts';
import { rowKinds } from '../record-families.ts';
import { ByteReader } from '../records/bytes.ts';
import { readChanges } from './change-codec.ts';
import { Checkpoints } from './checkpoints.ts';
import type { Connection } from './connection.ts';
import { type ContentKind, messageIn, postIn, publicationIn } from './content-codec.ts';
import { catalogNumber } from './journal.ts';
import type { CatalogEntry } from './journal-row.ts';
import { nodesSeen, runningMsMax } from './nodes.ts';
import { contentByte, type Family, familyByte, keyOf, rangeOf } from './record-keys.ts';
import { quoted } from './schema.ts';

/** Records of one page; those of messages come with contents, of up to a megabyte each. */
const recordsPerPage = 2_000;
const messagesPerPage = 100;

/** Refuses a database that a server uses. */
export async function refuseNodes(connection: Connection, schema: string): Promise<void> {
  const nodes = await nodesSeen(connection, schema);
  if (nodes.length === 0) return;
  const servers = nodes.length === 1 ? 'A server uses' : `${nodes.length} servers use`;
  throw new CopyError(
    `${servers} the database. Stop all of them first; after a crash, wait ${runningMsMax / 1000} seconds.`,
  );
}

export interface PostgresSourceOptions {
  readonly connection: Connection;
  readonly schema: string;
  readonly name: string;
  /** Whether the connection ends with it. */
  readonly isAlone: boolean;
}

/** Also of a copy that is not finished. */
export async function openPostgresSource(options: PostgresSourceOptions): Promise<CopySource> {
  const { connection, schema } = options;
  await checkpointAll(connection, schema);
  return new PostgresSource(options, await stateOf(connection, quoted(schema)));
}

async function stateOf(
  connection: Connection,
  tables: string,
): Promise<{ readonly time: number; readonly state: string }> {
  const [owners] = await connection.run({
    text: `SELECT max(time) AS time, sum(version)::text || ' ' || sum(tail)::text AS state FROM ${tables}.owner`,
  });
  return owners?.rows[0] as unknown as { time: number; state: string };
}

/** Until every row of the journal is in a record. */
async function checkpointAll(connection: Connection, schema: string): Promise<void> {
  const checkpoints = new Checkpoints({ schema, connection });
  let before: string | undefined;
  for (;;) {
    const [behind] = await connection.run({
      text: `SELECT o.number, o.name, o.version, c.version AS done FROM ${quoted(schema)}.owner o
        LEFT JOIN ${quoted(schema)}.checkpoint c USING (number)
        WHERE NOT o.is_gone AND o.version > coalesce(c.version, 0) LIMIT 1000`,
    });
    if (behind === undefined || behind.rows.length === 0) return;
    const found = JSON.stringify(behind.rows);
    if (found === before) {
      const { name } = behind.rows[0] as { readonly name: string };
      throw new CopyError(`The journal of ${name} does not become records: others are at work.`);
    }
    before = found;
    for (const { number, name } of behind.rows) {
      await checkpoints.checkpoint(Number(number), String(name));
    }
  }
}

interface Listed {
  readonly owner: OwnerId;
  readonly number: number;
  /** The queue or topic itself, then a topic's subscriptions. */
  readonly settings: Change[];
}

class PostgresSource implements CopySource {
  readonly name: string;
  readonly time: number;
  readonly state: string;
  readonly #connection: Connection;
  readonly #tables: string;
  readonly #isAlone: boolean;

  constructor(
    { connection, schema, name, isAlone }: PostgresSourceOptions,
    { time, state }: Pick<CopySource, 'time' | 'state'>,
  ) {
    this.name = name;
    this.time = time;
    this.state = state;
    this.#connection = connection;
    this.#tables = quoted(schema);
    this.#isAlone = isAlone;
  }

  async count(): Promise<number> {
    const [rows] = await this.#connection.run({
      text: `SELECT count(*) FROM ${this.#tables}.record WHERE number = ${catalogNumber} OR key < $1`,
      values: [Buffer.from([contentByte('message')])],
    });
    return Number(rows?.rows[0]?.['count']);
  }

  async *pieces(): AsyncGenerator<readonly Change[]> {
    const { names, listed } = await this.#catalog();
    if (names.length > 0) yield names;
    for (const { owner, number, settings } of listed) {
      yield settings;
      yield* this.#pages(owner, number, 'counter');
      yield* byId(this.#pages(owner, number, 'message'), this.#pages(owner, number, 'window'));
      for (const kind of rowKinds) {
        if (kind !== 'subscription') yield* this.#pages(owner, number, kind);
      }
    }
  }

  async refuseChanges(): Promise<void> {
    const { state } = await stateOf(this.#connection, this.#tables);
    if (state === this.state) return;
    throw new CopyError(
      `${this.name} was changed while it was copied. Stop the servers that use it, remove the copy, and begin again.`,
    );
  }

  async close(): Promise<void> {
    if (this.#isAlone) await this.#connection.close();
  }

  /** Names that are taken, queues, and then topics, since their subscriptions name queues. */
  async #catalog(): Promise<{ names: Change[]; listed: readonly Listed[] }> {
    const names: Change[] = [];
    const byNumber = new Map<number, Listed>();
    for await (const page of this.#records(catalogNumber, Buffer.alloc(0), Buffer.from([0xff]))) {
      for (const { value } of page) {
        const { owner, number, change } = JSON.parse(value.toString('utf8')) as CatalogEntry;
        if (change.kind === 'name') names.push(change);
        else {
          const known = byNumber.get(number) ?? { owner, number, settings: [] };
          byNumber.set(number, known);
          known.settings.push(change);
        }
      }
    }
    const all = [...byNumber.values()];
    const isTopic = ({ owner }: Listed): boolean => topicIn(owner) !== undefined;
    return { names, listed: [...all.filter((each) => !isTopic(each)), ...all.filter(isTopic)] };
  }

  async *#pages(owner: OwnerId, number: number, family: Family): AsyncGenerator<readonly Change[]> {
    const { start, end } = rangeOf(familyByte(family));
    const content = contentOf(family);
    for await (const page of this.#records(number, start, end, content && messagesPerPage)) {
      const changes = page.flatMap(({ value }) => [...readChanges(new ByteReader(value), owner)]);
      yield content === undefined ? changes : await this.#withContents(number, content, changes);
    }
  }

  async *#records(
    number: number,
    start: Buffer,
    end: Buffer,
    limit: number = recordsPerPage,
  ): AsyncGenerator<readonly { readonly key: Buffer; readonly value: Buffer }[]> {
    let after = start;
    for (;;) {
      const [found] = await this.#connection.run({
        text: `SELECT key, value FROM ${this.#tables}.record
          WHERE number = $1 AND key > $2 AND key < $3 ORDER BY key LIMIT ${limit}`,
        values: [number, after, end],
      });
      const page = (found?.rows ?? []) as unknown as { key: Buffer; value: Buffer }[];
      if (page.length > 0) yield page;
      if (page.length < limit) return;
      after = page.at(-1)?.key as Buffer;
    }
  }

  async #withContents(
    number: number,
    kind: ContentKind,
    changes: readonly Change[],
  ): Promise<readonly Change[]> {
    const ids = changes.map((change) => (change as { readonly id: number }).id);
    const [found] = await this.#connection.run({
      text: `SELECT key, value FROM ${this.#tables}.record WHERE number = $1 AND key = ANY($2::bytea[])`,
      values: [number, ids.map((id) => keyOf(contentByte(kind), id))],
    });
    const contents = new Map(
      found?.rows.map((row) => [(row['key'] as Buffer).readUIntBE(1, 6), row['value'] as Buffer]),
    );
    return changes.map((change, at) => {
      const bytes = contents.get(ids[at] as number);
      if (bytes === undefined || bytes.length === 0) {
        throw new CopyError(
          `${ownerOf(change)}: the content of ${kind} ${ids[at]} cannot be read. Delete that message first, or purge its queue.`,
        );
      }
      return withContent(change, bytes);
    });
  }
}

function contentOf(family: Family): ContentKind | undefined {
  return family === 'message' || family === 'archived' || family === 'post' ? family : undefined;
}

function withContent(change: Change, bytes: Buffer): Change {
  if (change.kind === 'message' && change.value !== null) {
    return { ...change, value: { ...change.value, content: messageIn(bytes) } };
  }
  if (change.kind === 'archived') return { ...change, value: publicationIn(bytes) };
  return change.kind === 'post' ? { ...change, value: postIn(bytes) } : change;
}

/** Two lists that are each in the order of their ids, as one; of equal ids, the first list's comes first. */
async function* byId(
  one: AsyncGenerator<readonly Change[]>,
  other: AsyncGenerator<readonly Change[]>,
): AsyncGenerator<readonly Change[]> {
  const lists = [one, other].map((pages) => ({ pages, page: [] as readonly Change[], at: 0 }));
  for (;;) {
    for (const list of lists) {
      if (list.at < list.page.length) continue;
      list.page = (await list.pages.next()).value ?? [];
      list.at = 0;
    }
    const open = lists.filter(({ page }) => page.length > 0);
    if (open.length === 0) return;
    const merged: Change[] = [];
    while (open.every(({ page, at }) => at < page.length)) {
      const next = open.reduce((first, list) => (idOf(list) < idOf(first) ? list : first));
      merged.push(next.page[next.at] as Change);
      next.at += 1;
    }
    yield merged;
  }
}

function idOf({ page, at }: { readonly page: readonly Change[]; readonly at: number }): number {
  return (page[at] as { readonly id: number }).id;
}
