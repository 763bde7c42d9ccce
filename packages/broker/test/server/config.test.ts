/**
 * The configuration: where a setting comes from, which source wins, and what is refused. Files are real ones in a
 * temporary folder; the environment is an argument.
 */

import assert from 'node:assert/strict';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { ConfigError, readConfig } from '../../src/server/config.ts';

function file(content: unknown): string {
  const path = join(mkdtempSync(join(tmpdir(), 'oncemq-config-')), 'config.json');
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

function refused(run: () => unknown, text: RegExp): void {
  assert.throws(run, (error) => error instanceof ConfigError && text.test(error.message));
}

test('without any configuration every setting has its default', () => {
  assert.deepEqual(readConfig({}, {}), {
    host: '127.0.0.1',
    port: 9324,
    storage: { kind: 'data', directory: './oncemq-data', durability: 'fsync' },
    clock: 'real',
    region: 'us-east-1',
    account: '000000000000',
    publicUrl: undefined,
    profile: 'aws',
    limits: 'strict',
    log: 'pretty',
    auth: 'off',
    credentials: [],
    arePoliciesEnforced: false,
    contract: undefined,
    ledger: undefined,
    exports: { metrics: undefined, traces: undefined },
    queues: [],
    topics: [],
  });
});

test('a flag overrides a variable, a variable overrides the file', () => {
  const config = file({ port: 1, clock: 'manual', region: 'eu-west-1' });
  const environment = { ONCEMQ_PORT: '2', ONCEMQ_CLOCK: 'virtual', PATH: 'elsewhere' };
  const read = readConfig({ config, port: '3' }, environment);
  assert.equal(read.port, 3);
  assert.equal(read.clock, 'virtual');
  assert.equal(read.region, 'eu-west-1');
});

test('the file can be given by a variable', () => {
  assert.equal(readConfig({}, { ONCEMQ_CONFIG: file({ port: 7 }) }).port, 7);
});

test('the file uses camel case, variables use capitals', () => {
  const config = file({ publicUrl: 'https://queue.example' });
  assert.equal(readConfig({ config }, {}).publicUrl, 'https://queue.example');
  const environment = { ONCEMQ_PUBLIC_URL: 'https://mq.example' };
  assert.equal(readConfig({}, environment).publicUrl, 'https://mq.example');
});

test('a ledger has a directory and a size limit', () => {
  const environment = { ONCEMQ_LEDGER: './account' };
  const whole = { directory: './account', bytesMax: 1024 ** 3 };
  assert.deepEqual(readConfig({}, environment).ledger, whole);
  const config = file({ ledgerMaxBytes: 5_000_000 });
  assert.equal(readConfig({ config }, environment).ledger?.bytesMax, 5_000_000);
});

test('an unknown name is refused with the nearest known one, in the spelling of its source', () => {
  refused(() => readConfig({ prot: '1' }, {}), /no flag --prot\. Did you mean --port\?/);
  refused(() => readConfig({}, { ONCEMQ_REGOIN: 'x' }), /ONCEMQ_REGOIN.*ONCEMQ_REGION\?/);
  refused(() => readConfig({ config: file({ publicURl: 'x' }) }, {}), /Did you mean publicUrl\?/);
  refused(() => readConfig({ config: file({ prot: false }) }, {}), /Did you mean port\?/);
  refused(() => readConfig({ config: file({ quues: [] }) }, {}), /Did you mean queues\?/);
  const queues = file({ queues: [{ name: 'a', atributes: {} }] });
  refused(() => readConfig({ config: queues }, {}), /queues\[0\].*atributes.*attributes\?/);
});

test('what Kubernetes sets for a Service named oncemq, or oncemq-…, is no setting', () => {
  const links = {
    ONCEMQ_SERVICE_HOST: '10.0.0.1',
    ONCEMQ_SERVICE_PORT: '9324',
    ONCEMQ_SERVICE_PORT_HTTP: '9324',
    ONCEMQ_PORT: 'tcp://10.0.0.1:9324',
    ONCEMQ_PORT_9324_TCP: 'tcp://10.0.0.1:9324',
    ONCEMQ_PORT_9324_TCP_PROTO: 'tcp',
    ONCEMQ_PORT_9324_TCP_PORT: '9324',
    ONCEMQ_PORT_9324_TCP_ADDR: '10.0.0.1',
    ONCEMQ_STAGING_SERVICE_HOST: '10.0.0.2',
    ONCEMQ_STAGING_PORT: 'tcp://10.0.0.2:9324',
  };
  assert.deepEqual(readConfig({}, links), readConfig({}, {}));
  assert.equal(readConfig({}, { ...links, ONCEMQ_PORT: '7' }).port, 7);
  for (const [variable, value] of [
    ['ONCEMQ_PORT', 'http://10.0.0.1:9324'],
    ['ONCEMQ_PORTS', 'tcp://10.0.0.1:9324'],
    ['ONCEMQ_SERVICE', '10.0.0.1'],
    ['ONCEMQ_PORT_9324', '9324'],
    ['ONCEMQ_STAGING_PORT', '9324'],
  ] as const) {
    assert.throws(() => readConfig({}, { [variable]: value }), ConfigError, variable);
  }
});

test('a name unlike any known one is refused without a suggestion', () => {
  refused(() => readConfig({ zzzzzzzz: '1' }, {}), /no flag --zzzzzzzz\.$/);
});

test('an invalid value is refused with the allowed ones', () => {
  refused(
    () => readConfig({ clock: 'fast' }, {}),
    /clock must be one of real, virtual, manual, not fast/,
  );
  refused(
    () => readConfig({ port: '65536' }, {}),
    /port: 65536 is not valid \(a number from 0 to 65535\)/,
  );
  refused(() => readConfig({ port: '' }, {}), /port needs a value/);
  refused(() => readConfig({}, { ONCEMQ_HOST: '' }), /host needs a value/);
  refused(() => readConfig({ account: '1' }, {}), /12 digits/);
  for (const url of ['queue.example', 'ftp://queue.example', 'http://', 'http://queue.example/a']) {
    refused(() => readConfig({ 'public-url': url }, {}), /\(http:\/\/ or https:\/\/ and a host/);
  }
});

test('a public URL may end with a slash, which queue URLs do not repeat', () => {
  const { publicUrl } = readConfig({ 'public-url': 'http://queue.example:81/' }, {});
  assert.equal(publicUrl, 'http://queue.example:81');
});

test('data is kept either in a directory or in memory, not both', () => {
  const { storage } = readConfig({ data: './here', durability: 'os' }, {});
  assert.deepEqual(storage, { kind: 'data', directory: './here', durability: 'os' });
  assert.deepEqual(readConfig({ memory: 'true' }, {}).storage, { kind: 'memory' });
  refused(() => readConfig({ memory: 'true', data: './here' }, {}), /cannot be used together/);
  refused(() => readConfig({ memory: 'true', durability: 'os' }, {}), /cannot be used together/);
  refused(() => readConfig({ durability: 'none' }, {}), /must be one of fsync, os, not none/);
});

test('a switch can be turned off by flag, variable or file', () => {
  const kindOf = (flags: Record<string, string>, environment: Record<string, string> = {}) =>
    readConfig(flags, environment).storage.kind;
  for (const off of ['false', '0']) {
    assert.equal(kindOf({ memory: off }), 'data');
    assert.equal(kindOf({}, { ONCEMQ_MEMORY: off }), 'data');
    assert.equal(kindOf({ memory: off }, { ONCEMQ_MEMORY: 'true' }), 'data');
    const { arePoliciesEnforced } = readConfig({}, { ONCEMQ_ENFORCE_POLICIES: off });
    assert.equal(arePoliciesEnforced, false);
  }
  assert.equal(kindOf({}, { ONCEMQ_MEMORY: '1' }), 'memory');
  assert.equal(kindOf({ config: file({ memory: false }) }), 'data');
  refused(
    () => readConfig({}, { ONCEMQ_MEMORY: 'no' }),
    /memory must be one of true, false, 1, 0, not no/,
  );
  refused(() => readConfig({}, { ONCEMQ_MEMORY: '' }), /memory needs a value/);
});

test('the storage is chosen by the setting with the highest precedence', () => {
  const config = file({ memory: true });
  const inHere = { kind: 'data', directory: './here', durability: 'fsync' };
  assert.deepEqual(readConfig({ config, data: './here' }, {}).storage, inHere);
  assert.deepEqual(readConfig({ data: './here' }, { ONCEMQ_MEMORY: 'true' }).storage, inHere);
  const kept = { ONCEMQ_DATA: './here', ONCEMQ_DURABILITY: 'os' };
  assert.deepEqual(readConfig({ memory: 'true' }, kept).storage, { kind: 'memory' });
});

test('PostgreSQL storage, which is not available yet, is refused with what to use instead', () => {
  refused(
    () => readConfig({ postgres: 'postgres://' }, {}),
    /not available yet; use --data or --memory/,
  );
});

test('a file that is missing, not JSON or not an object is refused', () => {
  refused(() => readConfig({ config: '/nowhere/at/all.json' }, {}), /\/nowhere\/at\/all\.json/);
  refused(() => readConfig({ config: file('{') }, {}), /is not JSON/);
  // The part of a broken file that JSON.parse quotes may be a secret.
  refused(() => readConfig({ config: file('{"secretAccessKey":S3CR3T}') }, {}), /^((?!S3CR).)*$/);
  refused(() => readConfig({ config: file('[]') }, {}), /must contain a JSON object/);
});

test('queues in the file have names, and attributes as any JSON value', () => {
  const config = file({
    queues: [
      'plain',
      {
        name: 'orders.fifo',
        attributes: { VisibilityTimeout: 10, ContentBasedDeduplication: true },
        tags: { team: 'parts' },
      },
      { name: 'jobs', attributes: { RedrivePolicy: { maxReceiveCount: 3 } } },
    ],
  });
  assert.deepEqual(readConfig({ config }, {}).queues, [
    { name: 'plain', attributes: {}, tags: {} },
    {
      name: 'orders.fifo',
      attributes: { VisibilityTimeout: '10', ContentBasedDeduplication: 'true' },
      tags: { team: 'parts' },
    },
    { name: 'jobs', attributes: { RedrivePolicy: '{"maxReceiveCount":3}' }, tags: {} },
  ]);
});

test('the yandex profile sets its region unless another is given', () => {
  assert.equal(readConfig({ profile: 'yandex' }, {}).region, 'ru-central1');
  assert.equal(readConfig({ profile: 'yandex', region: 'eu-west-1' }, {}).region, 'eu-west-1');
});

test('topics have attributes, tags and subscriptions, and mistakes in them are reported with their position', () => {
  const config = file({
    enforcePolicies: true,
    topics: [
      'events',
      {
        name: 'prices.fifo',
        attributes: { ContentBasedDeduplication: true },
        tags: { team: 'parts' },
        subscriptions: [
          'jobs.fifo',
          { queue: 'audit', attributes: { FilterPolicy: { kind: ['price'] } } },
          { protocol: 'http', endpoint: 'http://a.example/' },
        ],
      },
    ],
  });
  const read = readConfig({ config }, {});
  assert.equal(read.arePoliciesEnforced, true);
  assert.deepEqual(read.topics, [
    { name: 'events', attributes: {}, tags: {}, subscriptions: [] },
    {
      name: 'prices.fifo',
      attributes: { ContentBasedDeduplication: 'true' },
      tags: { team: 'parts' },
      subscriptions: [
        { protocol: 'sqs', endpoint: 'jobs.fifo', attributes: {} },
        { protocol: 'sqs', endpoint: 'audit', attributes: { FilterPolicy: '{"kind":["price"]}' } },
        { protocol: 'http', endpoint: 'http://a.example/', attributes: {} },
      ],
    },
  ]);
  const wrong = (topics: unknown, text: RegExp) =>
    refused(() => readConfig({ config: file({ topics }) }, {}), text);
  wrong({}, /topics must be a list/);
  wrong([1], /topics\[0\] must be a name/);
  wrong(
    [{ name: 'a', subscriptons: [] }],
    /no setting subscriptons\. Did you mean subscriptions\?/,
  );
  wrong([{ name: 'a', subscriptions: [{}] }], /subscriptions\[0\] must have a queue/);
});

test('keys for signatures come from the file and from the environment', () => {
  const one = { accessKeyId: 'ONE', secretAccessKey: 'secret of one', name: 'parts' };
  const config = file({ auth: 'sigv4', credentials: [{ ...one, account: '000000000000' }] });
  const environment = { ONCEMQ_ACCESS_KEY_ID: 'TWO', ONCEMQ_SECRET_ACCESS_KEY: 'secret of two' };
  const read = readConfig({ config }, environment);
  assert.deepEqual(
    read.credentials.map((each) => [each.accessKeyId, each.secretAccessKey, each.name]),
    [
      ['ONE', 'secret of one', 'parts'],
      ['TWO', 'secret of two', undefined],
    ],
  );
  assert.equal(read.auth, 'sigv4');
  assert.equal(read.arePoliciesEnforced, true, 'who checks signatures enforces policies');
});

test('an invalid key is reported by its position, without its secret', () => {
  const pair = { accessKeyId: 'ONE', secretAccessKey: 'hush' };
  const wrong = (credentials: unknown, text: RegExp): void => {
    const config = file({ credentials });
    refused(() => readConfig({ config }, {}), text);
    try {
      readConfig({ config }, {});
    } catch (error) {
      assert.doesNotMatch((error as Error).message, /hush/);
    }
  };
  refused(() => readConfig({ auth: 'sigv4' }, {}), /sigv4 needs keys.*ONCEMQ_ACCESS_KEY_ID/);
  refused(() => readConfig({}, { ONCEMQ_ACCESS_KEY_ID: 'a' }), /must be set together/);
  refused(() => readConfig({ 'access-key-id': 'a' }, {}), /no flag --access-key-id/);
  wrong({}, /credentials must be a list/);
  wrong(['hush'], /credentials\[0\] must be an object/);
  wrong([pair, pair], /credentials\[1\]: the accessKeyId ONE is already in use/);
  wrong(
    [{ ...pair, secretAcessKey: 'x' }],
    /no setting secretAcessKey\. Did you mean secretAccessKey/,
  );
  wrong([{ ...pair, accessKeyId: 'a/b' }], /accessKeyId must be/);
  wrong([{ accessKeyId: 'ONE', secretAccessKey: '' }], /secretAccessKey must be a string of 1 to/);
  wrong([{ ...pair, account: '111111111111' }], /must be that of the server, 000000000000/);
  wrong([{ ...pair, name: 'ä' }], /name must be/);
});
