/**
 * OnceMQ started from inside, for what its command has no flag for: not counting anything. Told by its arguments, `false`
 * or `true` and then a flag of `oncemq serve` and its value; the environment is read as the command reads it.
 */

import { readConfig } from '#broker/server/config.js';
import { start } from '#broker/server/start-server.js';

const [isCounting, storage = '', value = ''] = process.argv.slice(2);
const config = readConfig({ port: '0', [storage]: value }, process.env);
const server = await start(config, { isCounting: isCounting === 'true' });
process.stdout.write(`ready ${server.port}\n`);
process.once('SIGTERM', () => void server.close());
