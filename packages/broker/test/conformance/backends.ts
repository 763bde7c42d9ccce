/**
 * The backends that every test of this folder runs on. A new backend is an entry here and nothing else: how to open it, and
 * the tests that it cannot pass, by their titles and each with its reason.
 *
 * A backend may be several nodes that keep the same queues and topics. The fixture then sends every request to another node
 * than the one before, so no test may rely on what one process remembers.
 */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { manualClock } from '../../src/server/clock.ts';
import type { Backend } from '../../src/storage/backend.ts';
import { openDataBackend } from '../../src/storage/lmdb/open.ts';
import { openMemoryBackend } from '../../src/storage/memory/open.ts';
import { openPostgresBackend } from '../../src/storage/postgres/open.ts';
import type { EngineBackendOptions } from '../../src/storage/running/wiring.ts';
import { openLateBackend } from '../storage/late-backend.ts';
import { startPostgres, type TestDatabase } from '../support/postgres.ts';

/** When every test begins. */
export const startedAt = 1_700_000_000_000;

/** The clock is the backend's own: it stands still until `advance`, and all nodes share it. */
export type BackendOptions = Omit<EngineBackendOptions, 'clock'>;

export interface BackendUnderTest {
  readonly name: string;
  /** Why what it keeps ends with the process; undefined if it can be restarted. */
  readonly forgets?: string;
  /** The reason why it cannot pass a test, by the test's title. */
  readonly gaps: Readonly<Record<string, string>>;
  /** Opens one that is empty, at `startedAt`. */
  open(options: BackendOptions): Promise<OpenedBackend>;
}

export interface OpenedBackend {
  /** Every one of them serves every request; there is one at least. */
  readonly nodes: readonly Backend[];
  /** Moves the time of all nodes, and does what falls due on the way. */
  advance(milliseconds: number): Promise<number>;
  /** Closes all nodes and opens them again with what is kept. Not if the backend forgets. */
  restart(): Promise<void>;
  /** Removes everything it kept, too. */
  close(): Promise<void>;
}

/** Allocating a journal takes most of the time that opening takes, and tests keep little. */
const journalBytes = 1024 * 1024;

const endsWithTheProcess = 'memory ends with the process';

const keysOfItsOwn =
  'each node knows which bodies it accepted under a key, and not what others did';

/** What one process remembers of its own, and tells nobody. */
const gapsOfSeveralNodes: BackendUnderTest['gaps'] = {
  'the receive that has waited longest is served first':
    'each node serves the receivers that wait there in order, and knows of no others',
  'explaining an id names every suppressed send':
    'suppressed sends are remembered by the node that suppressed them',
  'a key with a second body is refused until the window of the queue is over': keysOfItsOwn,
  'a key counts for as long as the window of the queue is': keysOfItsOwn,
  'a key is refused within a batch and between concurrent sends, and not after a refused send':
    keysOfItsOwn,
  'a key belongs to its source and queue, and a deleted queue and a reset forget it': keysOfItsOwn,
  'observe: a key with a second body is sent and reported': keysOfItsOwn,
  'a key that a topic brings with another body is reported until the window is over': keysOfItsOwn,
  'a key that a topic brings raw with another body is reported until the window is over':
    keysOfItsOwn,
};

/** Started for the first test that asks. */
let database: Promise<TestDatabase> | undefined;

export const backends: readonly BackendUnderTest[] = [
  {
    name: 'memory',
    forgets: endsWithTheProcess,
    gaps: {},
    open: async (options) =>
      oneNode(openMemoryBackend({ ...options, clock: manualClock(startedAt) })),
  },
  {
    name: 'memory, answering later',
    forgets: endsWithTheProcess,
    gaps: {},
    open: async (options) =>
      oneNode(openLateBackend({ ...options, clock: manualClock(startedAt) })),
  },
  {
    name: 'lmdb',
    gaps: {},
    open: openLmdb,
  },
  {
    name: 'postgres, one node',
    gaps: {},
    open: (options) => openPostgres(1, options),
  },
  {
    name: 'postgres, three nodes',
    gaps: gapsOfSeveralNodes,
    open: (options) => openPostgres(3, options),
  },
];

function oneNode(backend: Backend): OpenedBackend {
  return {
    nodes: [backend],
    advance: (milliseconds) => backend.advance(milliseconds),
    restart: () => Promise.reject(new Error(endsWithTheProcess)),
    close: () => backend.close(),
  };
}

async function openPostgres(count: number, options: BackendOptions): Promise<OpenedBackend> {
  database ??= startPostgres();
  const { url, newSchema } = await database;
  const schema = newSchema();
  const open = (): Promise<Backend> =>
    openPostgresBackend({ ...options, clock: manualClock(startedAt) }, { urls: [url], schema });
  const openAll = (): Promise<Backend[]> => Promise.all(Array.from({ length: count }, open));
  let nodes = await openAll();
  const closeAll = async (): Promise<void> => {
    await Promise.all(nodes.map((node) => node.close()));
  };
  return {
    get nodes(): readonly Backend[] {
      return nodes;
    },
    advance: async (milliseconds) => {
      // What a node is about to do, such as a call of an endpoint, is known to that node alone.
      for (const node of nodes) await node.advance(0);
      const now = await (nodes[0] as Backend).advance(milliseconds);
      for (const node of nodes) await node.advance(0);
      return now;
    },
    restart: async () => {
      await closeAll();
      nodes = await openAll();
    },
    close: closeAll,
  };
}

async function openLmdb(options: BackendOptions): Promise<OpenedBackend> {
  const directory = mkdtempSync(join(tmpdir(), 'oncemq-test-'));
  // A second clock begins where the first did: that time goes on is up to what is kept.
  const open = (): Promise<Backend> =>
    openDataBackend({ ...options, clock: manualClock(startedAt) }, { directory, journalBytes });
  let backend = await open();
  return {
    get nodes(): readonly Backend[] {
      return [backend];
    },
    advance: (milliseconds) => backend.advance(milliseconds),
    restart: async () => {
      await backend.close();
      backend = await open();
    },
    close: async () => {
      await backend.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
