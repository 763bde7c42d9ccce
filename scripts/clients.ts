// The AWS clients that are not npm packages: boto3 and the AWS CLI, each in an old version that speaks
// Query and in a new one that speaks JSON, and the SDKs of other languages, each with a file of its own.
// The tests in packages/broker/test/sdk drive them all.
//
//   npm run clients               installs what is missing, and prints one line about each
//   clients.js --find boto3       for the tests: prints what is available as JSON, and installs nothing
//
// Which wire form a Python client speaks is found out by letting it call a server that inspects the
// request. So whatever is already on the machine will do, in any version and from any source.
//
// New versions come from pip, into the folder .clients; old ones from Debian, or from pip if apt-get cannot
// be used. Every step has a timeout and may fail; the run then says why, and goes on.

import { once } from 'node:events';
import { existsSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { installWithApt } from './apt-get.ts';
import type { Found, OtherClient, Program, Wire } from './client-program.ts';
import { goClient } from './go-client.ts';
import { refusalToInstall } from './installs.ts';
import { javaClient } from './java-client.ts';
import { run } from './run-command.ts';

interface Client {
  /** The commands that may start it, best first. */
  readonly commands: readonly (readonly string[])[];
  /** Arguments that make it send one request to the URL. */
  request(url: string): string[];
}

interface Source {
  readonly name: string;
  readonly wire: Wire;
  /** Resolves to why it did not work, or to undefined. */
  install(): Promise<string | undefined>;
}

const probeMsMax = 20_000;
const pipMsMax = 180_000;
const why = 'tests drive the server with boto3 and the AWS CLI';

/** The folders of pip's packages, one per wire form, because two versions of a package need two folders. */
const pipFolders: Readonly<Record<Wire, string>> = {
  json: fileURLToPath(new URL('../../.clients/json', import.meta.url)),
  query: fileURLToPath(new URL('../../.clients/query', import.meta.url)),
};

const clients: Readonly<Record<string, Client>> = {
  boto3: {
    // Debian's packages belong to Debian's Python, which may not be the one in the path.
    commands: [['python3'], ['/usr/bin/python3']],
    request: (url) => [
      '-c',
      `import boto3; boto3.client('sqs', endpoint_url='${url}').list_queues()`,
    ],
  },
  awscli: {
    commands: [['python3', '-m', 'awscli'], ['aws'], ['/usr/bin/aws']],
    request: (url) => ['sqs', 'list-queues', '--endpoint-url', url],
  },
};

/** In the order in which they are tried, until all clients of their wire form are available. */
const sources: readonly Source[] = [
  { name: 'pip', wire: 'json', install: () => installWithPip('json', ['boto3', 'awscli']) },
  {
    name: 'apt-get',
    wire: 'query',
    install: () => installWithApt(['python3-boto3', 'awscli'], why),
  },
  // The last versions that speak Query are of October 2023.
  {
    name: 'pip',
    wire: 'query',
    install: () => installWithPip('query', ['boto3==1.28.70', 'awscli==1.29.70']),
  },
];

const otherClients: readonly OtherClient[] = [goClient, javaClient];

const [option, clientName] = process.argv.slice(2);
if (option === '--find') {
  const other = otherClients.find(({ name }) => name === clientName);
  const client = clients[clientName ?? ''];
  const found = client === undefined ? await other?.find() : await find(client);
  if (found === undefined) {
    const names = [...Object.keys(clients), ...otherClients.map(({ name }) => name)];
    throw new Error(`--find must be one of ${names}.`);
  }
  console.log(JSON.stringify(found));
} else {
  await findOrInstall();
  for (const other of otherClients) await findOrInstallOther(other);
}

async function findOrInstall(): Promise<void> {
  const before = await findAll();
  const notes: Record<Wire, string[]> = { json: [], query: [] };
  let now = before;
  for (const { name, wire, install } of sources) {
    if (Object.values(now).every((found) => found[wire] !== undefined)) continue;
    const failure = await install();
    notes[wire].push(`${name}: ${failure ?? 'installed, but it uses the other wire form'}`);
    now = await findAll();
  }
  for (const [client, found] of Object.entries(now)) tell(client, before[client], found, notes);
}

async function findOrInstallOther({ name, find, install }: OtherClient): Promise<void> {
  const before = await find();
  const isWhole = before.query !== undefined && before.json !== undefined;
  const failure = isWhole ? undefined : await install();
  const note = [failure ?? 'installed, but not found'];
  tell(name, before, await find(), { query: note, json: note });
}

/** One line for each wire form. */
function tell(
  name: string,
  before: Found | undefined,
  now: Found,
  notes: Readonly<Record<Wire, readonly string[]>>,
): void {
  for (const wire of ['query', 'json'] as const) {
    const program = now[wire];
    const state = before?.[wire] === undefined ? 'installed' : 'present';
    const text = program
      ? `${state}: ${program.command.join(' ')} ${program.env['PYTHONPATH'] ?? ''}`.trimEnd()
      : `not available: ${notes[wire].join('; ')}`;
    console.log(`${name} (${wire}): ${text}`);
  }
}

async function findAll(): Promise<Record<string, Found>> {
  const found: Record<string, Found> = {};
  for (const [name, client] of Object.entries(clients)) found[name] = await find(client);
  return found;
}

/** Probes all candidates in parallel; of two that speak the same wire form, the better one counts. */
async function find({ commands, request }: Client): Promise<Found> {
  const places = commands.flatMap(programs);
  const wires = await Promise.all(places.map((program) => wireOf(program, request)));
  const found: Found = {};
  for (const [index, wire] of wires.entries()) {
    if (wire !== undefined) found[wire] ??= places[index] as Program;
  }
  return found;
}

/** The command as it is; before that, if it is pip's Python, the command with each of pip's folders. */
function programs(command: readonly string[]): Program[] {
  const folders = command[0] === 'python3' ? Object.values(pipFolders).filter(existsSync) : [];
  return [...folders.map((folder) => ({ PYTHONPATH: folder })), {}].map((env) => ({
    command,
    env,
  }));
}

/** Lets the client make one request and inspects it; undefined if none arrives. */
async function wireOf(
  { command, env }: Program,
  request: Client['request'],
): Promise<Wire | undefined> {
  let wire: Wire | undefined;
  const server = createServer(({ headers }, response) => {
    wire = headers['x-amz-target'] === undefined ? 'query' : 'json';
    // No client retries after a 400.
    response.writeHead(400, { Connection: 'close' }).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const settings = {
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
    AWS_DEFAULT_REGION: 'us-east-1',
    AWS_EC2_METADATA_DISABLED: 'true',
    AWS_CONFIG_FILE: 'none',
    AWS_SHARED_CREDENTIALS_FILE: 'none',
    ...env,
  };
  await run([...command, ...request(`http://127.0.0.1:${port}`)], settings, probeMsMax);
  server.close();
  return wire;
}

async function installWithPip(
  wire: Wire,
  packages: readonly string[],
): Promise<string | undefined> {
  const folder = pipFolders[wire];
  const refusal = refusalToInstall({ what: packages.join(' and '), where: `${folder} (pip)`, why });
  if (refusal !== undefined) return refusal;
  rmSync(folder, { recursive: true, force: true });
  const options = ['--quiet', '--disable-pip-version-check', '--no-input', '--target', folder];
  const pip = ['python3', '-m', 'pip', 'install', ...options, ...packages];
  const { ok, complaint } = await run(pip, {}, pipMsMax);
  return ok ? undefined : complaint;
}
