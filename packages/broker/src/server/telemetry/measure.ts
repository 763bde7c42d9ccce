/**
 * Collects all metrics: the counts, and what is looked up only on request, such as how many messages wait. The result is
 * plain values under the names of metric-list.ts; otel-metrics.ts encodes them.
 *
 * The counters of a queue or topic are present from the start with 0, so that their first increment is visible. Only
 * violations, of which there are many kinds, appear once they happen.
 */

import type { Backend } from '../../storage/backend.ts';
import { otherName } from './bounded-series.ts';
import type { Counts } from './counts.ts';
import type { BySource, QueueCounts, WindowCounts } from './event-counts.ts';
import type { Measured, Point } from './measured.ts';
import { topicsLeft } from './names.ts';
import { queueGauges } from './queue-gauges.ts';

export async function measure(counts: Counts, backend: Backend): Promise<Measured[]> {
  const gauges = await queueGauges(counts, backend);
  const { topics } = counts.events;
  if (topics.isFull) topics.makeRoom(await topicsLeft(backend, topics.names()));
  return [
    ...eventPoints(counts),
    ...gauges,
    ...requestPoints(counts),
    ...connectionPoints(counts),
    ...storePoints(counts, backend),
    ...clusterPoints(counts, backend),
    ...processPoints(counts),
  ];
}

/** Only FIFO queues and topics have a deduplication window. */
function hasWindow([name]: readonly [string, unknown]): boolean {
  return name.endsWith('.fifo') || name === otherName;
}

function eventPoints({ events }: Counts): Measured[] {
  const queues = [...events.queues.entries()];
  const topics = [...events.topics.entries()];
  const perWindow = (read: (counts: WindowCounts) => BySource): Point<number>[] => [
    ...queues
      .filter(hasWindow)
      .flatMap(([queue, { window, since: from }]) =>
        parts({ queue }, 'source', Object.entries(read(window)), from),
      ),
    ...topics
      .filter(hasWindow)
      .flatMap(([topic, { window, since: from }]) =>
        parts({ topic }, 'source', Object.entries(read(window)), from),
      ),
  ];
  const perQueue = (read: (counts: QueueCounts) => number): Point<number>[] =>
    queues.map(([queue, each]) => ({
      attributes: { queue },
      value: read(each),
      since: each.since,
    }));
  return [
    {
      name: 'sqs_fifo.dedupe.collisions_detected',
      points: perWindow(({ collisions }) => collisions),
    },
    {
      name: 'sqs_fifo.producer.violations',
      points: [
        ...queues.flatMap(([queue, each]) =>
          parts({ queue }, 'reason', each.violations, each.since),
        ),
        ...topics.flatMap(([topic, each]) =>
          parts({ topic }, 'reason', each.violations, each.since),
        ),
      ],
    },
    {
      name: 'sqs_fifo.body_hash.length_bytes',
      points: queues.flatMap(([queue, each]) =>
        parts({ queue }, 'source', each.bodyLengths, each.since),
      ),
    },
    {
      name: 'sqs_fifo.dedupe_window_hits',
      points: perWindow(({ hits }) => hits),
    },
    { name: 'oncemq.messages.sent', points: perQueue(({ sent }) => sent) },
    { name: 'oncemq.messages.delivered', points: perQueue(({ delivered }) => delivered) },
    { name: 'oncemq.messages.deleted', points: perQueue(({ deleted }) => deleted) },
    { name: 'oncemq.messages.expired', points: perQueue(({ expired }) => expired) },
    { name: 'oncemq.messages.dead_lettered', points: perQueue((each) => each.deadLettered) },
    { name: 'oncemq.messages.moved', points: perQueue(({ moved }) => moved) },
    { name: 'oncemq.messages.purged', points: perQueue(({ purged }) => purged) },
    {
      name: 'oncemq.topic.publications',
      points: topics.flatMap(([topic, each]) =>
        parts({ topic }, 'outcome', Object.entries(each.publications), each.since),
      ),
    },
    {
      name: 'oncemq.topic.deliveries',
      points: topics.flatMap(([topic, each]) =>
        parts({ topic }, 'outcome', Object.entries(each.deliveries), each.since),
      ),
    },
  ];
}

function requestPoints({ requests, since }: Counts): Measured[] {
  const all = [...requests.all()];
  return [
    {
      name: 'oncemq.requests',
      points: all.flatMap(({ service, action, carriedOut, failed }) =>
        parts({ service, action }, 'code', [['OK', carriedOut], ...failed], since),
      ),
    },
    {
      name: 'oncemq.request.duration',
      points: all.map(({ service, action, seconds }) => ({
        attributes: { service, action },
        value: seconds,
        since,
      })),
    },
  ];
}

function connectionPoints({ closedConnections, since }: Counts): Measured[] {
  const points = parts({}, 'cause', Object.entries(closedConnections), since);
  return [{ name: 'oncemq.connections.closed', points }];
}

function storePoints({ commits, since }: Counts, backend: Backend): Measured[] {
  const { waitingReceives, storeBytes } = backend.usage();
  const isAvailable = backend.unavailable() === undefined;
  const measured: Measured[] = [
    { name: 'oncemq.long_polls', points: alone(waitingReceives, since) },
    { name: 'oncemq.store.available', points: alone(isAvailable ? 1 : 0, since) },
    { name: 'oncemq.store.lost_commits', points: alone(backend.losses().count, since) },
  ];
  if (storeBytes !== undefined) {
    measured.push({ name: 'oncemq.store.size', points: alone(storeBytes, since) });
  }
  if (backend.kind === 'memory') return measured;
  return [
    ...measured,
    { name: 'oncemq.commit.duration', points: alone(commits.seconds, since) },
    { name: 'oncemq.commit.records', points: alone(commits.records, since) },
    { name: 'oncemq.commit.size', points: alone(commits.bytes, since) },
  ];
}

function clusterPoints({ lockSeconds, since }: Counts, backend: Backend): Measured[] {
  const cluster = backend.cluster();
  if (cluster === undefined) return [];
  const { nodes, journal, absorbedChanges, skippedLocks, loadedOwners } = cluster;
  const running = nodes.filter(({ isRunning }) => isRunning).length;
  const measured: Measured[] = [
    { name: 'oncemq.lock.duration', points: alone(lockSeconds, since) },
    { name: 'oncemq.lock.skipped', points: alone(skippedLocks, since) },
    { name: 'oncemq.cluster.nodes', points: alone(running, since) },
    { name: 'oncemq.cluster.absorbed_changes', points: alone(absorbedChanges, since) },
    { name: 'oncemq.cluster.loaded_owners', points: alone(loadedOwners, since) },
  ];
  if (journal === undefined) return measured;
  return [
    ...measured,
    { name: 'oncemq.journal.rows', points: alone(journal.rows, since) },
    { name: 'oncemq.journal.size', points: alone(journal.bytes, since) },
    { name: 'oncemq.journal.pending_rows', points: alone(journal.pendingRows, since) },
    { name: 'oncemq.journal.lag', points: alone(journal.lagMs / 1000, since) },
  ];
}

function processPoints({ since }: Counts): Measured[] {
  const { user, system } = process.cpuUsage();
  const { active, idle } = performance.eventLoopUtilization();
  const modes: [string, number][] = [
    ['user', user / 1e6],
    ['system', system / 1e6],
  ];
  const states: [string, number][] = [
    ['active', active / 1000],
    ['idle', idle / 1000],
  ];
  return [
    { name: 'process.cpu.time', points: parts({}, 'mode', modes, since) },
    { name: 'process.memory.usage', points: alone(process.memoryUsage.rss(), since) },
    { name: 'nodejs.eventloop.time', points: parts({}, 'state', states, since) },
  ];
}

/** One series for each value of the attribute. */
function parts<Value>(
  attributes: Readonly<Record<string, string>>,
  name: string,
  values: Iterable<readonly [string, Value]>,
  since: number,
): Point<Value>[] {
  const points: Point<Value>[] = [];
  for (const [part, value] of values) {
    points.push({ attributes: { ...attributes, [name]: part }, value, since });
  }
  return points;
}

function alone<Value>(value: Value, since: number): Point<Value>[] {
  return [{ attributes: {}, value, since }];
}
