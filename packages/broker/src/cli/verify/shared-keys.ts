/**
 * Compares producers that were verified together: two of one event_source must not give two events one key. Consumers scope
 * keys by source, so they would refuse the second event.
 */

import { finding } from '@oncemq/toolkit';
import type { Verified } from './report.ts';

/** A producer with the bodies that it makes of its samples or sends for its input. */
export interface WithBodies extends Verified {
  readonly bodies: readonly string[];
}

interface Owner {
  readonly at: number;
  readonly subject: string;
  readonly body: string;
}

/** Adds a finding to `hash-behavior` of each producer that uses a key of an earlier one for another body. */
export function withSharedKeys(all: readonly WithBodies[]): Verified[] {
  const owners = new Map<string, Owner>();
  return all.map(({ bodies, ...verified }, at) => {
    const shared = bodies.flatMap((body) => {
      const { event_source, dedupe_key: key } = keyMembers(body);
      if (typeof key !== 'string') return [];
      const scoped = JSON.stringify([event_source, key]);
      const owner = owners.get(scoped) ?? { at, subject: verified.subject, body };
      owners.set(scoped, owner);
      if (owner.at === at || owner.body === body) return [];
      return [finding('key-shared-by-producers', { other: owner.subject, key }, body)];
    });
    const checks = verified.checks.map((result) =>
      result.check === 'hash-behavior'
        ? { ...result, findings: [...result.findings, ...shared.slice(0, 1)] }
        : result,
    );
    return { ...verified, checks };
  });
}

function keyMembers(body: string): Readonly<Record<string, unknown>> {
  try {
    return Object(JSON.parse(body)) as Readonly<Record<string, unknown>>;
  } catch {
    return {};
  }
}
