/**
 * Opens the backend that keeps everything in memory, for the life of the process. It runs the same code as on disk, with
 * nothing to load and no commit to wait for.
 */

import type { Backend } from '../backend.ts';
import { EngineBackend } from '../engine-backend.ts';
import { LocalWriter } from '../running/local-writer.ts';
import type { EngineBackendOptions } from '../running/wiring.ts';
import { MemoryStore } from './memory-store.ts';

export function openMemoryBackend(options: EngineBackendOptions): Backend {
  return new EngineBackend(options, (parts) => {
    const writer = new LocalWriter({ ...parts, storeFor: () => new MemoryStore() });
    return { writer, store: writer.store };
  });
}
