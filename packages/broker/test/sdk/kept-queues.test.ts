/**
 * What every client can do with a server in memory, it can do in the same way with one that keeps everything in a
 * directory. Tested with the fastest client.
 */

import { describe } from 'node:test';
import { everydayLife } from './everyday-life.ts';
import { v3 } from './v3-client.ts';

describe('aws-sdk v3, with durable storage', () => everydayLife({ ...v3, isKept: true }));
