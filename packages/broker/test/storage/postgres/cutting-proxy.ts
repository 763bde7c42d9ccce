/**
 * A TCP proxy before the database: connections can be cut, refused, or cut at a COMMIT, before the database has it or before
 * its answer has arrived. Those are the moments that nobody can time from outside.
 */

import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

const commit = Buffer.from('COMMIT\0');

export class CuttingProxy {
  readonly #server: Server;
  readonly #sockets: Set<Socket> = new Set();
  readonly #target: URL;
  isRefusing = false;
  /** Connections stay, and nothing passes. */
  isStalled = false;
  /** At the next COMMIT: nothing of its answer arrives, or the COMMIT itself does not. */
  cutsCommit: 'answer' | 'request' | undefined;

  private constructor(url: string) {
    this.#target = new URL(url);
    this.#server = createServer((client) => this.#join(client));
  }

  static async start(url: string): Promise<CuttingProxy> {
    const proxy = new CuttingProxy(url);
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    return proxy;
  }

  /** Of the database, through this proxy. */
  get url(): string {
    const url = new URL(this.#target);
    url.port = String((this.#server.address() as AddressInfo).port);
    return url.href;
  }

  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  async close(): Promise<void> {
    this.cut();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #join(client: Socket): void {
    if (this.isRefusing) {
      client.destroy();
      return;
    }
    const database = connect(Number(this.#target.port), this.#target.hostname);
    let isDeaf = false;
    for (const [socket, other] of [
      [client, database],
      [database, client],
    ] as const) {
      this.#sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        this.#sockets.delete(socket);
        other.destroy();
      });
    }
    client.on('data', (data) => {
      if (this.isStalled) return;
      const cuts = data.includes(commit) ? this.cutsCommit : undefined;
      if (cuts !== undefined) this.cutsCommit = undefined;
      if (cuts === 'request') {
        client.destroy();
        return;
      }
      isDeaf ||= cuts === 'answer';
      database.write(data);
    });
    database.on('data', (data) => {
      if (this.isStalled) return;
      if (isDeaf) client.destroy();
      else client.write(data);
    });
  }
}
