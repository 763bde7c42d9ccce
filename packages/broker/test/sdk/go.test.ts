/**
 * The AWS SDKs for Go: the tests that all clients share, with the last release of version 1 that speaks Query and with
 * version 2, which speaks JSON. Both are in one program, built from go-bridge.
 */

import { bridgedLives } from './bridged-lives.ts';
import { clientsAtHand } from './clients-at-hand.ts';

bridgedLives(clientsAtHand('aws-sdk-go'));
