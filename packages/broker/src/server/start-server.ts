/**
 * Wires the layers together: clock, storage, api, telemetry, listener. The result is a running server with its URL and a
 * way to stop it.
 */

import type { AddressInfo } from 'node:net';
import { hostname } from 'node:os';
import type { ActionBackend } from '../api/actions/action.ts';
import { rejectionOf } from '../api/auth/admission.ts';
import type { Authentication } from '../api/auth/authentication.ts';
import { createApi } from '../api/handler.ts';
import { EventStream } from '../api/inspect/event-stream.ts';
import { createInspect } from '../api/inspect/inspect.ts';
import { relaxedLimits, strictLimits } from '../core/limits.ts';
import type { Judge } from '../core/topic/fan-out.ts';
import type { Backend, Commit } from '../storage/backend.ts';
import { openMemoryBackend } from '../storage/memory/open.ts';
import { type Clock, manualClock, realClock, virtualClock } from './clock.ts';
import { type Config, ConfigError } from './config/config.ts';
import { createQueues } from './config/queues-at-start.ts';
import { createTopics } from './config/topics-at-start.ts';
import type { Enforced } from './contract/contracted-backend.ts';
import { recentViolations } from './contract/recent-violations.ts';
import { EndpointAddresses } from './endpoint-addresses.ts';
import { createListener } from './http/listener.ts';
import type { Ledger } from './ledger/ledger.ts';
import { createLog, type Log } from './log.ts';
import { createPoster } from './poster.ts';
import { type CertifiedSigner, createSigner } from './signer.ts';
import { Counts } from './telemetry/counts.ts';
import { type Metrics, startMetrics } from './telemetry/metrics.ts';
import type { Tracing, TracingOptions } from './tracing/start-tracing.ts';
import { version } from './version.ts';

export interface Started {
  /** Where it listens: `http://HOST:PORT`. */
  readonly url: string;
  readonly port: number;
  readonly config: Config;
  readonly backend: Backend;
  /** Stops accepting connections, ends long polls empty, answers the requests in progress, then closes. */
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
  /** Called now and then while the kept records are read, with the number read so far. */
  readonly onProgress?: (records: number) => void;
  /** False turns metrics off; only benchmarks use it, to measure what counting costs. Default true. */
  readonly isCounting?: boolean;
  /** How long a client may leave an answer unread; only tests use it. Default 30 s. */
  readonly unreadMsMax?: number;
}

export async function start(config: Config, options: StartOptions = {}): Promise<Started> {
  const opened: Opened = [];
  try {
    return await startWith(config, options, opened);
  } catch (error) {
    await closeAll(opened);
    throw error;
  }
}

type PostgresStorage = Extract<Config['storage'], { readonly kind: 'postgres' }>;

/** How to close what was opened, in opening order. It is closed in reverse when the server stops or fails to start. */
type Opened = (() => Promise<unknown>)[];

async function closeAll(opened: Opened): Promise<void> {
  for (const close of opened.toReversed()) await close();
}

async function startWith(config: Config, options: StartOptions, opened: Opened): Promise<Started> {
  const log = createLog(config.log);
  const contract = await contractOf(config);
  const ledger = await ledgerOf(config, log);
  const counts = options.isCounting === false ? undefined : new Counts();
  const addresses =
    config.auth === 'off' ? undefined : new EndpointAddresses(config.allowedEndpoints);
  const backend = await openBackend(config, options, {
    log,
    counts,
    addresses,
    judge: contract?.judge,
    opened,
  });
  opened.push(() => backend.close().then(() => ledger?.close()));
  if (config.clock === 'real') tellLead(backend.now() - Date.now(), log);
  ledger?.follow(backend);
  const actionBackend = contract?.enforceOn(backend) ?? backend;
  if (counts !== undefined) backend.listen((event) => counts.events.note(event));
  await createQueues(backend, config.queues);
  await createTopics(backend, config.topics, config.publicUrl ?? urlOf(config, config.port));
  const onError = (error: unknown): void => log.error('a request failed', error);
  const authentication = await authenticationOf(config);
  const { tracing, metrics } = await telemetryOf(backend, config, {
    actionBackend,
    log,
    counts,
    opened,
  });
  const api = createApi({
    backend: actionBackend,
    backendFor: tracing?.backendFor,
    publicUrl: config.publicUrl,
    authentication,
    requests: counts?.requests,
    endpointProblemOf: addresses && ((url) => addresses.problemOf(url)),
    onError,
  });
  const events = new EventStream(backend, () => {
    counts?.closed('event-reader');
    log.info('a reader of /_oncemq/events was dropped, because it did not read');
  });
  const inspect = createInspect({
    backend,
    events,
    ledger: ledger?.state,
    version,
    clock: config.clock,
    certificate: signer.certificate,
    violations: config.contract === undefined ? undefined : recentViolations(backend),
  });
  const { publicUrl, host, allowedHosts, bodyBytesMax, http } = config;
  const listener = createListener(api, inspect, {
    http,
    onError,
    publicUrl,
    browserHosts: [host.includes(':') ? `[${host}]` : host, ...allowedHosts],
    metrics,
    bodyBytesMax,
    unreadMsMax: options.unreadMsMax,
    onClosed: counts && ((cause) => counts.closed(cause)),
    rejectionOf: authentication && ((request) => rejectionOf(request, authentication, publicUrl)),
  });
  const { port } = await listen(listener.server, config, onError);
  opened.push(() => {
    backend.endWaits();
    events.end();
    return listener.close();
  });
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => {
    closing ??= closeAll(opened);
    return closing;
  };
  const url = urlOf(config, port);
  return { url, port, config, backend, close, [Symbol.asyncDispose]: close };
}

/** Imported on demand: a server that checks no signatures does not load the code that computes them. */
async function authenticationOf({
  auth,
  credentials,
  region,
}: Config): Promise<Authentication | undefined> {
  if (auth === 'off') return undefined;
  const { createAuthentication } = await import('../api/auth/authentication.ts');
  return createAuthentication({ credentials, region, now: Date.now });
}

async function openBackend(
  config: Config,
  { onProgress }: StartOptions,
  {
    log,
    counts,
    addresses,
    judge,
    opened,
  }: {
    log: Log;
    counts: Counts | undefined;
    addresses: EndpointAddresses | undefined;
    judge: Judge | undefined;
    opened: Opened;
  },
): Promise<Backend> {
  const { storage } = config;
  const onAvailability = (reason: string | undefined, isFrozen: boolean): void => {
    if (reason === undefined) log.info('changes are accepted again');
    else if (isFrozen) log.error('changes are refused until they can be stored again', reason);
    else log.error('messages can be received and removed, but nothing can be added', reason);
  };
  const options = {
    clock: clocks[config.clock](),
    region: config.region,
    account: config.account,
    limits: config.limits === 'relaxed' ? relaxedLimits : strictLimits,
    profile: config.profile,
    onAvailability,
    onError: (error: unknown) => log.error('an event listener failed', error),
    onFailure: (error: unknown) => log.error('work that was due failed, and is put off', error),
    onUnreadable: (error: unknown) => log.error('a message cannot be read', error),
    onCommit: counts && ((commit: Commit) => counts.committed(commit)),
    arePoliciesEnforced: config.arePoliciesEnforced,
    signer,
    judge,
    poster: createPoster({ addresses, onRefused: (reason) => log.info(reason) }),
  };
  if (storage.kind === 'memory') return openMemoryBackend(options);
  if (storage.kind === 'postgres') {
    if (storage.embedded !== undefined) opened.push(await startEmbedded(storage, log));
    return openPostgres(storage, options, log, config);
  }
  // Imported on demand: in memory, LMDB's native code is not loaded.
  const { openDataBackend } = await import('../storage/lmdb/open.ts');
  return openDataBackend(options, {
    ...storage,
    ...(onProgress && { onProgress }),
    onNotice: (text) => log.info(text),
  });
}

/** Returns how to stop it. */
async function startEmbedded(
  { embedded = '', urls }: PostgresStorage,
  log: Log,
): Promise<() => Promise<void>> {
  const { startPrivatePostgres } = await import('./private-postgres.ts');
  const close = await startPrivatePostgres(embedded, (said) =>
    log.error('the embedded PostgreSQL has ended; start the server again', said),
  );
  log.info(
    `an embedded PostgreSQL runs in ${embedded}, for a first look; use a database of your own for anything that matters`,
  );
  log.info(`more servers can share it: oncemq serve --port 0 --postgres '${urls[0]}'`);
  return close;
}

/** Imported on demand: only servers over PostgreSQL load its driver. */
async function openPostgres(
  { urls, isListening }: PostgresStorage,
  options: Parameters<typeof openMemoryBackend>[0],
  log: Log,
  config: Config,
): Promise<Backend> {
  const { openPostgresBackend } = await import('../storage/postgres/open.ts');
  try {
    return await openPostgresBackend(options, {
      urls,
      isListening,
      settings: sharedSettings(config),
      version,
      name: nodeName(config),
      onNotice: (text) => log.info(text),
      onLost: (text) => log.error('messages may be missing', text),
    });
  } catch (cause) {
    throw new ConfigError(`The database cannot be used: ${(cause as Error).message}`, { cause });
  }
}

/** Under which people find it among others; a port that is not known yet tells nobody anything. */
function nodeName({ port }: Config): string {
  return `${hostname()}:${port === 0 ? `pid-${process.pid}` : port}`;
}

/** Servers of one database that differ in these would contradict each other. */
function sharedSettings({ account, profile, region }: Config): Readonly<Record<string, string>> {
  return { account, profile, region };
}

/** A smaller lead is what setting the machine's clock leaves now and then. */
const leadMsTold = 5_000;

/** Otherwise nobody would notice: the lead stays through every restart, because time never goes back. */
function tellLead(leadMs: number, log: Log): void {
  if (leadMs < leadMsTold) return;
  const seconds = Math.round(leadMs / 1000).toLocaleString('en-US');
  log.info(
    `the clock is ${seconds} s ahead of the machine's, because the stored data is: the machine's clock was once ahead, or the data was used with a virtual or manual clock`,
  );
}

function urlOf({ host }: Config, port: number): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** Imported on demand: without a contract the server does not load JSON Schema. */
async function contractOf({ contract }: Config): Promise<Enforced | undefined> {
  if (contract === undefined) return undefined;
  const { contractIn } = await import('./contract/contract-file.ts');
  const { enforced } = await import('./contract/contracted-backend.ts');
  return enforced(contractIn(contract));
}

async function ledgerOf({ ledger }: Config, log: Log): Promise<Ledger | undefined> {
  if (ledger === undefined) return undefined;
  const { openLedger } = await import('./ledger/ledger.ts');
  return openLedger({ ...ledger, version }, log);
}

/** On close both flush at the same time, so that stopping waits for a collector only once. */
async function telemetryOf(
  backend: Backend,
  config: Config,
  {
    actionBackend,
    log,
    counts,
    opened,
  }: {
    actionBackend: ActionBackend;
    log: Log;
    counts: Counts | undefined;
    opened: Opened;
  },
): Promise<{ tracing: Tracing | undefined; metrics: Metrics | undefined }> {
  let tracing: Tracing | undefined;
  let metrics: Metrics | undefined;
  opened.push(() => Promise.all([metrics?.close(), tracing?.close()]));
  tracing = await tracingOf({ backend, actionBackend, log }, config);
  metrics =
    counts && (await startMetrics({ counts, backend, exports: config.exports.metrics, log }));
  return { tracing, metrics };
}

/** Imported only if traces are exported. */
async function tracingOf(
  options: Omit<TracingOptions, 'traces'>,
  { exports: { traces } }: Config,
): Promise<Tracing | undefined> {
  if (traces === undefined) return undefined;
  const { startTracing } = await import('./tracing/start-tracing.ts');
  return startTracing({ ...options, traces });
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
          ? `port ${port} is already in use. Choose another with --port; --port 0 takes a free one`
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
