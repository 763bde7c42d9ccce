/**
 * Reads the bodies of the requests that node:http handles, each completely before anything looks at it. A refused body is
 * still read to its end and discarded, up to a limit, so that a client that writes everything before it reads gets its answer.
 */

import type { IncomingMessage, ServerResponse } from 'node:http';
import { bodyBytesMaxOf } from '../../api/protocol/body-size.ts';
import type { ApiRequest } from '../../api/request.ts';
import type { ErrorDetail } from '../../core/errors.ts';
import { type BodyBudget, HeldBytes } from './held-bytes.ts';

const discardedBytesMax = 64 * 1024 * 1024;

/** Why a body was refused. */
export interface BodyRefusal {
  readonly code: 'body-too-large' | 'service-unavailable';
  readonly detail: ErrorDetail;
}

/** A body, or an empty one and why it was refused. */
export interface ReadBody {
  readonly bytes: Buffer;
  readonly refusal?: BodyRefusal | undefined;
  /** Call when nothing needs the bytes any more. */
  readonly release: () => void;
}

const tooMany: BodyRefusal = {
  code: 'service-unavailable',
  detail: { reason: 'the server is busy with too many large requests. Try again.' },
};

/** If the client disconnects before the end of the body, never calls `then`. */
export function readBody(
  request: IncomingMessage,
  response: ServerResponse,
  budget: BodyBudget,
  then: (body: ReadBody) => void,
): void {
  const limit = bodyBytesMaxOf(request.headers as ApiRequest['headers']);
  const told = Number(request.headers['content-length'] ?? 0);
  const tooLarge: BodyRefusal = { code: 'body-too-large', detail: { limit } };
  const held = new HeldBytes(budget);
  let size = 0;
  let isWhole = false;
  let refusal = told > limit ? tooLarge : undefined;
  request.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size > discardedBytesMax) request.destroy();
    if (size > limit) refusal = tooLarge;
    else if (refusal === undefined && !held.add(chunk, told || limit)) refusal = tooMany;
    if (refusal !== undefined) held.release();
  });
  request.on('end', () => {
    isWhole = true;
    then({ bytes: held.bytes, refusal, release: () => held.release() });
  });
  // If the body ended too early and that has been answered, the request never closes, but its response does.
  for (const side of [request, response]) {
    side.on('close', () => {
      if (!isWhole) held.release();
    });
  }
  request.on('error', () => response.destroy());
}
