/**
 * Opens the backend of one of many equal nodes over a PostgreSQL database: brings the tables up to date, loads the list of
 * queues and topics, and starts what a node does in the background.
 */

import type { Backend } from '../backend.ts';
import { EngineBackend } from '../engine-backend.ts';
import type { EngineBackendOptions } from '../running/wiring.ts';
import { joinAgreed } from './agreement.ts';
import { Background } from './background.ts';
import { Connection } from './connection.ts';
import { ContentCache } from './content-cache.ts';
import { heldBy } from './held.ts';
import { JournalLook } from './journal-look.ts';
import { latestFormat } from './journal-row.ts';
import { Nodes } from './nodes.ts';
import { Notifications } from './notifications.ts';
import { PostgresJournal } from './postgres-journal.ts';
import { PostgresStore } from './postgres-store.ts';
import { PostgresWriter } from './postgres-writer.ts';
import { carelessness, prepareTables } from './requirements.ts';
import { defaultSchema, refuseUnfinishedCopy } from './schema.ts';
import { SharedClock } from './shared-clock.ts';
import { clearedBy, dueBy, noteDue } from './statements.ts';

export interface PostgresOptions {
  /** Where the database is; several for one that fails over, of which the one that can be written to is taken. */
  readonly urls: readonly string[];
  /** The schema that has the tables; default oncemq. */
  readonly schema?: string | undefined;
  /** How often versions are looked up for receivers that wait, should nobody tell of them. Default 900 ms. */
  readonly pollMs?: number | undefined;
  /** Whether the database tells of versions, too; default true. */
  readonly isListening?: boolean;
  /** How long the database may take for an answer, and a request may wait for it; default 10 s. */
  readonly answerMs?: number | undefined;
  /** Flags beside that of the clock which all servers must have in common. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Of this program, as other nodes and people are told. */
  readonly version?: string;
  readonly name?: string;
  /** How long an owner stays in memory that nobody uses; default 5 min. */
  readonly unusedMs?: number;
  /** The latest format of journal rows that this node reads; default: the one of this version. */
  readonly reads?: number;
  /** Told when the database no longer has what was committed, as after a failover to a standby that was behind. */
  readonly onLost?: (text: string) => void;
  /** Told what was done about the tables before they could be used, and what the database does not promise. */
  readonly onNotice?: (text: string) => void;
}

const cacheBytesMax = 64 * 1024 * 1024;

export async function openPostgresBackend(
  options: EngineBackendOptions,
  {
    urls,
    schema = defaultSchema,
    pollMs = 900,
    isListening = true,
    answerMs,
    settings = {},
    version = 'unknown',
    name,
    unusedMs,
    reads = latestFormat,
    onNotice = () => {},
    onLost = () => {},
  }: PostgresOptions,
): Promise<Backend> {
  const { clock } = options;
  const connection = (use: string, onNotification = (_: string): void => {}): Connection =>
    new Connection(urls, `oncemq ${use}`, { onNotification, answerMs });
  const writing = connection('writer');
  const reading = connection('reader');
  const listening = connection('listener', (payload) => notifications.heard(payload));
  const maintaining = connection('maintenance');
  const loading = connection('loader');
  const connections = [writing, reading, listening, maintaining, loading];
  // What falls due is looked for when whatever found out is done with it.
  const onMoved = (): void => void setImmediate(() => writer.timeMoved());
  const sharedClock =
    clock.kind === 'real' ? undefined : new SharedClock(clock, schema, reading, onMoved);
  const journal = new PostgresJournal({
    schema,
    writing,
    reading,
    loading,
    onTry: () => Promise.all(connections.map((each) => each.discard())),
    sharedTime: sharedClock && ((kept) => sharedClock.timeOf(kept)),
  });
  const cache = new ContentCache(cacheBytesMax);
  const store = new PostgresStore({
    schema,
    reading,
    cache,
    numberOf: (owner) => writer.replica.get(owner)?.number,
    reads,
  });
  const nodes = new Nodes({
    schema,
    connection: reading,
    version,
    name,
    reads,
    onFailure: (error) => writer.lose(error),
  });
  const look = new JournalLook({
    schema,
    connection: reading,
    reads,
    now: (databaseNow) => (clock.kind === 'real' ? databaseNow : clock.now()),
  });
  const notifications: Notifications = new Notifications({
    schema,
    listening,
    telling: reading,
    pollMs,
    isListening,
    onNews: (numbers) => writer.hear(numbers),
    // Looked at again with the next poll.
    onTime: () => void sharedClock?.read().catch(() => {}),
  });
  let writer!: PostgresWriter;
  let background: Background | undefined;
  const close = async (): Promise<void> => {
    await background?.close();
    await look.close();
    await notifications.close();
    await nodes.leave();
    await Promise.all(connections.map((connection) => connection.close()));
  };
  try {
    const applied = await prepareTables(writing, schema);
    for (const name of applied) onNotice(`the tables were brought up to date: ${name}`);
    const careless = await carelessness(writing);
    if (careless !== undefined) onNotice(careless);
    await refuseUnfinishedCopy(writing, schema);
    const shared = { clock: clock.kind, ...settings };
    await joinAgreed({ connection: writing, schema, settings: shared }, () => nodes.join());
    await sharedClock?.keep(0);
    const backend = new EngineBackend(options, ({ newEngine, ids, user }) => {
      writer = new PostgresWriter({
        newEngine,
        ids,
        user,
        clock,
        journal,
        store: () => store,
        cache,
        notify: (numbers) => notifications.tell(numbers),
        noteWaiting: (owner, until) => notifications.await(owner, clock.now(), until),
        keepTime:
          sharedClock &&
          ((movedMs) => sharedClock.keep(movedMs).then(() => notifications.tellTime())),
        readTime: sharedClock && (() => sharedClock.read()),
        formats: { reads, writes: () => nodes.writes },
        dueBy: (time) => dueBy(reading, schema, time),
        noteDue: (owners) => noteDue(maintaining, schema, owners),
        held: (queues, now) => heldBy(reading, schema, queues, now),
        onLost,
        waitMs: answerMs,
        cluster: () => ({ node: nodes.id, nodes: nodes.seen, journal: look.state }),
        clear: () => clearedBy(reading, schema),
        close,
      });
      return { writer, store };
    });
    await backend.load();
    await notifications.start();
    background = new Background({
      schema,
      connection: maintaining,
      writer,
      clock,
      reads,
      unusedMs,
    });
    background.start();
    look.start();
    return backend;
  } catch (error) {
    await close();
    throw error;
  }
}
