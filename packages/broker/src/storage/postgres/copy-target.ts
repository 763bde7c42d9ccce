/**
 * A PostgreSQL database as the target of a copy (storage/copying). What is copied becomes records at once, without a way
 * through the journal. How far the copy is stands in the row `copy` of the table `store`; while it is there, no server starts.
 */

import { randomInt } from 'node:crypto';
import { type Change, catalog, isSetting, type OwnerId, ownerOf } from '../../core/changes.ts';
import { byOwner, CopyError, type CopySource, type CopyTarget } from '../copying/copy.ts';
import { isOf } from '../record-families.ts';
import { checkpointOf } from './checkpoint.ts';
import type { Connection, Statement } from './connection.ts';
import { type Content, contentBytes } from './content-codec.ts';
import { openPostgresSource, refuseNodes } from './copy-source.ts';
import { catalogNumber } from './journal.ts';
import { entryOf, writtenCatalogRow, writtenRow } from './journal-row.ts';
import { createdPerBatchMax } from './replica.ts';
import { prepareTables } from './requirements.ts';
import { copyRow, quoted } from './schema.ts';

/** What the row says. */
interface Copying {
  readonly from: string;
  readonly state: string;
  readonly changes: number;
}

export class PostgresTarget implements CopyTarget {
  readonly #connection: Connection;
  readonly #schema: string;
  readonly #tables: string;
  readonly #name: string;
  readonly #numbers: Map<OwnerId, number> = new Map();
  #copying: Copying | undefined;
  #time = 0;

  constructor(connection: Connection, schema: string, name: string) {
    this.#connection = connection;
    this.#schema = schema;
    this.#tables = quoted(schema);
    this.#name = name;
  }

  async begin({ name, state, time }: CopySource): Promise<number> {
    const connection = this.#connection;
    this.#time = time;
    await prepareTables(connection, this.#schema);
    await refuseNodes(connection, this.#schema);
    const [rows, owners] = await connection.run(
      { text: `SELECT value FROM ${this.#tables}.store WHERE key = '${copyRow}'` },
      { text: `SELECT number, name, version FROM ${this.#tables}.owner` },
    );
    const begun = rows?.rows[0]?.['value'];
    if (begun === undefined) {
      if (owners?.rows.some(({ version }) => Number(version) > 0) === true) {
        throw new CopyError(
          `${this.#name} already has queues or topics. Choose another database, or drop its schema ${this.#schema}.`,
        );
      }
      this.#copying = { from: name, state, changes: 0 };
      await connection.run({
        text: `INSERT INTO ${this.#tables}.store VALUES ('${copyRow}', $1)`,
        values: [JSON.stringify(this.#copying)],
      });
      return 0;
    }
    const copying = JSON.parse(String(begun)) as Copying;
    if (copying.from !== name || copying.state !== state) {
      throw new CopyError(
        `${this.#name} has a part of a copy of ${copying.from}, or that has changed since. Drop the schema ${this.#schema} to begin again.`,
      );
    }
    this.#copying = copying;
    for (const { number, name: owner } of owners?.rows ?? []) {
      if (number !== catalogNumber) this.#numbers.set(String(owner), Number(number));
    }
    return copying.changes;
  }

  async write(changes: readonly Change[]): Promise<void> {
    const before = this.#copying as Copying;
    const after: Copying = { ...before, changes: before.changes + changes.length };
    const results = await this.#connection.run(
      { text: 'BEGIN' },
      ...byOwner(changes).flatMap((part) => this.#written(part)),
      {
        text: `UPDATE ${this.#tables}.store SET value = $2 WHERE key = '${copyRow}' AND value = $1 RETURNING 1`,
        values: [JSON.stringify(before), JSON.stringify(after)],
      },
    );
    if (results.at(-1)?.rows.length !== 1) {
      await this.#connection.goOn({ text: 'ROLLBACK' });
      throw new CopyError('Another copy into this database is running.');
    }
    await this.#connection.goOn({ text: 'COMMIT' });
    this.#copying = after;
  }

  async written(): Promise<CopySource> {
    return openPostgresSource({
      connection: this.#connection,
      schema: this.#schema,
      name: this.#name,
      isAlone: false,
    });
  }

  async finish(dueAt: ReadonlyMap<OwnerId, number>): Promise<void> {
    const due = [...dueAt].flatMap(([owner, at]) => {
      const number = this.#numbers.get(owner);
      return number === undefined ? [] : [{ number, at }];
    });
    // Numbers of queues and topics to come are made from the catalog's version.
    const version = 1 + Math.ceil(this.#numbers.size / createdPerBatchMax);
    await this.#connection.run(
      { text: 'BEGIN' },
      {
        text: `UPDATE ${this.#tables}.owner o SET due_at = n.at
          FROM unnest($1::bigint[], $2::bigint[]) AS n (number, at) WHERE o.number = n.number`,
        values: [due.map(({ number }) => number), due.map(({ at }) => at)],
      },
      {
        text: `UPDATE ${this.#tables}.owner SET version = $1, tail = $2, time = $3 WHERE number = ${catalogNumber}`,
        values: [version, newTail(), this.#time],
      },
      {
        text: `INSERT INTO ${this.#tables}.checkpoint VALUES (${catalogNumber}, $1, 0, 0)
          ON CONFLICT (number) DO UPDATE SET version = excluded.version`,
        values: [version],
      },
      { text: `DELETE FROM ${this.#tables}.store WHERE key = '${copyRow}'` },
      { text: 'COMMIT' },
    );
  }

  close(): Promise<void> {
    return this.#connection.close();
  }

  /** Changes of one queue or topic. */
  #written(changes: readonly Change[]): Statement[] {
    const [first] = changes as readonly [Change];
    const owner = ownerOf(first);
    const head = { now: this.#time, previous: 0 };
    const statements: Statement[] = [];
    // A name that is taken belongs to no queue any more.
    let number = isOf('name', first) ? 0 : this.#numbers.get(owner);
    if (number === undefined) {
      number = this.#numbers.size + 1;
      this.#numbers.set(owner, number);
      statements.push({
        text: `INSERT INTO ${this.#tables}.owner (number, name, version, tail, time) VALUES ($1, $2, 1, $3, $4)`,
        values: [number, owner, newTail(), this.#time],
      });
      statements.push({
        text: `INSERT INTO ${this.#tables}.checkpoint VALUES ($1, 1, 0, 0)`,
        values: [number],
      });
    }
    const at = { number, version: number === 0 ? 0 : 1 };
    const settings = changes.filter(isSetting).map((change) => entryOf(change, at));
    const others = changes.filter((change) => !isSetting(change));
    if (settings.length > 0) {
      const row = { number: catalogNumber, version: 1, id: 0 };
      const bytes = writtenCatalogRow(head, settings);
      statements.push(this.#records(catalogNumber, catalog, { ...row, changes: bytes }, []));
    }
    if (others.length > 0) {
      const row = { number, version: 1, id: 0, changes: writtenRow(head, others) };
      statements.push(this.#records(number, owner, row, others.flatMap(contentsOf)));
    }
    return statements;
  }

  #records(
    number: number,
    owner: OwnerId,
    row: Parameters<typeof checkpointOf>[1][number]['row'],
    contents: readonly Content[],
  ): Statement {
    const { written } = checkpointOf(owner, [{ row, contents }]);
    return {
      text: `INSERT INTO ${this.#tables}.record SELECT $1, * FROM unnest($2::bytea[], $3::bytea[])`,
      values: [number, written.map(({ key }) => key), written.map(({ value }) => value)],
    };
  }
}

/** What a batch would have left there. */
function newTail(): number {
  return randomInt(1, 2 ** 47);
}

function contentsOf(change: Change): Content[] {
  if (!('value' in change) || change.value === null) return [];
  if (change.kind === 'archived') return [content(change, contentBytes.archived(change.value))];
  if (change.kind === 'post') return [content(change, contentBytes.post(change.value))];
  if (change.kind !== 'message' || 'from' in change.value.content) return [];
  return [content(change, contentBytes.message(change.value.content))];
}

function content(
  change: { readonly kind: Content['kind']; readonly id: number },
  bytes: Buffer,
): Content {
  return { kind: change.kind, id: change.id, bytes };
}
