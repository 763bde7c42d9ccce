/**
 * The AWS SDK for Java v2: the tests that all clients share, with the last release that speaks Query and with a new one,
 * which speaks JSON. java-bridge is built with each of them.
 */

import { bridgedLives } from './bridged-lives.ts';
import { clientsAtHand } from './clients-at-hand.ts';

bridgedLives(clientsAtHand('aws-sdk-java'));
