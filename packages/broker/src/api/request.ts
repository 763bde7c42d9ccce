/**
 * A request and its answer as the api sees them: they know no HTTP library, so whatever has headers and bytes can call
 * the api, and tests need no socket. Bodies come in whole and within the server's limit; the answer's length is the
 * server's to tell.
 */

export interface ApiRequest {
  readonly method: string;
  /** Without the query string: `/000000000000/jobs`. */
  readonly path: string;
  /** What stands behind the question mark, undecoded; empty if there is nothing. */
  readonly query: string;
  /** Names in lower case, as Node gives them. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Uint8Array;
  /** Read only by actions that wait, so it may be a getter that makes the signal. */
  readonly signal: AbortSignal;
  readonly requestId: string;
}

export interface ApiResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}
