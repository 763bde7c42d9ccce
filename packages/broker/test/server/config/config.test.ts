/**
 * The configuration: where a setting comes from, which source wins, and what is refused. Files are real ones in a
 * temporary folder; the environment is an argument.
 */

import assert from 'node:assert/strict';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { ConfigError, readConfig } from '../../../src/server/config/config.ts';

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
    storage: { kind: 'data', directory: './oncemq-data', durability: 'fsync', acceptsLoss: false },
    clock: 'real',
    region: 'us-east-1',
    account: '000000000000',
    publicUrl: undefined,
    allowedHosts: [],
    bodyBytesMax: 256 * 1024 * 1024,
    http: 'plain',
    profile: 'aws',
    limits: 'strict',
    log: 'pretty',
    auth: 'off',
    credentials: [],
    arePoliciesEnforced: false,
    allowedEndpoints: [],
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

test('a list is written with commas, or as an array in the file', () => {
  const { allowedHosts } = readConfig({ 'allow-host': 'queues.lan, [fd00::1],MQ.example' }, {});
  assert.deepEqual(allowedHosts, ['queues.lan', '[fd00::1]', 'mq.example']);
  const config = file({ allowHost: ['a.lan', 'b.lan'] });
  assert.deepEqual(readConfig({ config }, {}).allowedHosts, ['a.lan', 'b.lan']);
  const environment = { ONCEMQ_ALLOW_HOST: 'c.lan' };
  assert.deepEqual(readConfig({ config }, environment).allowedHosts, ['c.lan']);
  refused(() => readConfig({ 'allow-host': 'a.lan,b.lan:80' }, {}), /b\.lan:80 is not valid/);
  refused(() => readConfig({ 'allow-host': 'a.lan,' }, {}), /is not valid/);
  refused(() => readConfig({ config: file({ allowHost: [1] }) }, {}), /a list of strings/);
  refused(() => readConfig({ config: file({ region: ['x'] }) }, {}), /must be a string, a number/);
});

test('endpoints that topics may call are addresses, ranges and names, and need signatures', () => {
  const keys = { ONCEMQ_ACCESS_KEY_ID: 'a', ONCEMQ_SECRET_ACCESS_KEY: 'b' };
  const read = (entries: string): readonly string[] =>
    readConfig({ auth: 'sigv4', 'allow-endpoints': entries }, keys).allowedEndpoints;
  const entries = ['10.0.0.0/8', '::1', 'fd00::/8', '127.0.0.1', 'hooks.lan'];
  assert.deepEqual(read(entries.join(',')), entries);
  const noRanges = ['10.0.0.0/33', '10.0.0.0/', '10.0.0.0/-1', '10.0.0.0/1.5', '10.0.0.0/8/9'];
  const noNames = ['1.2.3', 'http://a.lan', '::g', '*', '*.lan', 'a b', 'a.lan:80'];
  for (const wrong of [...noRanges, '10.0.0/8', 'a.lan/8', ...noNames]) {
    refused(() => read(wrong), /allow-endpoints/);
  }
  refused(() => readConfig({ 'allow-endpoints': '::1' }, {}), /no effect without --auth sigv4/);
});

test('the bound for bodies leaves room for the largest one', () => {
  assert.equal(readConfig({ 'bodies-max-bytes': '10000000' }, {}).bodyBytesMax, 10_000_000);
  refused(() => readConfig({ 'bodies-max-bytes': '9999999' }, {}), /at least 10000000/);
});

test('variables of other commands, and of what starts a server in a clone, are not settings', () => {
  for (const name of ['ONCEMQ_URL', 'ONCEMQ_NO_INSTALL', 'ONCEMQ_TEST_POSTGRES_URL']) {
    assert.deepEqual(readConfig({}, { [name]: '1' }), readConfig({}, {}));
  }
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
  refused(() => readConfig({}, { ONCEMQ_HOST: '' }), /^ONCEMQ_HOST needs a value/);
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
  assert.deepEqual(storage, {
    kind: 'data',
    directory: './here',
    durability: 'os',
    acceptsLoss: false,
  });
  assert.deepEqual(readConfig({ memory: 'true' }, {}).storage, { kind: 'memory' });
  refused(() => readConfig({ memory: 'true', data: './here' }, {}), /cannot be used together/);
  refused(() => readConfig({ memory: 'true', durability: 'os' }, {}), /cannot be used together/);
  refused(
    () => readConfig({ memory: 'true', 'accept-loss': 'true' }, {}),
    /cannot be used together/,
  );
  refused(() => readConfig({ durability: 'none' }, {}), /must be one of fsync, os, not none/);
  refused(() => readConfig({}, { ONCEMQ_HTTP: 'fast' }), /ONCEMQ_HTTP must be one of plain, node/);
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
    /^ONCEMQ_MEMORY must be one of true, false, 1, 0, not no/,
  );
  refused(() => readConfig({}, { ONCEMQ_MEMORY: '' }), /^ONCEMQ_MEMORY needs a value/);
});

test('the storage is chosen by the setting with the highest precedence', () => {
  const config = file({ memory: true });
  const inHere = { kind: 'data', directory: './here', durability: 'fsync', acceptsLoss: false };
  assert.deepEqual(readConfig({ config, data: './here' }, {}).storage, inHere);
  assert.deepEqual(readConfig({ data: './here' }, { ONCEMQ_MEMORY: 'true' }).storage, inHere);
  const kept = { ONCEMQ_DATA: './here', ONCEMQ_DURABILITY: 'os' };
  assert.deepEqual(readConfig({ memory: 'true' }, kept).storage, { kind: 'memory' });
});

test('a database and its standbys are one choice of storage', () => {
  const [one, other] = ['postgres://one/mq', 'postgresql://two/mq'];
  const { storage } = readConfig({ postgres: `${one},${other}` }, { ONCEMQ_MEMORY: 'true' });
  assert.deepEqual(storage, { kind: 'postgres', urls: [one, other], isListening: true });
  const polling = readConfig({ postgres: one, 'postgres-listen': 'off' }, {}).storage;
  assert.deepEqual(polling, { kind: 'postgres', urls: [one], isListening: false });
  assert.deepEqual(readConfig({ memory: 'true' }, { ONCEMQ_POSTGRES: one }).storage, {
    kind: 'memory',
  });
  const both = { postgres: one, data: './here' };
  refused(() => readConfig(both, {}), /^postgres and data cannot be used together: the database/);
  refused(() => readConfig({ postgres: one, memory: 'true' }, {}), /^memory and postgres cannot/);
  const alone = { 'postgres-listen': 'off' };
  refused(() => readConfig(alone, {}), /^postgres-listen has no effect without --postgres/);
  refused(() => readConfig({ postgres: 'one/mq' }, {}), /^postgres: one\/mq is not valid/);
});

test('an embedded database is below the data directory, which may be named, and stands alone', () => {
  const { storage } = readConfig({ postgres: 'embedded', data: '/srv/a b' }, {});
  assert.deepEqual(storage, {
    kind: 'postgres',
    urls: ['postgres:///postgres?host=/srv/a%20b/postgres&user=oncemq'],
    isListening: true,
    embedded: join('/srv/a b', 'postgres'),
  });
  const { storage: byDefault } = readConfig({ postgres: 'embedded' }, {});
  assert.ok(
    byDefault.kind === 'postgres' && byDefault.embedded === join('oncemq-data', 'postgres'),
  );
  const both = { postgres: 'embedded,postgres://one/mq' };
  refused(() => readConfig(both, {}), /^postgres: embedded stands alone, without URLs/);
  const os = { postgres: 'embedded', durability: 'os' };
  refused(() => readConfig(os, {}), /^postgres and durability cannot be used together/);
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
    { where: `${config}: queues[0]`, name: 'plain', attributes: {}, tags: {} },
    {
      where: `${config}: queues[1]`,
      name: 'orders.fifo',
      attributes: { VisibilityTimeout: '10', ContentBasedDeduplication: 'true' },
      tags: { team: 'parts' },
    },
    {
      where: `${config}: queues[2]`,
      name: 'jobs',
      attributes: { RedrivePolicy: '{"maxReceiveCount":3}' },
      tags: {},
    },
  ]);
});

test('an error in the file names the file and the place in it', () => {
  const named = (content: unknown, ...place: string[]): void => {
    const config = file(content);
    const starts = place.map((each) => `${config}: ${each}`);
    assert.throws(
      () => readConfig({ config }, {}),
      (error: Error) =>
        error instanceof ConfigError && starts.every((start) => error.message.includes(start)),
    );
  };
  named({ port: 70_000 }, 'port: 70000 is not valid');
  named({ publicUrl: 'x' }, 'publicUrl: x is not valid');
  named({ clock: 'fast' }, 'clock must be one of');
  named({ host: '' }, 'host needs a value');
  named({ log: {} }, 'log must be a string');
  named({ memory: true, data: 'here' }, 'memory and', 'data cannot be used together');
  named({ queues: [{ name: 'a', attributes: 5 }] }, 'queues[0].attributes must be an object');
  named({ queues: ['a', { name: 'b', tags: [] }] }, 'queues[1].tags must be an object');
  const subscriptions = [{ queue: 'a', attributes: null }];
  named({ topics: [{ name: 'a', subscriptions }] }, 'topics[0].subscriptions[0].attributes must');
  const keys = Array.from({ length: 1_001 }, (_, at) => ({
    accessKeyId: `A${at}`,
    secretAccessKey: 'x',
  }));
  named({ credentials: keys }, 'credentials[1000]: there can be at most 1000');
  const deep = `{"queues":[{"name":"a","tags":{"t":${'['.repeat(50_000)}${']'.repeat(50_000)}}}]}`;
  named(deep, 'queues[0].tags.t cannot be written as JSON');
});

test('a key named like a member of all objects is unknown, whatever its value', () => {
  for (const key of ['__proto__', 'constructor', 'toString']) {
    for (const value of ['"x"', '{"toString":1}', 'null']) {
      const config = file(`{"${key}":${value}}`);
      refused(() => readConfig({ config }, {}), /^There is no setting in /);
    }
  }
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
    { where: `${config}: topics[0]`, name: 'events', attributes: {}, tags: {}, subscriptions: [] },
    {
      where: `${config}: topics[1]`,
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
