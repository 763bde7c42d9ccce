/**
 * Python's boto3: the lives that all clients share, of queues and of topics, with an old one that speaks Query (Debian's, say)
 * and a new one that speaks JSON. What is at hand is a Python that has boto3; boto3-bridge.py is what it runs.
 */

import { fileURLToPath } from 'node:url';
import { bridgedLives } from './bridged-lives.ts';
import { clientsAtHand } from './clients-at-hand.ts';

/** The script is not compiled: it is where it is written, and this file is below dist. */
const script = fileURLToPath(new URL('../../../test/sdk/boto3-bridge.py', import.meta.url));

bridgedLives(clientsAtHand('boto3'), ({ command, env }) => ({
  command: [...command, script],
  env,
}));
