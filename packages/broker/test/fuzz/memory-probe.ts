/**
 * Loaded into the server's process before the server itself (`--import`): on a message from the test it runs the garbage
 * collector and reports how much memory is still in use. The server knows nothing about it.
 */

import type { MemoryUse } from './server-process.ts';

process.on('message', () => {
  // Twice, because the second collection frees what the first one finalized.
  globalThis.gc?.();
  globalThis.gc?.();
  const { heapUsed, arrayBuffers, external, rss } = process.memoryUsage();
  const use: MemoryUse = {
    heapBytes: heapUsed + Math.max(external, arrayBuffers),
    rssBytes: rss,
    peakBytes: process.resourceUsage().maxRSS * 1024,
  };
  process.send?.(use);
});
// The channel to the test must not keep the server alive.
process.channel?.unref();
