/**
 * A transaction that takes several round trips lives and dies with its connection.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
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
