// What clients.ts knows about an AWS client that is not an npm package: how to start it, for each wire form
// it speaks. SDKs of languages other than Python have a file each, which finds and installs them.

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
