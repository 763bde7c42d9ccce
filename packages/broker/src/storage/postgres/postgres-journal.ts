/**
 * The journal in PostgreSQL. A batch takes two round trips: one that locks, reads what is new and asks for the time, and one
 * that appends and commits. Statements see what was committed when each of them begins (READ COMMITTED), so the rows that
 * are read after the lock are all there are.
 *
 * If the connection breaks while it commits, nobody knows the outcome. Then the same owners are locked on a new connection,
 * which waits for the old transaction to end: either its rows are there, or the versions are as before and the same rows are
 * appended again, or others have come first and the batch has to be done again.
 */

import { Unavailable } from '../backend.ts';
import {
  BrokenConnection,
  type Connection,
  isFromServer,
  type Rows,
  type Statement,
} from './connection.ts';
import { joinedContents } from './content-codec.ts';
import {
  type Appended,
  type Begun,
  catalogNumber,
  type Journal,
  type JournalRow,
  type Known,
  type KnownRow,
  type Loaded,
  type LockRequest,
} from './journal.ts';
import { contentsFrom } from './record-keys.ts';
import { quoted } from './schema.ts';

export interface PostgresJournalOptions {
  readonly schema: string;
  /** Carries batches, one after the other. */
  readonly writing: Connection;
  /** Everything else that is read, but for owners with so much in them that nobody should wait for it. */
  readonly reading: Connection;
  readonly loading: Connection;
  /** Called before it is tried whether anything can be appended: gives all connections up. */
  readonly onTry: () => Promise<unknown>;
  /** The time of a clock that the nodes share, as it is kept in the row `clock`; undefined for the database's own. */
  readonly sharedTime: ((kept: string) => number) | undefined;
}

/** The batch was not committed, and can be done again. */
export class NotCommitted extends Error {
  override readonly name: string = 'NotCommitted';
}

/** A node that stops while it holds locks loses them after this long. */
const idleMsMax = 1_000;
const lockMsMax = 5_000;
const statementMsMax = 8_000;
const limits = [
  `SET LOCAL lock_timeout = ${lockMsMax}`,
  `SET LOCAL statement_timeout = ${statementMsMax}`,
  `SET LOCAL idle_in_transaction_session_timeout = ${idleMsMax}`,
].join('; ');

/** An owner that is further behind is loaded again, part by part: nobody waits until so many rows are absorbed. */
const absorbedRowsMax = 2_000;
/** Records that are read by one statement. */
const recordsPerPage = 5_000;
/** After every key of a record. */
const everyKey: Buffer = Buffer.from([0xff]);

const triedNumber = -1;
const triedBytes = 16 * 1024;

const resolveAttempts = 3;
const resolvePauseMs = 300;

export class PostgresJournal implements Journal {
  readonly #options: PostgresJournalOptions;
  readonly #schema: string;
  /** The latest load of a large owner. */
  #loading: Promise<void> = Promise.resolve();

  constructor(options: PostgresJournalOptions) {
    this.#options = options;
    this.#schema = quoted(options.schema);
  }

  async begin({ owners, catalog, waits }: LockRequest): Promise<Begun> {
    const { sharedTime, writing } = this.#options;
    const now =
      sharedTime === undefined
        ? '(extract(epoch from clock_timestamp()) * 1000)::bigint'
        : `(SELECT value FROM ${this.#schema}.store WHERE key = 'clock')`;
    const [, locked, head, rows] = await writing.run(
      { text: `BEGIN; ${limits}` },
      this.#lock(
        owners.map(({ number }) => number),
        waits,
      ),
      // Inside the lock's statement, the time would be as old as the wait was long.
      {
        text: `SELECT version, tail, ${now} AS now FROM ${this.#schema}.owner WHERE number = ${catalogNumber}`,
      },
      this.#rows([{ number: catalogNumber, version: catalog }, ...owners]),
    );
    const told = head?.rows[0];
    return {
      locked: (locked as Rows).rows as never,
      rows: rowsIn(rows),
      catalog: { version: Number(told?.['version']), tail: Number(told?.['tail']) },
      now: sharedTime === undefined ? Number(told?.['now']) : sharedTime(String(told?.['now'])),
    };
  }

  async rowsOf(owners: readonly Known[]): Promise<readonly JournalRow[]> {
    const [rows] = await this.#options.writing.goOn(this.#rows(owners));
    return rowsIn(rows);
  }

  async commit(appended: readonly Appended[], now: number): Promise<void> {
    const { writing } = this.#options;
    try {
      const results = await writing.goOn(...this.#append(appended, now), commit);
      if (results.at(-1)?.command !== 'COMMIT') throw new NotCommitted('it was rolled back');
    } catch (error) {
      if (error instanceof NotCommitted) throw error;
      // It refused a statement or was never asked, so the transaction cannot have been committed.
      if (error instanceof BrokenConnection || isFromServer(error))
        throw new NotCommitted(error.message, { cause: error });
      await this.#resolve(appended, now);
    }
  }

  async rollback(): Promise<void> {
    await this.#options.writing.goOn({ text: 'ROLLBACK' }).catch((error: unknown) => {
      if (!(error instanceof BrokenConnection)) throw error;
    });
  }

  async tryAppend(): Promise<void> {
    const { writing, onTry } = this.#options;
    await onTry();
    await writing.run(
      { text: `BEGIN; ${limits}` },
      this.#lock([catalogNumber], false),
      {
        text: `INSERT INTO ${this.#schema}.journal (number, version, id, changes, contents) VALUES ($1, $2, 0, $3, '')`,
        // No owner has this number. Zeros that are as much as a batch may be: they are not compressed.
        values: [triedNumber, Math.floor(Math.random() * 2 ** 50), Buffer.alloc(triedBytes)],
      },
      { text: 'ROLLBACK' },
    );
  }

  async lost(known: readonly KnownRow[]): Promise<readonly Known[]> {
    const [rows] = await this.#options.reading.run({
      text: `SELECT o.number, o.version FROM unnest($1::bigint[], $2::bigint[], $3::bigint[]) AS k (number, version, tail)
        JOIN ${this.#schema}.owner o ON o.number = k.number
        LEFT JOIN ${this.#schema}.journal j ON j.number = k.number AND j.version = k.version
        WHERE o.version < k.version OR (o.version = k.version AND o.tail <> k.tail) OR j.id <> k.tail
        ORDER BY o.number`,
      values: [
        known.map(({ number }) => number),
        known.map(({ version }) => version),
        known.map(({ tail }) => tail),
      ],
    });
    return (rows?.rows ?? []) as unknown as Known[];
  }

  async load(number: number): Promise<Loaded | undefined> {
    const { reading } = this.#options;
    const [, owner, records, rows] = await reading.read(
      beginReading,
      ...this.#stateOf(number),
      commit,
    );
    const isWhole = (records?.rows.length ?? 0) < recordsPerPage;
    return isWhole ? loaded(owner, rows, onePage(records)) : this.#loadLarge(number);
  }

  /** Page by page on a connection of its own, so that no statement takes long and nobody waits for it; one owner at a time. */
  async #loadLarge(number: number): Promise<Loaded | undefined> {
    const before = this.#loading;
    let end: () => void = () => {};
    this.#loading = new Promise((resolve) => {
      end = resolve;
    });
    await before;
    const { loading } = this.#options;
    try {
      const [, owner, first, rows] = await loading.run(beginReading, ...this.#stateOf(number));
      return loaded(owner, rows, this.#pages(number, first, end));
    } catch (error) {
      end();
      await loading.discard();
      throw error;
    }
  }

  async *#pages(
    number: number,
    first: Rows | undefined,
    end: () => void,
  ): AsyncGenerator<readonly Buffer[]> {
    const { loading } = this.#options;
    let isDone = false;
    try {
      let page = first;
      for (;;) {
        const length = page?.rows.length ?? 0;
        const last = page?.rows.at(-1)?.['key'] as Buffer;
        // The next one is on its way while this one is taken in.
        const next =
          length < recordsPerPage ? undefined : loading.goOn(this.#records(number, last));
        next?.catch(() => {});
        yield valuesIn(page);
        if (next === undefined) break;
        [page] = await next;
      }
      await loading.goOn(commit);
      isDone = true;
    } finally {
      if (!isDone) await loading.discard();
      end();
    }
  }

  #stateOf(number: number): Statement[] {
    const schema = this.#schema;
    return [
      {
        text: `SELECT o.version, o.tail, c.version AS catalog FROM ${schema}.owner o, ${schema}.owner c
          WHERE o.number = $1 AND NOT o.is_gone AND c.number = ${catalogNumber}`,
        values: [number],
      },
      this.#records(number, Buffer.alloc(0)),
      {
        text: `SELECT number, version, id, changes FROM ${schema}.journal
          WHERE number = $1 AND version > coalesce((SELECT version FROM ${schema}.checkpoint WHERE number = $1), 0)
          ORDER BY version`,
        values: [number],
      },
    ];
  }

  /** The next page of records that an engine loads; all of the catalog's are such. */
  #records(number: number, after: Buffer): Statement {
    const end = number === catalogNumber ? everyKey : contentsFrom;
    return {
      text: `SELECT key, value FROM ${this.#schema}.record
        WHERE number = $1 AND key > $2 AND key < $3 ORDER BY key LIMIT ${recordsPerPage}`,
      values: [number, after, end],
    };
  }

  #lock(numbers: readonly number[], waits: boolean): Statement {
    return {
      text: `SELECT number, version, tail, time, is_gone AS "isGone", waiting_until AS "waitingUntil"
        FROM ${this.#schema}.owner WHERE number = ANY($1::bigint[])
        ORDER BY number FOR UPDATE ${waits ? '' : 'SKIP LOCKED'}`,
      values: [numbers],
    };
  }

  #rows(known: readonly Known[]): Statement {
    return {
      text: `SELECT j.number, j.version, j.id, j.changes
        FROM unnest($1::bigint[], $2::bigint[]) AS k (number, version)
        CROSS JOIN LATERAL (SELECT * FROM ${this.#schema}.journal
          WHERE number = k.number AND version > k.version ORDER BY version
          LIMIT CASE k.number WHEN ${catalogNumber} THEN NULL ELSE ${absorbedRowsMax} END) j
        ORDER BY j.number, j.version`,
      values: [known.map(({ number }) => number), known.map(({ version }) => version)],
    };
  }

  #append(appended: readonly Appended[], now: number): Statement[] {
    const schema = this.#schema;
    const column = <K extends keyof Appended>(name: K): Appended[K][] =>
      appended.map((row) => row[name]);
    const ids = appended.map(({ contents }) => contents.map(({ id }) => id));
    const created = appended.filter(({ isNew }) => isNew);
    const changes = joined(column('changes'));
    const contents = joined(appended.map((row) => joinedContents(row.contents)));
    // A commit that waits for a standby and runs out of time is said to be one, although only the primary has it.
    const statements: Statement[] = [{ text: 'SET LOCAL statement_timeout = 0' }];
    if (created.length > 0) {
      statements.push({
        text: `INSERT INTO ${schema}.owner (number, name, version, tail, time)
          SELECT number, name, 0, 0, 0 FROM unnest($1::bigint[], $2::text[]) AS n (number, name)`,
        values: [created.map(({ number }) => number), created.map(({ name }) => name)],
      });
    }
    statements.push(
      {
        text: `INSERT INTO ${schema}.journal (number, version, id, changes, contents, first_id, last_id)
          SELECT number, version, id, substr($4::bytea, changes_at, changes_bytes),
            substr($5::bytea, contents_at, contents_bytes), first_id, last_id
          FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $6::int[], $7::int[], $8::int[], $9::int[], $10::bigint[], $11::bigint[])
            AS n (number, version, id, changes_at, changes_bytes, contents_at, contents_bytes, first_id, last_id)`,
        values: [
          column('number'),
          column('version'),
          column('id'),
          changes.bytes,
          contents.bytes,
          changes.starts,
          changes.lengths,
          contents.starts,
          contents.lengths,
          ids.map((all) => (all.length === 0 ? null : Math.min(...all))),
          ids.map((all) => (all.length === 0 ? null : Math.max(...all))),
        ],
      },
      {
        text: `UPDATE ${schema}.owner o
          SET version = n.version, tail = n.tail, time = $5, due_at = n.due_at, is_gone = n.is_gone, held = n.held
          FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $6::boolean[], $7::text[])
            AS n (number, version, tail, due_at, is_gone, held)
          WHERE o.number = n.number`,
        values: [
          column('number'),
          column('version'),
          column('id'),
          appended.map(({ dueAt }) => dueAt ?? null),
          now,
          column('isGone'),
          appended.map(({ held }) => held ?? null),
        ],
      },
    );
    return statements;
  }

  async #resolve(appended: readonly Appended[], now: number): Promise<void> {
    const { writing } = this.#options;
    await writing.discard();
    let problem: unknown;
    for (let attempt = 0; attempt < resolveAttempts; attempt += 1) {
      try {
        if (await this.#isSettled(appended, now)) return;
        throw new NotCommitted('others were first');
      } catch (error) {
        if (error instanceof NotCommitted) throw error;
        problem = error;
        await writing.discard();
        await new Promise((resolve) => setTimeout(resolve, resolvePauseMs));
      }
    }
    throw new Unavailable('the database broke off a commit, and nobody knows its outcome', {
      cause: problem,
    });
  }

  /** Whether the rows are there now. */
  async #isSettled(appended: readonly Appended[], now: number): Promise<boolean> {
    const { writing } = this.#options;
    const before = appended.filter(({ isNew }) => !isNew);
    const numbers = before.map(({ number }) => number);
    const [first] = appended;
    const [, locked, found] = await writing.run(
      { text: `BEGIN; ${limits}` },
      this.#lock(numbers, true),
      {
        text: `SELECT 1 FROM ${this.#schema}.journal WHERE number = $1 AND version = $2 AND id = $3`,
        values: [first?.number, first?.version, first?.id],
      },
    );
    if (found?.rows.length === 1) {
      await this.rollback();
      return true;
    }
    const rows = new Map(locked?.rows.map((row) => [Number(row['number']), row]));
    // The same version with another tail is one that was lost and written anew.
    const isAsBefore = before.every(({ number, version, previous }) => {
      const row = rows.get(number);
      return Number(row?.['version']) === version - 1 && Number(row?.['tail']) === previous;
    });
    if (!isAsBefore) {
      await this.rollback();
      return false;
    }
    const results = await writing.goOn(...this.#append(appended, now), commit);
    return results.at(-1)?.command === 'COMMIT';
  }
}

const commit: Statement = { text: 'COMMIT' };

/** Byte strings as one, and where SQL finds each: `pg` sends an array of them as text, twice as long. */
function joined(parts: readonly Buffer[]) {
  const lengths = parts.map(({ length }) => length);
  let end = 1;
  const starts = lengths.map((length) => {
    end += length;
    return end - length;
  });
  return { bytes: Buffer.concat(parts), starts, lengths };
}

const beginReading: Statement = {
  text: 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY',
};

function valuesIn(records: Rows | undefined): Buffer[] {
  return (records?.rows ?? []).map((row) => row['value'] as Buffer);
}

async function* onePage(records: Rows | undefined): AsyncGenerator<readonly Buffer[]> {
  yield valuesIn(records);
}

function loaded(
  owner: Rows | undefined,
  rows: Rows | undefined,
  records: AsyncIterable<readonly Buffer[]>,
): Loaded | undefined {
  const found = owner?.rows[0];
  if (found === undefined) return undefined;
  const [version, tail, catalogVersion] = ['version', 'tail', 'catalog'].map((name) =>
    Number(found[name]),
  ) as [number, number, number];
  return { records, rows: rowsIn(rows), version, tail, catalogVersion };
}

function rowsIn(rows: Rows | undefined): readonly JournalRow[] {
  return (rows?.rows ?? []) as unknown as JournalRow[];
}
