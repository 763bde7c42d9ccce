/**
 * The answer of an endpoint for people: those below `/_oncemq/`, and `/metrics`. Both who answers (inspect) and who refuses
 * (auth) make such answers; the server puts them on the wire.
 */

import type { Writable } from 'node:stream';

export interface InspectResponse {
  readonly status: number;
  /** Sent as JSON, or as plain text if there is a content type. */
  readonly body: unknown;
  readonly contentType?: string;
  /** Instead of a body: gets the connection to write to until either side ends it. */
  readonly stream?: (out: Writable) => void;
  /** The methods that the path accepts, with status 405. */
  readonly allow?: string;
  /** How a client can authenticate, with status 401. */
  readonly challenge?: string;
}

export function failed(status: number, code: string, message: string): InspectResponse {
  return { status, body: { error: { code, message } } };
}
