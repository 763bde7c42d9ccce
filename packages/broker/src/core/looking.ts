/**
 * Read-only commands: they change nothing beyond what the passage of time changes. They are answered even while nothing
 * can be kept, since their answers depend on nothing new.
 */

import type { Command } from './commands.ts';

const looking: ReadonlySet<Command['type']> = new Set<Command['type']>([
  'find-queue',
  'list-queues',
  'get-attributes',
  'list-tags',
  'list-dead-letter-sources',
  'list-move-tasks',
  'describe-queue',
  'peek-messages',
  'list-groups',
  'count-sends',
  'explain',
  'list-topics',
  'get-topic-attributes',
  'list-topic-tags',
  'get-data-protection',
  'get-subscription-attributes',
  'list-subscriptions',
  'describe-topic',
  'explain-topic',
  'match-filters',
]);

export function isLooking({ type }: Command): boolean {
  return looking.has(type);
}
