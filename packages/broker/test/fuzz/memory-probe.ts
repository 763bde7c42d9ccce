/**
 * Loaded into the server's process before the server itself (`--import`): on a message from the test it collects what
 * is garbage and says how much memory is left in use. The server knows nothing of it.
 */

import type { MemoryUse } from './server-process.ts';

process.on('message', () => {
  // Twice: what the first collection finalizes, the second frees.
  globalThis.gc?.();
  globalThis.gc?.();
  const { heapUsed, arrayBuffers, external, rss } = process.memoryUsage();
  const use: MemoryUse = { heapBytes: heapUsed + Math.max(external, arrayBuffers), rssBytes: rss };
  process.send?.(use);
});
// The channel to the test must not keep the server from ending.
process.channel?.unref();
