/**
 * What the hostile requests have found, each as a plain test that names the symptom.
 */

import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { after, before, test } from 'node:test';
import { KeptConnection } from './connection.ts';
import { AnswerReader, type HttpAnswer } from './http-answer.ts';
import { ServerProcess } from './server-process.ts';
import { bytesOf, formRequest, jsonRequest } from './whole-request.ts';

let server: ServerProcess;
let connection: KeptConnection;

before(async () => {
  server = await ServerProcess.start();
  connection = new KeptConnection(server);
});

after(async () => {
  connection.close();
  await server.stop();
});

function ask(action: string, input: object): Promise<HttpAnswer> {
  return connection.ask(jsonRequest(action, JSON.stringify(input)));
}

/** JSON.stringify is recursive and throws a RangeError from some thousand levels on; JSON.parse does not. */
test('AddPermission on a very deeply nested policy causes no server error', async () => {
  await ask('CreateQueue', { QueueName: 'deep' });
  const Policy = `{"Statement":[${'['.repeat(20_000)}${']'.repeat(20_000)}]}`;
  const set = await ask('SetQueueAttributes', { QueueUrl: 'deep', Attributes: { Policy } });
  const added = await ask('AddPermission', {
    QueueUrl: 'deep',
    Label: 'label',
    AWSAccountIds: ['000000000000'],
    Actions: ['SendMessage'],
  });
  assert.deepEqual(
    [set.status, added.status].filter((status) => status >= 500),
    [],
  );
  assert.equal(server.log, '');
});

/**
 * A server that closes while bytes are still arriving resets the connection, and the answer is lost. Like many others,
 * this client reads only after it has written everything.
 */
test('a body far over the limit gets a 413 while its client is still sending', async () => {
  const body = Buffer.alloc(20 * 1024 * 1024, 'x');
  for (const request of [jsonRequest('SendMessage', body), formRequest(body)]) {
    const socket = connect({ port: server.port, host: '127.0.0.1' });
    socket.pause();
    const reader = new AnswerReader();
    await new Promise<void>((resolve, reject) => {
      socket.on('error', reject);
      socket.on('data', (chunk: Buffer) => reader.push(chunk));
      socket.on('close', () => resolve());
      socket.write(bytesOf(request), () => socket.resume());
    });
    assert.equal(reader.take({ hasEnded: true })?.status, 413);
  }
});
