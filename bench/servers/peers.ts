/**
 * Peers that are not npm packages: which version, where `npm run bench:peers` puts it, and how it is started, in memory
 * and without a log of each request. A run reports and skips a peer that was not fetched or does not start.
 */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Program, ServerProcess } from './server-process.ts';

export type PeerName = 'moto' | 'elasticmq';

export interface Peer {
  readonly version: string;
  /** Where its packages are. */
  readonly folder: string;
  readonly program: Program;
}

const peersFolder = fileURLToPath(new URL('../../../.peers', import.meta.url));

const motoFolder = join(peersFolder, 'moto');
const elasticMqFolder = join(peersFolder, 'elasticmq');

/** Its server mode, started with the class that its documentation shows for tests. */
const motoMain = `
import logging, threading
from moto.server import ThreadedMotoServer
logging.getLogger('werkzeug').setLevel(logging.ERROR)
server = ThreadedMotoServer(ip_address='127.0.0.1', port=0, verbose=False)
server.start()
print('ready', server.get_host_and_port()[1], flush=True)
threading.Event().wait()
`;

export const peers: Readonly<Record<PeerName, Peer>> = {
  moto: {
    version: '5.2.5',
    folder: motoFolder,
    program: {
      command: 'python3',
      args: ['-c', motoMain],
      env: { PYTHONPATH: motoFolder },
      ready: /^ready (\d+)/,
    },
  },
  elasticmq: {
    version: '1.7.1',
    folder: elasticMqFolder,
    program: {
      command: 'java',
      args: [
        '-Drest-sqs.bind-hostname=127.0.0.1',
        '-Drest-sqs.bind-port=0',
        '-Drest-stats.enabled=false',
        '-cp',
        join(elasticMqFolder, '*'),
        'org.elasticmq.server.Main',
      ],
      ready: /Started SQS rest server, bind address 127\.0\.0\.1:(\d+)/,
    },
  },
};

export async function startPeer({ folder, program }: Peer): Promise<ServerProcess> {
  if (!existsSync(folder))
    throw new Error('it is not installed; fetch it with npm run bench:peers.');
  return await ServerProcess.start(program);
}
