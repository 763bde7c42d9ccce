/**
 * As much of `pg` as the toolkit uses, so that it works with any version of it and does not need it to be installed:
 * a pool that lends connections, and connections that run queries.
 */

export interface Queryable {
  query(text: string, values?: unknown[]): Promise<{ readonly rows: unknown[] }>;
}

export interface Connection extends Queryable {
  /** With an error: the connection is thrown away. */
  release(error?: Error | boolean): void;
}

export interface Pool extends Queryable {
  connect(): Promise<Connection>;
}

/** Runs the work in a transaction of its own. */
export async function inTransaction<T>(
  pool: Pool,
  work: (connection: Queryable) => Promise<T>,
): Promise<T> {
  const connection = await pool.connect();
  let failure: Error | undefined;
  try {
    await connection.query('begin');
    const result = await work(connection);
    await connection.query('commit');
    return result;
  } catch (error) {
    failure = error instanceof Error ? error : new Error(String(error));
    // A connection that cannot even roll back is thrown away, and the database rolls back for it.
    await connection.query('rollback').then(
      () => {
        failure = undefined;
      },
      () => {},
    );
    throw error;
  } finally {
    connection.release(failure);
  }
}

/** A table's name as SQL, quoted; with or without a schema. */
export function tableName(name: string): string {
  if (!/^[A-Za-z_]\w{0,62}(\.[A-Za-z_]\w{0,62})?$/.test(name)) {
    throw new Error(
      `${name} is no name for a table: letters, digits and _, with or without a schema.`,
    );
  }
  return name
    .split('.')
    .map((part) => `"${part}"`)
    .join('.');
}
