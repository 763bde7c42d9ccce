/**
 * One publish is one atomic change: a server is killed again and again while a FIFO topic fans out to three queues. Each
 * time it comes back, every publication is in all of them or in none, in the same order; what was answered is there once,
 * and publishing it again is a duplicate. A killed process loses nothing with `--durability os` either.
 *
 * On the real clock: a kill and a restart take the time they take.
 */

import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { temporaryDirectory } from '../storage/backends.ts';
import { Chance } from '../support/chance.ts';
import { seededRun } from '../support/seeded.ts';
import { ServerProcess } from '../support/server-process.ts';

const kills = 10;
const queues = ['first.fifo', 'second.fifo', 'third.fifo'] as const;
const groups = ['a', 'b', 'c', 'd'] as const;
const topicArn = 'arn:aws:sns:us-east-1:000000000000:prices.fifo';
/** The most that one look at a queue shows. */
const publicationsMax = 900;

async function sns(server: ServerProcess, action: string, input: object): Promise<string> {
  const body = new URLSearchParams({ Action: action, Version: '2010-03-31', ...input });
  const response = await fetch(`${server.url}/`, { method: 'POST', body });
  const text = await response.text();
  if (response.status !== 200) throw new Error(text);
  return text;
}

async function setUp(server: ServerProcess): Promise<void> {
  const fifo = { 'Attributes.entry.1.key': 'FifoTopic', 'Attributes.entry.1.value': 'true' };
  await sns(server, 'CreateTopic', { Name: 'prices.fifo', ...fifo });
  for (const name of queues) {
    await server.call('CreateQueue', { QueueName: name, Attributes: { FifoQueue: 'true' } });
    await sns(server, 'Subscribe', {
      TopicArn: topicArn,
      Protocol: 'sqs',
      Endpoint: `arn:aws:sqs:us-east-1:000000000000:${name}`,
      'Attributes.entry.1.key': 'RawMessageDelivery',
      'Attributes.entry.1.value': 'true',
    });
  }
}

async function bodiesIn(server: ServerProcess, queue: string): Promise<string[]> {
  const answer = await server.inspect(`queues/${queue}/messages?limit=1000`);
  return answer.body.messages.map(({ body }: { body: string }) => body);
}

function publish(server: ServerProcess, group: string, message: string): Promise<string> {
  const ids = { MessageGroupId: group, MessageDeduplicationId: message };
  return sns(server, 'Publish', { TopicArn: topicArn, Message: message, ...ids });
}

/** Publishes to one group until the server is gone. What gets no answer is in doubt. */
class Publisher {
  readonly answered: string[] = [];
  readonly #group: string;
  readonly #answers: EventEmitter = new EventEmitter();
  #made = 0;

  constructor(group: string) {
    this.#group = group;
  }

  /** Resolves with the next answer: on a busy machine a life may otherwise end before its first one. */
  async nextAnswer(): Promise<void> {
    await once(this.#answers, 'answer');
  }

  async run(server: ServerProcess): Promise<void> {
    for (;;) {
      const message = `${this.#group}-${this.#made}`;
      try {
        await publish(server, this.#group, message);
      } catch {
        return;
      }
      // Until it is answered it is in doubt, and the server's next life gets it again under the same id.
      this.#made += 1;
      this.answered.push(message);
      this.#answers.emit('answer');
      if (this.#made * groups.length >= publicationsMax) await pause(2_000);
    }
  }
}

for (const durability of ['fsync', 'os']) {
  test(`a publication is in all queues of a topic or in none, whenever the server is killed (durability ${durability})`, async (t) => {
    const { seed } = seededRun();
    console.log(`seed ${seed}: ${t.name}`);
    const chance = new Chance(seed, 0);
    const directory = temporaryDirectory();
    const args = ['--data', join(directory.path, 'data'), '--durability', durability];
    const publishers = groups.map((group) => new Publisher(group));
    let server = await ServerProcess.start(args);
    await setUp(server);
    for (let life = 0; life < kills; life += 1) {
      const running = publishers.map((publisher) => publisher.run(server));
      await Promise.all(publishers.map((publisher) => publisher.nextAnswer()));
      await pause(chance.below(170));
      await server.kill('SIGKILL');
      await Promise.all(running);
      server = await ServerProcess.start(args);
      const [first, ...others] = await Promise.all(queues.map((name) => bodiesIn(server, name)));
      for (const bodies of others) assert.deepEqual(bodies, first, 'every queue has the same');
      const found = new Set(first);
      assert.equal(found.size, first?.length, 'and nothing twice');
      for (const { answered } of publishers) {
        assert.deepEqual(
          answered.filter((message) => !found.has(message)),
          [],
          'all that was answered is there',
        );
      }
    }
    const before = await bodiesIn(server, queues[0]);
    for (const { answered } of publishers) {
      const message = answered.at(-1) as string;
      await publish(server, message[0] as string, message);
    }
    assert.deepEqual(await bodiesIn(server, queues[0]), before, 'publishing again is a duplicate');
    assert.ok(before.length > kills, 'something was published');
    assert.equal(await server.kill('SIGTERM'), 0);
    directory.remove();
  });
}
