/**
 * The peer fauxqs in its own process: started as its README shows, in memory, and without its log, which would cost it a
 * third of its throughput.
 */

import { startFauxqs } from 'fauxqs';

const { port } = await startFauxqs({ port: 0, logger: false });
process.stdout.write(`ready ${port}\n`);
