/**
 * Reads the bodies of the requests that node:http handles, each completely before anything looks at it. A refused body is
 * still read to its end and discarded, up to a limit, so that a client that writes everything before it reads gets its answer.
 */

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ErrorDetail } from '../../core/errors.ts';

/** A message of 1 MiB takes at most 6 MiB of JSON, when every byte is escaped. */
const bodyBytesMax = 8 * 1024 * 1024;
/** The total for all bodies that have not completely arrived. */
const arrivingBytesMax = 256 * 1024 * 1024;
const discardedBytesMax = 64 * 1024 * 1024;

/** Why a body was refused. */
export interface BodyRefusal {
  readonly code: 'body-too-large' | 'service-unavailable';
  readonly detail: ErrorDetail;
}

const tooLarge: BodyRefusal = { code: 'body-too-large', detail: { limit: bodyBytesMax } };
const tooMany: BodyRefusal = {
  code: 'service-unavailable',
  detail: { reason: 'too many large requests are arriving at once' },
};

export class Bodies {
  #arrivingBytes = 0;

  /** Calls `then` with the whole body, or with an empty one and a refusal. If the client disconnects first, never calls it. */
  read(
    request: IncomingMessage,
    response: ServerResponse,
    then: (body: Buffer, refusal?: BodyRefusal) => void,
  ): void {
    const chunks: Buffer[] = [];
    let size = 0;
    let held = 0;
    let refusal: BodyRefusal | undefined;
    const letGo = (): void => {
      this.#arrivingBytes -= held;
      held = 0;
      chunks.length = 0;
    };
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > discardedBytesMax) request.destroy();
      if (size > bodyBytesMax) refusal = tooLarge;
      else if (this.#arrivingBytes + chunk.length > arrivingBytesMax) refusal ??= tooMany;
      if (refusal !== undefined) {
        letGo();
        return;
      }
      held += chunk.length;
      this.#arrivingBytes += chunk.length;
      chunks.push(chunk);
    });
    request.on('end', () => {
      const body = chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks);
      letGo();
      then(body, refusal);
    });
    request.on('close', letGo);
    request.on('error', () => response.destroy());
  }
}
