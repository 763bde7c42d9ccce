/**
 * OnceMQ started from inside, for what its command has no flag for: not counting anything. Told by its arguments, `false`
 * or `true` and then the flags of `oncemq serve`; the environment is read as the command reads it.
 */

import { readConfig } from '#broker/server/config.js';
import { start } from '#broker/server/start-server.js';

const [isCounting, storage = '', folder] = process.argv.slice(2);
const flags = folder === undefined ? { [storage]: '' } : { [storage]: folder };
const config = readConfig({ port: '0', ...flags }, process.env);
const server = await start(config, { isCounting: isCounting === 'true' });
process.stdout.write(`ready ${server.port}\n`);
process.once('SIGTERM', () => void server.close());
