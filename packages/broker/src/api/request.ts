/**
 * A request and its answer as the api sees them. They depend on no HTTP library, so anything with headers and bytes can
 * call the api, and tests need no socket. Bodies arrive complete and within the server's limit; the server adds the
 * Content-Length of the answer.
 */

export interface ApiRequest {
  readonly method: string;
  /** Without the query string: `/000000000000/jobs`. */
  readonly path: string;
  /** The part after the question mark, undecoded; empty if there is none. */
  readonly query: string;
  /** Names in lower case, as Node gives them. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Uint8Array;
  /** Only actions that wait read it, so it may be a getter that creates the signal. */
  readonly signal: AbortSignal;
  readonly requestId: string;
}

export interface ApiResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Instead of the body if it is large: what is sent one after the other, each in a turn of its own. */
  readonly parts?: readonly Uint8Array[];
  /** The length of the body in UTF-8, if it is known. */
  readonly bodyBytes?: number;
}
