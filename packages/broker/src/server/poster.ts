/**
 * Calls HTTP endpoints for topics: sends one POST and interprets its status (SNS 12.3). 5xx, 429 and unreachable endpoints
 * are transient failures and are retried; every other status except 2xx is final. Redirects are not followed. On a server
 * that checks signatures, endpoint-addresses.ts decides which addresses may be called; a refused one is final.
 *
 * Bounds: fifteen seconds for a call, as on AWS; only the status of an answer is read. Connections are not kept alive:
 * endpoints are called rarely, and an open connection would keep the process alive.
 */

import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { PostResult } from '../core/topic/commands.ts';
import { shownEndpoint } from '../core/topic/shown-endpoint.ts';
import type { Poster, PostRequest } from '../storage/backend.ts';
import { type EndpointAddresses, RefusedAddress } from './endpoint-addresses.ts';

const callMsMax = 15_000;
const tooManyRequests = 429;

export interface PosterOptions {
  /** Absent if every address may be called. */
  readonly addresses?: EndpointAddresses | undefined;
  /** Called with the reason when a call is not made because of its address. */
  readonly onRefused?: ((reason: string) => void) | undefined;
}

export function createPoster({ addresses, onRefused }: PosterOptions): Poster {
  const refused = (endpoint: string, problem: string): PostResult => {
    const reason = `${endpoint} may not be called: ${problem}`;
    onRefused?.(reason);
    return failed(reason, true);
  };
  return async (request, signal) => {
    const endpoint = shownEndpoint(request.url);
    const problem = addresses?.problemOf(request.url);
    if (problem !== undefined) return refused(endpoint, problem);
    try {
      const status = await statusOf(request, addresses, signal);
      if (status >= 200 && status < 300) return { ok: true };
      const isPassing = status >= 500 || status === tooManyRequests;
      return failed(`${endpoint} answered ${status}`, !isPassing);
    } catch (error) {
      if (error instanceof RefusedAddress) return refused(endpoint, error.message);
      // An invalid URL will not become valid, so there is no point in retrying.
      const isFinal = error instanceof TypeError;
      return failed(`${endpoint} cannot be reached: ${(error as Error).message}`, isFinal);
    }
  };
}

function statusOf(
  { url, headers, body }: PostRequest,
  addresses: EndpointAddresses | undefined,
  signal: AbortSignal,
): Promise<number> {
  return new Promise((resolve, reject) => {
    const send = url.startsWith('https:') ? httpsRequest : httpRequest;
    const length = Buffer.byteLength(body);
    const call = send(url, {
      method: 'POST',
      agent: false,
      lookup: addresses?.lookup,
      headers: { ...headers, 'content-length': length },
    });
    const giveUp = (): void => {
      call.destroy(
        new Error(
          signal.aborted ? 'the server is stopping' : `no answer within ${callMsMax / 1000} s`,
        ),
      );
    };
    const patience = setTimeout(giveUp, callMsMax);
    signal.addEventListener('abort', giveUp, { once: true });
    call.on('close', () => {
      clearTimeout(patience);
      signal.removeEventListener('abort', giveUp);
    });
    call.on('error', reject);
    call.on('response', (response) => {
      response.on('error', () => {});
      response.destroy();
      resolve(response.statusCode ?? 0);
    });
    call.end(body);
  });
}

function failed(reason: string, isFinal: boolean): PostResult {
  return { ok: false, reason, isFinal };
}
