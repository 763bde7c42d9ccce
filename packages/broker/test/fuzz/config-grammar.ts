/**
 * Grammars of the two files that a server reads at startup: the config file and the contract file. As for policies, each
 * gives a document that is right, and json-grammar.ts makes it wrong.
 */

import type { Chance } from '../support/chance.ts';
import { prototypeNames } from './hostile-values.ts';
import { Members, object, type Tree } from './json-grammar.ts';
import { accessPolicy, filterPolicy, redrivePolicy } from './policy-grammars.ts';

/** Each member is there in one of two cases. */
function some(chance: Chance, members: Readonly<Record<string, Tree>>): Members {
  return new Members(Object.entries(members).filter(() => chance.isOneIn(2)));
}

/** Everything is kept in memory, so that a server can be started on what is accepted. */
export function configFile(chance: Chance): Tree {
  const settings = some(chance, {
    host: '127.0.0.1',
    port: chance.pick<Tree>([0, '0']),
    clock: chance.pick(['real', 'virtual', 'manual']),
    region: 'eu-west-1',
    account: chance.pick<Tree>(['000000000000', 123_456_789_012]),
    publicUrl: 'https://queues.example',
    profile: chance.pick(['aws', 'yandex']),
    limits: chance.pick(['strict', 'relaxed']),
    auth: 'off',
    enforcePolicies: chance.pick<Tree>([true, 'false']),
    log: chance.pick(['pretty', 'json', 'silent']),
  });
  return new Members([
    ['memory', true],
    ...settings.list,
    ...(chance.isOneIn(2) ? [['credentials', credentials(chance)] as const] : []),
    ['queues', queues(chance)],
    ['topics', topics(chance)],
  ]);
}

function credentials(chance: Chance): Tree {
  return Array.from({ length: 1 + chance.below(3) }, (_, at) =>
    object({
      accessKeyId: `AKID${at}`,
      secretAccessKey: 'secret',
      account: chance.isOneIn(4) ? '000000000000' : undefined,
      name: chance.isOneIn(2) ? chance.pick(['service/jobs', ...prototypeNames]) : undefined,
    }),
  );
}

function queues(chance: Chance): Tree {
  const about = { queue: 'dead', topic: 'news' };
  return [
    'dead',
    object({
      name: chance.pick(['jobs', ...prototypeNames]),
      attributes: some(chance, {
        VisibilityTimeout: chance.pick<Tree>([5, '5']),
        Policy: accessPolicy(chance, about),
        RedrivePolicy: redrivePolicy(chance, about),
        DelaySeconds: 1,
      }),
      tags: new Members(prototypeNames.map((name) => [name, 'x'] as const)),
    }),
    object({ name: 'orders.fifo', attributes: object({ ContentBasedDeduplication: true }) }),
  ];
}

function topics(chance: Chance): Tree {
  const subscription = (): Tree =>
    chance.pick<() => Tree>([
      () => 'dead',
      () => object({ queue: 'dead', attributes: object({ RawMessageDelivery: true }) }),
      () => object({ queue: 'dead', attributes: object({ FilterPolicy: filterPolicy(chance) }) }),
      () => object({ protocol: 'sqs', endpoint: 'arn:aws:sqs:us-east-1:000000000000:elsewhere' }),
    ])();
  return [
    object({
      name: chance.pick(['news', ...prototypeNames]),
      attributes: object({ DisplayName: 'News' }),
      tags: object({ team: 'x' }),
      subscriptions: Array.from({ length: chance.below(3) }, subscription),
    }),
    'alerts.fifo',
  ];
}

export function contractFile(chance: Chance): Tree {
  const binding = (): Tree =>
    object({
      queue: chance.pick(['orders.fifo', 'jobs*', '*', '?rders*', 'a.b', ...prototypeNames]),
      mode: chance.isOneIn(3) ? undefined : chance.pick(['observe', 'reject']),
      ...(chance.isOneIn(3) ? { contract: 'envelope' } : { schema: schema(chance, 2) }),
    });
  return object({
    namespace: chance.isOneIn(2) ? 'kfm' : undefined,
    queues: Array.from({ length: 1 + chance.below(3) }, binding),
  });
}

function schema(chance: Chance, depthMax: number): Tree {
  const inner = (): Tree => (depthMax === 0 ? true : schema(chance, depthMax - 1));
  return chance.pick<() => Tree>([
    () => object({ type: chance.pick(['object', 'string', 'number', 'array', 'null']) }),
    () =>
      object({
        type: 'object',
        required: [...prototypeNames.slice(0, 3), 'a'],
        properties: new Members([...prototypeNames.slice(0, 2), 'a'].map((key) => [key, inner()])),
        additionalProperties: chance.isOneIn(2),
      }),
    () => object({ type: 'array', items: inner(), minItems: 1, uniqueItems: true }),
    () => object({ anyOf: [inner(), inner()] }),
    () => object({ type: 'string', pattern: '^[a-z]+$', maxLength: 5, format: 'uuid' }),
    () => object({ enum: [1, 'x', null] }),
    () => object({ $defs: object({ a: inner() }), $ref: '#/$defs/a' }),
    () => object({ $id: 'https://a.example/s', not: object({ $ref: '#' }) }),
  ])();
}
