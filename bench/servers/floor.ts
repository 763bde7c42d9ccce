/**
 * The floor, in its own process: a bare node:http server that reads the body, parses it as JSON, and answers with
 * recorded responses of OnceMQ, byte for byte. It checks nothing, stores nothing and creates no ids, so no server on
 * node:http that reads its requests could be faster.
 */

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Answer } from './oncemq.ts';

/** By action: the headers and the body of a recorded OnceMQ response. */
const answers = JSON.parse(process.argv[2] as string) as Readonly<Record<string, Answer>>;

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    JSON.parse(Buffer.concat(chunks).toString('utf8'));
    const action = String(request.headers['x-amz-target']).slice('AmazonSQS.'.length);
    const { headers, body } = answers[action] as Answer;
    response.writeHead(200, headers);
    response.end(body);
  });
});
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`ready ${(server.address() as AddressInfo).port}\n`);
});
