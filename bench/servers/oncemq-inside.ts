/**
 * OnceMQ started through its internal API, because the command has no flag to turn off counting. The arguments are `true`
 * or `false` (whether it counts), then a flag of `oncemq serve` and its value; the environment is read as by the command.
 */

import { readConfig } from '#broker/server/config/config.js';
import { start } from '#broker/server/start-server.js';

const [isCounting, storage = '', value = ''] = process.argv.slice(2);
const config = readConfig({ port: '0', [storage]: value }, process.env);
const server = await start(config, { isCounting: isCounting === 'true' });
process.stdout.write(`ready ${server.port}\n`);
process.once('SIGTERM', () => void server.close());
