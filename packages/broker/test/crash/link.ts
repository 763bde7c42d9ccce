/**
 * The network between one node and one database: a proxy that passes everything on, until it is told to be worse. It knows
 * enough of PostgreSQL's protocol to tell a COMMIT from other bytes, in both directions, so that it can delay one, cut the
 * connection before the database has it, or cut it before the node has the answer.
 *
 * Like a network, it delivers what it has delayed even if the sender has gone meanwhile.
 */

import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** What happens to the next COMMIT of any connection; `lie`: it is rolled back, and the node is told that it was committed. */
export type CommitFault = 'cut before' | 'cut after' | 'delay' | 'lie';

export class Link {
  readonly #server: Server;
  readonly #port: number;
  readonly #pairs: Set<Pair> = new Set();
  #isDown = false;
  #isStalled = false;
  /** For the next COMMIT, and how long one is delayed. */
  #fault:
    | { readonly kind: CommitFault; readonly delayMs: number; readonly done: () => void }
    | undefined;
  #locked: (() => void)[] = [];

  private constructor(port: number) {
    this.#port = port;
    this.#server = createServer({ pauseOnConnect: true }, (node) => this.#accept(node));
  }

  static async to(port: number): Promise<Link> {
    const link = new Link(port);
    link.#server.listen(0, '127.0.0.1');
    await once(link.#server, 'listening');
    return link;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Breaks every connection. */
  cut(): void {
    for (const pair of this.#pairs) pair.end();
  }

  /** Breaks every connection, and lets no new one come, until it is up again. */
  down(): void {
    this.#isDown = true;
    this.cut();
  }

  up(): void {
    this.#isDown = false;
  }

  /** Nothing breaks and nothing moves, until it flows again. */
  stall(): void {
    this.#isStalled = true;
    for (const pair of this.#pairs) pair.pause();
  }

  flow(): void {
    this.#isStalled = false;
    for (const pair of this.#pairs) pair.resume();
  }

  /** Resolves when the next COMMIT has met this fault. */
  atCommit(kind: CommitFault, delayMs = 0): Promise<void> {
    return new Promise((done) => {
      this.#fault = { kind, delayMs, done };
    });
  }

  /** No fault waits for a COMMIT any more. */
  calm(): void {
    this.#fault = undefined;
  }

  /** Resolves when the node has asked for locks: the database is about to give them. */
  nextLock(): Promise<void> {
    return new Promise((resolve) => {
      this.#locked.push(resolve);
    });
  }

  async close(): Promise<void> {
    this.down();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #accept(node: Socket): void {
    if (this.#isDown) {
      node.destroy();
      return;
    }
    const pair = new Pair(node, connect(this.#port, '127.0.0.1'), {
      asked: (bytes) => {
        if (!bytes.includes('FOR UPDATE')) return;
        for (const tell of this.#locked.splice(0)) tell();
      },
      fault: (bytes) => {
        const fault = this.#fault;
        if (fault?.kind === 'lie' && !bytes.includes(appending)) return undefined;
        this.#fault = undefined;
        fault?.done();
        return fault;
      },
      ended: () => this.#pairs.delete(pair),
    });
    this.#pairs.add(pair);
    if (!this.#isStalled) pair.resume();
  }
}

interface PairUser {
  asked(bytes: Buffer): void;
  /** Takes the fault that awaits a COMMIT like the one in these bytes. */
  fault(bytes: Buffer): { readonly kind: CommitFault; readonly delayMs: number } | undefined;
  ended(): void;
}

/** A statement of the simple protocol, and what the database says when it has done it. */
const query = (text: string): Buffer => message('Q', `${text}\0`);
const commits: Buffer = query('COMMIT');
const committed: Buffer = message('C', 'COMMIT\0');
/** In a batch, as opposed to reading and maintenance. */
const appending = 'journal (number';

/** One connection of the node, and the one to the database that stands for it. */
class Pair {
  readonly #node: Socket;
  readonly #database: Socket;
  readonly #user: PairUser;
  /** The next answer to a COMMIT does not arrive, or is not what the database said. */
  #answer: 'lost' | 'forged' | undefined;

  constructor(node: Socket, database: Socket, user: PairUser) {
    this.#node = node;
    this.#database = database;
    this.#user = user;
    node.on('data', (bytes: Buffer) => this.#fromNode(bytes));
    database.on('data', (bytes: Buffer) => this.#fromDatabase(bytes));
    for (const [one, other] of [
      [node, database],
      [database, node],
    ] as const) {
      one.setNoDelay(true);
      one.on('error', () => {});
      one.on('close', () => {
        user.ended();
        other.end();
      });
    }
  }

  pause(): void {
    this.#node.pause();
    this.#database.pause();
  }

  resume(): void {
    this.#node.resume();
    this.#database.resume();
  }

  end(): void {
    this.#node.resetAndDestroy();
    this.#database.resetAndDestroy();
  }

  #fromNode(bytes: Buffer): void {
    this.#user.asked(bytes);
    const at = bytes.indexOf(commits);
    const fault = at < 0 ? undefined : this.#user.fault(bytes);
    if (fault === undefined) {
      this.#database.write(bytes);
      return;
    }
    if (fault.kind === 'cut before') {
      this.end();
    } else if (fault.kind === 'delay') {
      this.#node.pause();
      setTimeout(() => {
        this.#database.write(bytes);
        this.#node.resume();
      }, fault.delayMs);
    } else if (fault.kind === 'cut after') {
      this.#answer = 'lost';
      this.#database.write(bytes);
    } else {
      this.#answer = 'forged';
      const rest = bytes.subarray(at + commits.length);
      this.#database.write(Buffer.concat([bytes.subarray(0, at), query('ROLLBACK'), rest]));
    }
  }

  #fromDatabase(bytes: Buffer): void {
    if (this.#answer === 'lost' && bytes.includes(committed)) {
      this.end();
      return;
    }
    const forged = message('C', 'ROLLBACK\0');
    const at = this.#answer === 'forged' ? bytes.indexOf(forged) : -1;
    if (at < 0) {
      this.#node.write(bytes);
      return;
    }
    this.#answer = undefined;
    const rest = bytes.subarray(at + forged.length);
    this.#node.write(Buffer.concat([bytes.subarray(0, at), committed, rest]));
  }
}

function message(type: string, text: string): Buffer {
  const bytes = Buffer.from(`${type}\0\0\0\0${text}`, 'latin1');
  bytes.writeInt32BE(bytes.length - 1, 1);
  return bytes;
}
