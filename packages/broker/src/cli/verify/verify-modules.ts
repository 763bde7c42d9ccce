/**
 * Runs producer modules through the compliance tests, one after the other, each producer on a queue of its own. It runs in
 * a separate process (verify-process.ts), because modules are foreign code that may never end.
 */

import { checkProducer } from '@oncemq/toolkit';
import { loadProducerModules } from './producer-modules.ts';
import type { Verified } from './report.ts';
import { VerifyServer } from './verify-server.ts';

/** Calls `onBegin` with each module before loading it, and again before testing its producers. */
export async function verifyModules(
  files: readonly string[],
  onBegin: (file: string) => void,
): Promise<Verified[]> {
  const modules = await loadProducerModules(files, onBegin);
  const server = await VerifyServer.start();
  const all: Verified[] = [];
  try {
    for (const { file, producers, findings } of modules) {
      onBegin(file);
      if (findings.length > 0) {
        const check = { check: 'module', title: 'the module exports a producer', findings };
        all.push({ subject: file, file, checks: [check] });
      }
      for (const { name, producer } of producers) {
        // A separate queue, so that nothing that one producer sent is a duplicate for the next.
        const url = await server.createQueue(`verify-${all.length + 1}.fifo`);
        const checks = await checkProducer({ producer, queue: server.queueUnderTest(url) });
        all.push({ subject: `${name} (${producer.source})`, file, checks });
      }
    }
  } finally {
    await server.close();
  }
  return all;
}
