/**
 * The part of `pg` that the toolkit uses, declared here so that any version works and `pg` need not be installed:
 * a pool that lends connections, and connections that run queries.
 */

export interface Queryable {
  query(
    text: string,
    values?: unknown[],
  ): Promise<{ readonly rows: unknown[]; readonly command?: string }>;
}

export interface Connection extends Queryable {
  /** With an error, the pool discards the connection. */
  release(error?: Error | boolean): void;
  on?(event: 'error' | 'notification', listener: (about: unknown) => void): unknown;
  off?(event: 'error' | 'notification', listener: (about: unknown) => void): unknown;
}

export interface Pool extends Queryable {
  connect(): Promise<Connection>;
}

/** Runs the work in its own transaction. */
export async function inTransaction<T>(
  pool: Pool,
  work: (connection: Queryable) => Promise<T>,
): Promise<T> {
  const connection = await pool.connect();
  // A connection that breaks while idle emits 'error', which would end the process without a listener. The next query
  // fails and reports it.
  connection.on?.('error', ignore);
  let failure: Error | undefined;
  try {
    await connection.query('begin');
    const result = await work(connection);
    const { command } = await connection.query('commit');
    // If a query failed and the work went on regardless, PostgreSQL rolls back on commit without reporting an error.
    if (command === 'ROLLBACK') {
      throw new Error('The transaction was rolled back, because one of its queries had failed.');
    }
    return result;
  } catch (error) {
    failure = error instanceof Error ? error : new Error(String(error));
    // A connection that cannot even roll back is discarded, and the database rolls back for it.
    await connection.query('rollback').then(
      () => {
        failure = undefined;
      },
      () => {},
    );
    throw error;
  } finally {
    // A discarded connection keeps its listener: it may still emit 'error'.
    if (failure === undefined) connection.off?.('error', ignore);
    connection.release(failure);
  }
}

/** Calls `wake` at each notification of the channel, on a connection of its own; `lost` once if that connection breaks. */
export async function listenTo(
  pool: Pool,
  channel: string,
  wake: () => void,
  lost: (error: unknown) => void,
): Promise<() => Promise<void>> {
  const connection = await pool.connect();
  let isOver = false;
  const fail = (error: unknown): void => {
    if (isOver) return;
    isOver = true;
    connection.release(true);
    lost(error);
  };
  connection.on?.('error', fail);
  connection.on?.('notification', wake);
  try {
    await connection.query(`listen "${channel}"`);
  } catch (error) {
    isOver = true;
    connection.release(true);
    throw error;
  }
  return async () => {
    if (isOver) return;
    isOver = true;
    // Closed instead of reused: a connection in the pool must not listen.
    connection.release(true);
  };
}

function ignore(): void {}

/** A table's name as SQL, quoted; with or without a schema. */
export function tableName(name: string): string {
  if (!/^[A-Za-z_]\w{0,62}(\.[A-Za-z_]\w{0,62})?$/.test(name)) {
    throw new Error(
      `${name} is not a valid table name. Use letters, digits and _, with or without a schema.`,
    );
  }
  return name
    .split('.')
    .map((part) => `"${part}"`)
    .join('.');
}
