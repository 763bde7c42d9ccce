/**
 * An OTLP collector that discards everything, in its own process: it reads each request and answers with success, so that
 * only the sender is measured.
 */

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const server = createServer((request, response) => {
  request.resume();
  request.on('end', () => {
    response.writeHead(200, { 'Content-Type': 'application/x-protobuf' });
    response.end();
  });
});
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`ready ${(server.address() as AddressInfo).port}\n`);
});
