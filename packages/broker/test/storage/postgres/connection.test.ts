/**
 * A transaction that takes several round trips lives and dies with its connection; what only reads does not.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Unavailable } from '../../../src/storage/backend.ts';
import { BrokenConnection, Connection } from '../../../src/storage/postgres/connection.ts';
import { startPostgres } from '../../support/postgres.ts';
import { CuttingProxy } from './cutting-proxy.ts';

const { url } = await startPostgres();
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('a transaction whose connection has broken does not go on on another one', async () => {
  const proxy = await CuttingProxy.start(url);
  const connection = new Connection([proxy.url], 'test');
  await connection.run({ text: 'CREATE TABLE note (text text)' });
  await connection.run({ text: 'BEGIN' }, { text: "INSERT INTO note VALUES ('one')" });
  proxy.cut();
  while (connection.isOpen) await turn();
  const rest = [{ text: "INSERT INTO note VALUES ('two')" }, { text: 'COMMIT' }];
  await assert.rejects(connection.goOn(...rest), BrokenConnection);
  const [found] = await connection.run({ text: 'SELECT text FROM note' });
  assert.deepEqual(found?.rows, []);
  await connection.close();
  await proxy.close();
});

test('a connection that was given up does not take its successor along when it ends', async () => {
  const connection = new Connection([url], 'test');
  await connection.run({ text: 'SELECT 1' });
  await connection.discard();
  await connection.run({ text: 'BEGIN' });
  for (let turns = 0; turns < 20; turns += 1) await turn();
  const [committed] = await connection.goOn({ text: 'COMMIT' });
  assert.equal(committed?.command, 'COMMIT');
  await connection.close();
});

test('reading goes on on another connection when one breaks, and says that it cannot if that breaks, too', async () => {
  const proxy = await CuttingProxy.start(url);
  const connection = new Connection([proxy.url], 'test');
  await connection.run({ text: 'SELECT 1' });
  const read = connection.read({ text: 'SELECT count(*) FROM generate_series(1, 300000)' });
  await turn();
  proxy.cut();
  const [found] = await read;
  assert.equal(found?.rows.length, 1);
  proxy.isRefusing = true;
  proxy.cut();
  await assert.rejects(connection.read({ text: 'SELECT 1' }), Unavailable);
  await connection.close();
  await proxy.close();
});
