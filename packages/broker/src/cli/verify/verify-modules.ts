/**
 * Runs producer modules through the compliance tests, one after the other, each producer on a queue of its own; or only
 * builds the messages of their samples, for comparison with another process. Both happen in a separate process
 * (module-process.ts), because modules are foreign code that may never end.
 */

import { type BuiltSample, buildSamples, checkProducer, readContract } from '@oncemq/toolkit';
import { loadProducerModules } from './producer-modules.ts';
import type { Verified } from './report.ts';
import type { VerifyServer } from './verify-server.ts';

export interface VerifiedProducer extends Verified {
  readonly file: string;
  /** What the producer made of its samples; absent if the module has no producer. */
  readonly built?: readonly BuiltSample[];
}

export interface ModulesToVerify {
  readonly files: readonly string[];
  readonly contractFile: string | undefined;
  /** check: run the compliance tests as well. */
  readonly task: 'check' | 'build';
  readonly areMembersReversed: boolean;
}

/** Calls `onBegin` with each module before loading it, and again before testing its producers. */
export async function verifyModules(
  { files, contractFile, task, areMembersReversed }: ModulesToVerify,
  onBegin: (file: string) => void,
): Promise<VerifiedProducer[]> {
  const contract = contractFile === undefined ? {} : { contract: readContract(contractFile) };
  const modules = await loadProducerModules(files, onBegin);
  const server = task === 'check' ? await startServer() : undefined;
  const all: VerifiedProducer[] = [];
  try {
    for (const { file, producers, findings } of modules) {
      onBegin(file);
      if (findings.length > 0) {
        const check = { check: 'module', title: 'the module exports a producer', findings };
        all.push({ subject: file, file, checks: [check] });
      }
      for (const { name, producer } of producers) {
        const subject = `${name} (${producer.source})`;
        // Before the checks, which would leave their traces in whatever the producer remembers.
        const built = buildSamples(producer, { areReversed: areMembersReversed });
        if (server === undefined) {
          all.push({ subject, file, checks: [], built });
          continue;
        }
        // A separate queue, so that nothing that one producer sent is a duplicate for the next.
        const url = await server.createQueue(`verify-${all.length + 1}.fifo`);
        const queue = server.queueUnderTest(url);
        const checks = await checkProducer({ producer, queue, ...contract });
        all.push({ subject, file, checks, built });
      }
    }
  } finally {
    await server?.close();
  }
  return all;
}

/** Loaded only where it is needed: most of these processes just build messages. */
async function startServer(): Promise<VerifyServer> {
  const { VerifyServer } = await import('./verify-server.ts');
  return VerifyServer.start();
}
