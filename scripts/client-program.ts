// What clients.ts knows of an AWS client that is no npm package: how it is started, by the wire form that
// it then speaks. A client that is neither of Python nor found by trying commands has a file of its own,
// which says how it is found and how it is installed.

export type Wire = 'query' | 'json';

/** How to start a client: the words of the command, and what its environment needs beside the usual. */
export interface Program {
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

export type Found = Partial<Record<Wire, Program>>;

export interface OtherClient {
  readonly name: string;
  /** What is at hand; installs nothing. */
  find(): Promise<Found>;
  /** Undefined, or why it did not work. */
  install(): Promise<string | undefined>;
}
