/**
 * Python's boto3: the tests of queues and of topics that all clients share, with an old version that speaks Query
 * (Debian's, say) and a new one that speaks JSON. Each is a Python with boto3, which runs boto3-bridge.py.
 */

import { fileURLToPath } from 'node:url';
import { bridgedLives } from './bridged-lives.ts';
import { clientsAtHand } from './clients-at-hand.ts';

/** The script is not compiled, so it stays in the source folder, while this file runs from dist. */
const script = fileURLToPath(new URL('../../../test/sdk/boto3-bridge.py', import.meta.url));

bridgedLives(clientsAtHand('boto3'), ({ command, env }) => ({
  command: [...command, script],
  env,
}));
