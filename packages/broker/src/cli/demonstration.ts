/**
 * What `oncemq serve` does until there is a server: five minutes in the life of a FIFO queue, on the engine alone and
 * on a clock that is turned by hand, so it ends at once. Goes away with the server.
 */

import { randomUUID } from 'node:crypto';
import type { Command, CommandOf, SendEntry } from '../core/commands.ts';
import { type Applied, Engine } from '../core/engine.ts';
import type { Event } from '../core/events.ts';

const queue = 'prices.fifo';

export function demonstrate(print: (line: string) => void): void {
  const engine = new Engine();
  const ids = { uuid: randomUUID };
  let now = Date.now();
  const apply = <T extends Command['type']>(command: CommandOf<T>): Applied<T> =>
    engine.apply(command, { now, ids, isObserved: true });
  const send = (entry: SendEntry): void => {
    const { events } = apply({ type: 'send', queue, isBatch: false, entries: [entry] });
    for (const event of events) print(`  ${tell(event)}`);
  };

  print('There is no server yet: this is a demonstration of the engine.');
  print('');
  print(`A FIFO queue ${queue} with content-based deduplication.`);
  const attributes = { FifoQueue: 'true', ContentBasedDeduplication: 'true' };
  apply({ type: 'create-queue', queue, attributes });

  const price = (market: string): SendEntry => ({
    body: '{"part":"brake-pad","price":42}',
    groupId: 'brake-pad',
    attributes: [{ name: 'market', type: 'String', stringValue: market }],
  });
  print('The same price for two markets, told apart by an attribute only:');
  send(price('wholesale'));
  send(price('retail'));
  print('With ids of their own, both go through:');
  send({ ...price('wholesale'), deduplicationId: 'brake-pad/wholesale/42' });
  send({ ...price('retail'), deduplicationId: 'brake-pad/retail/42' });
  print('Five minutes later the window is closed, and the first one is new again:');
  now += 300_000;
  send(price('wholesale'));

  const { outcome } = apply({ type: 'receive', queue, count: 10 });
  const count = outcome.ok ? outcome.messages.length : 0;
  print(`One receive gives all ${count} messages of the group, in order; until they are deleted,`);
  print('the group gives nothing more to anybody.');
}

function tell(event: Event): string {
  if (event.type === 'sent') return `accepted  ${event.messageId}`;
  if (event.type !== 'duplicate') return event.type;
  const { differed, original, source, ageMs } = event;
  const differences = Object.entries(differed)
    .filter(([, isDifferent]) => isDifferent)
    .map(([what]) => what);
  const difference = differences.length === 0 ? 'nothing' : differences.join(' and ');
  const id = source === 'content' ? 'the hash of the body' : 'its own id';
  return `duplicate of ${original.messageId} by ${id}, ${ageMs} ms later; they differ in: ${difference}`;
}
