/**
 * Where everything is kept: the kind of store and its size; where servers share it, which those are, which one answers, and
 * how long the journal is. Nothing is looked up for it: it is what this server knows since a few seconds.
 */

import type { InspectResponse } from '../inspect-response.ts';
import { ok } from './answers.ts';
import type { InspectContext } from './inspect.ts';

export async function showStore({ backend, clock }: InspectContext): Promise<InspectResponse> {
  const { storeBytes } = backend.usage();
  const cluster = backend.cluster();
  const { count, latest } = backend.losses();
  return ok({
    now: backend.now(),
    clock,
    storage: backend.kind,
    unavailable: backend.unavailable() ?? null,
    sizeBytes: storeBytes ?? null,
    lostCommits: { count, latest: latest ?? null },
    node: cluster?.node ?? null,
    nodes: cluster?.nodes ?? null,
    journal: cluster?.journal ?? null,
  });
}
