// What clients.ts knows about an AWS client that is not an npm package: how to start it, for each wire form
// it speaks. An SDK of a language other than Python has a file of its own, which finds and installs it:
// go-client.ts, java-client.ts.

export type Wire = 'query' | 'json';

/** How to start a client: the command, and additional environment variables. */
export interface Program {
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

export type Found = Partial<Record<Wire, Program>>;

export interface OtherClient {
  readonly name: string;
  /** Finds what is available; installs nothing. */
  find(): Promise<Found>;
  /** Returns undefined, or why it failed. */
  install(): Promise<string | undefined>;
}
