/**
 * A collector that throws everything away, in a process of its own: reads what it is sent and answers as one that took
 * it. So what is measured is the sender.
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
