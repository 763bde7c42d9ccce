/**
 * The AWS SDKs for Go: the lives that all clients share, of queues and of topics, with version 1 in its last release that
 * speaks Query and with version 2, which speaks JSON. Both are in the one program that go-bridge is built into.
 */

import { bridgedLives } from './bridged-lives.ts';
import { clientsAtHand } from './clients-at-hand.ts';

bridgedLives(clientsAtHand('aws-sdk-go'));
