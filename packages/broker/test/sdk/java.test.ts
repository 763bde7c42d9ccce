/**
 * The AWS SDK for Java v2: the lives that all clients share, of queues and of topics, with the last release that speaks
 * Query and with a new one, which speaks JSON. What is at hand is java-bridge, built with each of them.
 */

import { bridgedLives } from './bridged-lives.ts';
import { clientsAtHand } from './clients-at-hand.ts';

bridgedLives(clientsAtHand('aws-sdk-java'));
