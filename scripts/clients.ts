// The AWS clients that are not npm packages: boto3 and the AWS CLI, each in an old version that speaks
// Query and in a new one that speaks JSON. The tests in packages/broker/test/sdk drive all four.
//
//   npm run clients               installs what is missing, and prints one line about each
//   clients.js --find boto3       for the tests: prints what is available as JSON, and installs nothing
//
// Which wire form a client speaks is found out by letting it call a server that inspects the request. So
// whatever is already on the machine will do, in any version and from any source.
//
// New versions come from pip, into the folder .clients; old ones from Debian, or from pip if apt-get cannot
// be used. Every step has a timeout and may fail; the run then says why, and goes on.

import { once } from 'node:events';
import { existsSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { run } from './run-command.ts';

type Wire = 'query' | 'json';

/** How to start a client: the command, and additional environment variables. */
interface Program {
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

type Found = Partial<Record<Wire, Program>>;

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
const aptMsMax = 240_000;

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
  { name: 'apt-get', wire: 'query', install: installWithApt },
  // The last versions that speak Query date from October 2023.
  {
    name: 'pip',
    wire: 'query',
    install: () => installWithPip('query', ['boto3==1.28.70', 'awscli==1.29.70']),
  },
];

const [option, clientName] = process.argv.slice(2);
if (option === '--find') {
  const client = clients[clientName ?? ''];
  if (client === undefined) throw new Error(`--find takes one of ${Object.keys(clients)}.`);
  console.log(JSON.stringify(await find(client)));
} else {
  await findOrInstall();
}

async function findOrInstall(): Promise<void> {
  const before = await findAll();
  const notes: Record<Wire, string[]> = { json: [], query: [] };
  let now = before;
  for (const { name, wire, install } of sources) {
    if (Object.values(now).every((found) => found[wire] !== undefined)) continue;
    const failure = await install();
    notes[wire].push(`${name}: ${failure ?? 'installed, but it speaks another wire form'}`);
    now = await findAll();
  }
  for (const [client, found] of Object.entries(now)) {
    for (const wire of ['query', 'json'] as const) {
      const program = found[wire];
      const state = before[client]?.[wire] === undefined ? 'installed' : 'present';
      const text = program
        ? `${state}: ${program.command.join(' ')} ${program.env['PYTHONPATH'] ?? ''}`.trimEnd()
        : `not to be had: ${notes[wire].join('; ')}`;
      console.log(`${client} (${wire}): ${text}`);
    }
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
  rmSync(folder, { recursive: true, force: true });
  const options = ['--quiet', '--disable-pip-version-check', '--no-input', '--target', folder];
  const pip = ['python3', '-m', 'pip', 'install', ...options, ...packages];
  const { ok, complaint } = await run(pip, {}, pipMsMax);
  return ok ? undefined : complaint;
}

async function installWithApt(): Promise<string | undefined> {
  if (process.getuid?.() !== 0) return 'needs root';
  const quiet = { DEBIAN_FRONTEND: 'noninteractive' };
  const apt = ['apt-get', '-qq', '-o', 'DPkg::Lock::Timeout=60'];
  // Even if the update fails, the existing package lists may be good enough.
  await run([...apt, 'update'], quiet, aptMsMax);
  const install = [...apt, 'install', '-y', '--no-install-recommends', 'python3-boto3', 'awscli'];
  const { ok, complaint } = await run(install, quiet, aptMsMax);
  return ok ? undefined : complaint;
}
