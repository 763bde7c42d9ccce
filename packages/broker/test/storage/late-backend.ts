/**
 * Memory behind a writer and a store that answer later, as a database would: every command waits for a turn of the event
 * loop, in order, and everything that is read comes as a promise. What runs above the inner port must not tell the
 * difference.
 */

import type { Command } from '../../src/core/commands.ts';
import type { Applied } from '../../src/core/engine.ts';
import type { Backend } from '../../src/storage/backend.ts';
import { EngineBackend } from '../../src/storage/engine-backend.ts';
import { MemoryStore } from '../../src/storage/memory/memory-store.ts';
import { LocalWriter } from '../../src/storage/running/local-writer.ts';
import type { EngineBackendOptions } from '../../src/storage/running/wiring.ts';
import type { Writer } from '../../src/storage/running/writer.ts';
import type { StoreReader } from '../../src/storage/store.ts';

export function openLateBackend(options: EngineBackendOptions): Backend {
  return new EngineBackend(options, (parts) => {
    const local = new LocalWriter({ ...parts, storeFor: () => new MemoryStore() });
    return { writer: lateWriter(local), store: lateReader(local.store) };
  });
}

const later = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function lateReader(store: StoreReader): StoreReader {
  return {
    content: async (...message) => later().then(() => store.content(...message)),
    windowEntries: async (...entries) => later().then(() => store.windowEntries(...entries)),
    archived: async (...publication) => later().then(() => store.archived(...publication)),
    post: async (...post) => later().then(() => store.post(...post)),
  };
}

function lateWriter(local: LocalWriter): Writer {
  let last: Promise<unknown> = Promise.resolve();
  const step = <C extends Command>(command: C, now: number): Promise<Applied<C['type']>> => {
    const applied = last.then(later).then(() => local.step(command, now));
    last = applied.catch(() => {});
    return applied;
  };
  return {
    kind: local.kind,
    step,
    // Everything that was asked for before is applied by then.
    kept: () => local.kept(),
    answer: (outcome, prepare) => local.answer(outcome, prepare),
    noteTime: () => local.noteTime(),
    nextDueAt: () => local.nextDueAt(),
    isBehind: (command, since) => local.isBehind(command, since),
    postpone: (owner, until) => local.postpone(owner, until),
    reset: () => {
      const reset = last.then(() => local.reset());
      last = reset;
      return reset;
    },
    load: (onProgress) => local.load(onProgress),
    fileBytes: () => local.fileBytes(),
    close: async () => {
      await last;
      await local.close();
    },
    unavailable: () => local.unavailable(),
    get isFrozen(): boolean {
      return local.isFrozen;
    },
    get isIncomplete(): boolean {
      return local.isIncomplete;
    },
  };
}
