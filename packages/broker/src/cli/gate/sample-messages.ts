/**
 * What the producers of some modules make of their samples, in a process of its own, because modules are foreign code. The
 * gate runs it for the base and for the branch, and compares.
 */

import { spawnSync } from 'node:child_process';
import { writeSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { inspect } from 'node:util';
import { loadProducerModules } from '../verify/producer-modules.ts';

export interface SampleMessages {
  readonly file: string;
  /** The name of the export. */
  readonly name: string;
  /** The body by sample; a sample that the producer refuses has none. */
  readonly bodies: ReadonlyMap<string, string>;
}

type Told = { file: string; name: string; bodies: [string, string][] };

const role = 'sample-messages';
const outputBytesMax = 256 * 1024 * 1024;

/** undefined if they cannot be had. The paths are relative to the folder. */
export function sampleMessages(
  files: readonly string[],
  folder: string,
  secondsMax: number,
): SampleMessages[] | undefined {
  if (files.length === 0) return [];
  const { output, status } = spawnSync(
    process.execPath,
    [fileURLToPath(import.meta.url), role, ...files],
    {
      cwd: folder,
      encoding: 'utf8',
      timeout: secondsMax * 1000 * files.length,
      killSignal: 'SIGKILL',
      maxBuffer: outputBytesMax,
      // What modules print is not part of it.
      stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
    },
  );
  const text = output?.[3];
  if (status !== 0 || !text) return undefined;
  const told = JSON.parse(text) as Told[];
  return told.map((each) => ({ ...each, bodies: new Map(each.bodies) }));
}

/** A sample as a text, the same for equal samples, whatever they are made of. */
function sampleText(sample: unknown): string {
  return inspect(sample, {
    depth: null,
    sorted: true,
    maxArrayLength: null,
    maxStringLength: null,
    breakLength: Number.POSITIVE_INFINITY,
  });
}

if (process.argv[2] === role) {
  const modules = await loadProducerModules(process.argv.slice(3), () => {});
  const told = modules.flatMap(({ file, producers }) =>
    producers.map(({ name, producer }): Told => {
      const bodies = (producer.options.samples ?? []).map((sample): [string, string] => {
        try {
          const checked = producer.check(sample);
          return [sampleText(sample), checked.ok ? checked.message.body : ''];
        } catch {
          return [sampleText(sample), ''];
        }
      });
      return { file, name, bodies };
    }),
  );
  const bytes = Buffer.from(JSON.stringify(told));
  for (let at = 0; at < bytes.length; ) at += writeSync(3, bytes, at);
  process.exit(0);
}
