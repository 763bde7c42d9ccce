/**
 * The posts of a topic: what is shown of each endpoint, and which calls are due.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KeptPostAttempt } from '../../../src/core/changes.ts';
import { HttpDeliveries } from '../../../src/core/topic/http-deliveries.ts';

test('the posts of each endpoint are counted and listed oldest first, through retries and removals', () => {
  const posts = new HttpDeliveries();
  for (let id = 1; id <= 20; id += 1) {
    posts.add(id, id % 2 === 0 ? 'even' : 'odd', undefined);
    posts.setAttempt(id, { attempts: 0, dueAt: 0 });
  }
  posts.remove(4);
  posts.setAttempt(2, { attempts: 1, dueAt: 90, failure: 'busy' });
  const ids = (subscription: string, limit: number): number[] =>
    posts.of(subscription, limit).map(([id]) => id);
  assert.deepEqual(ids('even', 3), [2, 6, 8]);
  assert.deepEqual(ids('odd', 2), [1, 3]);
  assert.deepEqual([posts.countOf('even'), posts.countOf('odd')], [9, 10]);
  for (const id of ids('even', Number.POSITIVE_INFINITY)) posts.remove(id);
  assert.deepEqual([posts.countOf('even'), ids('even', 3)], [0, []]);
  assert.equal(posts.countOf('odd'), 10);
});

const begun: KeptPostAttempt = { attempts: 1, dueAt: 1000 };

test('a single free call slot goes to the post that has been due longest, and of two equals to the older', () => {
  const posts = new HttpDeliveries();
  // Calls to others, which leave room for one.
  for (let id = 1; id <= 199; id += 1) {
    posts.add(id, `endpoint ${id % 5}`, undefined);
    posts.setAttempt(id, begun);
  }
  posts.add(300, 'late', undefined);
  posts.setAttempt(300, { attempts: 1, dueAt: 20, failure: 'busy' });
  posts.add(301, 'late', undefined);
  posts.setAttempt(301, { attempts: 0, dueAt: 10 });
  posts.add(302, 'late', undefined);
  posts.setAttempt(302, { attempts: 0, dueAt: 10 });
  assert.deepEqual(posts.due(9, 100), []);
  assert.deepEqual(posts.due(20, 100), [301]);
  posts.remove(301);
  assert.deepEqual(posts.due(20, 100), [302]);
  posts.remove(302);
  assert.deepEqual(posts.due(20, 100), [300]);
});
