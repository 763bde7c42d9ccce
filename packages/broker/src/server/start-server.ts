/**
 * Wires the rooms together: clock and ids, storage, api, listener. What comes out is a running server with its URL and
 * a way to stop it.
 */

import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createApi } from '../api/handler.ts';
import { EventStream } from '../api/inspect/event-stream.ts';
import { createInspect } from '../api/inspect/inspect.ts';
import { errorText } from '../core/errors.ts';
import { relaxedLimits, strictLimits } from '../core/limits.ts';
import type { Backend } from '../storage/backend.ts';
import { openDataBackend, openMemoryBackend } from '../storage/local/local-backend.ts';
import { type Clock, manualClock, realClock, virtualClock } from './clock.ts';
import { type Config, ConfigError } from './config.ts';
import type { Contract } from './contract/contract-file.ts';
import { contractedBackend } from './contract/contracted-backend.ts';
import { recentViolations } from './contract/recent-violations.ts';
import type { Ledger } from './ledger/ledger.ts';
import { createListener } from './listener.ts';
import { createLog, type Log } from './log.ts';
import { post } from './poster.ts';
import { type CertifiedSigner, createSigner } from './signer.ts';
import { createTopics } from './topics-at-start.ts';

export interface Started {
  /** Where it listens: `http://HOST:PORT`. */
  readonly url: string;
  readonly port: number;
  readonly config: Config;
  readonly backend: Backend;
  /** Stops accepting, ends long polls empty, answers what is under way, closes. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

const clocks: Readonly<Record<Config['clock'], () => Clock>> = {
  real: realClock,
  virtual: virtualClock,
  manual: manualClock,
};

const signer: CertifiedSigner = createSigner();

export interface StartOptions {
  /** Told now and then while kept records are read, with their number so far. */
  readonly onProgress?: (records: number) => void;
}

export async function start(config: Config, options: StartOptions = {}): Promise<Started> {
  const log = createLog(config.log);
  const contract = await contractOf(config);
  const ledger = await ledgerOf(config, log);
  const kept = await openBackend(config, options, log);
  ledger?.follow(kept);
  const backend = contract === undefined ? kept : contractedBackend(kept, contract);
  try {
    return await serveFrom(backend, config, log, ledger);
  } catch (error) {
    await backend.close();
    await ledger?.close();
    throw error;
  }
}

async function serveFrom(
  backend: Backend,
  config: Config,
  log: Log,
  ledger: Ledger | undefined,
): Promise<Started> {
  await createQueues(backend, config);
  await createTopics(backend, config.topics, config.publicUrl ?? urlOf(config, config.port));
  const onError = (error: unknown): void => log.error('a request failed', error);
  const api = createApi({ backend, publicUrl: config.publicUrl, onError });
  const events = new EventStream(backend);
  const inspect = createInspect({
    backend,
    events,
    ledger: ledger?.state,
    version,
    clock: config.clock,
    certificate: signer.certificate,
    violations: config.contract === undefined ? undefined : recentViolations(backend),
  });
  const listener = createListener(api, inspect, { onError, publicUrl: config.publicUrl });
  const { port } = await listen(listener.server, config, onError);
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => {
    backend.endWaits();
    events.end();
    closing ??= listener
      .close()
      .then(() => backend.close())
      .then(() => ledger?.close());
    return closing;
  };
  const url = urlOf(config, port);
  return { url, port, config, backend, close, [Symbol.asyncDispose]: close };
}

function openBackend(
  config: Config,
  { onProgress }: StartOptions,
  log: Log,
): Promise<Backend> | Backend {
  const { storage } = config;
  const onAvailability = (reason: string | undefined): void => {
    if (reason === undefined) log.info('changes are kept again');
    else log.error('changes are refused until they can be kept', reason);
  };
  const options = {
    clock: clocks[config.clock](),
    region: config.region,
    account: config.account,
    limits: config.limits === 'relaxed' ? relaxedLimits : strictLimits,
    profile: config.profile,
    onAvailability,
    arePoliciesEnforced: config.arePoliciesEnforced,
    signer,
    poster: post,
  };
  return storage.kind === 'memory'
    ? openMemoryBackend(options)
    : openDataBackend(options, { ...storage, ...(onProgress && { onProgress }) });
}

export const version: string = (
  JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as {
    version: string;
  }
).version;

function urlOf({ host }: Config, port: number): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** Loaded when it is asked for: without a contract a server needs no JSON Schema. */
async function contractOf({ contract }: Config): Promise<Contract | undefined> {
  if (contract === undefined) return undefined;
  const { readContract } = await import('./contract/contract-file.ts');
  return readContract(contract);
}

async function ledgerOf({ ledger }: Config, log: Log): Promise<Ledger | undefined> {
  if (ledger === undefined) return undefined;
  const { openLedger } = await import('./ledger/ledger.ts');
  return openLedger({ ...ledger, version }, log);
}

async function createQueues(backend: Backend, { queues }: Config): Promise<void> {
  for (const { name, attributes, tags } of queues) {
    const isFifo = name.endsWith('.fifo');
    const outcome = await backend.run({
      type: 'create-queue',
      queue: name,
      attributes: isFifo ? { FifoQueue: 'true', ...attributes } : attributes,
      tags,
    });
    if (!outcome.ok) {
      throw new ConfigError(`The queue ${name} cannot be created: ${errorText(outcome)}`);
    }
  }
}

function listen(
  server: ReturnType<typeof createListener>['server'],
  { host, port }: Config,
  onError: (error: unknown) => void,
): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      const reason =
        cause.code === 'EADDRINUSE'
          ? `port ${port} is taken; choose another with --port, or --port 0 for a free one`
          : cause.message;
      reject(new ConfigError(`Cannot listen on ${host}:${port}: ${reason}.`, { cause }));
    });
    server.listen(port, host, () => {
      server.removeAllListeners('error');
      server.on('error', onError);
      resolve(server.address() as AddressInfo);
    });
  });
}
