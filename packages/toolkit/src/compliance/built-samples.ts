/**
 * What a producer makes of its samples, in a form that another process can compare: `oncemq verify` builds the samples of
 * every producer in two processes that differ in everything that must not matter, and reports what differs.
 */

import { inspect } from 'node:util';
import type { AnyProducer } from '../producer/define-producer.ts';
import { byteDifference } from './byte-difference.ts';
import { isKeptForReplays, withMembersReversed } from './determinism.ts';

export interface BuiltSample {
  /** The sample itself, as text: it must not depend on the process either. */
  readonly sample: string;
  /** Absent if the producer refused the sample or threw an error, which `failure` tells. */
  readonly body?: string;
  readonly groupId?: string;
  readonly failure?: string;
}

/** Further samples are not compared. */
const samplesMax = 1_000;
const whole = { depth: null, maxArrayLength: null, maxStringLength: null };

export function buildSamples(
  producer: AnyProducer,
  { areReversed }: { readonly areReversed: boolean },
): BuiltSample[] {
  const samples: readonly unknown[] = producer.options.samples ?? [];
  return samples.slice(0, samplesMax).map((given) => {
    const sample = inspect(given, whole);
    try {
      const checked = producer.check(areReversed ? withMembersReversed(given) : given);
      if (!checked.ok) return { sample, failure: checked.text };
      const { body, groupId } = checked.message;
      return { sample, body: isKeptForReplays(producer) ? withoutId(body) : body, groupId };
    } catch (error) {
      return { sample, failure: String(error) };
    }
  });
}

/** A producer that keeps its messages gives every one a new event_id, and replays what it kept. */
function withoutId(body: string): string {
  const { event_id: _, ...rest } = JSON.parse(body) as Readonly<Record<string, unknown>>;
  return JSON.stringify(rest);
}

/** The first difference between what two processes built, in words; undefined if they built the same. */
export function builtDifference(
  first: readonly BuiltSample[],
  second: readonly BuiltSample[],
): string | undefined {
  if (first.length !== second.length) {
    return `the number of samples: ${first.length} → ${second.length}`;
  }
  for (const [index, a] of first.entries()) {
    const b = second[index] as BuiltSample;
    const told = sampleDifference(a, b);
    if (told !== undefined) return `${told} (sample ${index + 1})`;
  }
  return undefined;
}

function sampleDifference(a: BuiltSample, b: BuiltSample): string | undefined {
  if (a.sample !== b.sample) return `the sample itself: ${byteDifference(a.sample, b.sample)}`;
  if (a.failure !== b.failure) {
    return `the outcome: ${a.failure ?? 'a message'} → ${b.failure ?? 'a message'}`;
  }
  if (a.groupId !== b.groupId) return `the MessageGroupId: "${a.groupId}" → "${b.groupId}"`;
  const [before = '', after = ''] = [a.body, b.body];
  return before === after ? undefined : byteDifference(before, after);
}
