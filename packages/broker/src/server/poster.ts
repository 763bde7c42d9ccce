/**
 * Calls HTTP endpoints for topics: one POST, its status, and what that means (SNS 12.3). 5xx, 429 and an endpoint that
 * cannot be reached pass and are tried again; every other answer but 2xx is final. Redirects are answers, not followed.
 *
 * Bounds: fifteen seconds for a call, as on AWS; of an answer only the status is looked at. Connections are not kept: an
 * endpoint is called rarely, and what stays open keeps processes alive.
 */

import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { PostResult } from '../core/topic/commands.ts';
import type { Poster } from '../storage/local/topic-work.ts';

const callMsMax = 15_000;
const tooManyRequests = 429;

export const post: Poster = ({ url, headers, body }, signal) =>
  new Promise<PostResult>((resolve) => {
    const failed = (reason: string, isFinal: boolean): void =>
      resolve({ ok: false, reason, isFinal });
    if (!URL.canParse(url)) {
      failed(`${url} is no URL`, true);
      return;
    }
    const send = url.startsWith('https:') ? httpsRequest : httpRequest;
    const length = Buffer.byteLength(body);
    const call = send(url, {
      method: 'POST',
      agent: false,
      headers: { ...headers, 'content-length': length },
      signal: AbortSignal.any([signal, AbortSignal.timeout(callMsMax)]),
    });
    call.on('response', (response) => {
      const { statusCode: status = 0 } = response;
      response.on('error', () => {});
      response.destroy();
      if (status >= 200 && status < 300) resolve({ ok: true });
      else failed(`${url} answered ${status}`, status < 500 && status !== tooManyRequests);
    });
    call.on('error', (error) => failed(`${url} cannot be reached: ${error.message}`, false));
    call.end(body);
  });
