/**
 * fauxqs, the peer, in a process of its own: as its README starts it, in memory, and without its log, which would cost
 * it a third of its rate.
 */

import { startFauxqs } from 'fauxqs';

const { port } = await startFauxqs({ port: 0, logger: false });
process.stdout.write(`ready ${port}\n`);
