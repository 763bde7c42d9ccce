/**
 * Wires the rooms together: clock and ids, storage, api, listener. What comes out is a running server with its URL and
 * a way to stop it.
 */

import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createApi } from '../api/handler.ts';
import { createInspect } from '../api/inspect/inspect.ts';
import { errorText } from '../core/errors.ts';
import { relaxedLimits, strictLimits } from '../core/limits.ts';
import type { Backend } from '../storage/backend.ts';
import { openLocalBackend } from '../storage/local/local-backend.ts';
import { type Clock, manualClock, realClock, virtualClock } from './clock.ts';
import { type Config, ConfigError } from './config.ts';
import type { Contract } from './contract/contract-file.ts';
import { contractedBackend } from './contract/contracted-backend.ts';
import { recentViolations } from './contract/recent-violations.ts';
import { createListener } from './listener.ts';
import { createLog } from './log.ts';

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

export async function start(config: Config): Promise<Started> {
  const log = createLog(config.log);
  const contract = await contractOf(config);
  const kept = openLocalBackend({
    clock: clocks[config.clock](),
    region: config.region,
    account: config.account,
    limits: config.limits === 'relaxed' ? relaxedLimits : strictLimits,
    profile: config.profile,
  });
  const backend = contract === undefined ? kept : contractedBackend(kept, contract);
  const violations = contract === undefined ? undefined : recentViolations(backend);
  await createQueues(backend, config);
  const onError = (error: unknown): void => log.error('a request failed', error);
  const api = createApi({ backend, publicUrl: config.publicUrl, onError });
  const inspect = createInspect({ backend, version, clock: config.clock, violations });
  const listener = createListener(api, inspect, onError);
  const { port } = await listen(listener.server, config, onError);
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => {
    closing ??= Promise.all([listener.close(), backend.close()]).then(() => {});
    return closing;
  };
  const host = config.host.includes(':') ? `[${config.host}]` : config.host;
  const url = `http://${host}:${port}`;
  return { url, port, config, backend, close, [Symbol.asyncDispose]: close };
}

export const version: string = (
  JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as {
    version: string;
  }
).version;

/** Loaded when it is asked for: without a contract a server needs no JSON Schema. */
async function contractOf({ contract }: Config): Promise<Contract | undefined> {
  if (contract === undefined) return undefined;
  const { readContract } = await import('./contract/contract-file.ts');
  return readContract(contract);
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
