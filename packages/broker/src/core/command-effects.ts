/**
 * What can be done while there is no room to add anything. Read-only commands change nothing beyond what the passage of time
 * changes; their answers depend on nothing new. Commands that drain receive and remove what is there.
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

const draining: ReadonlySet<Command['type']> = new Set<Command['type']>([
  'receive',
  'change-visibility',
  'delete-messages',
  'purge-queue',
  'delete-queue',
  'cancel-move-task',
  'forget-window',
  'delete-topic',
  'unsubscribe',
  'forget-topic-window',
]);

export function isLooking({ type }: Command): boolean {
  return looking.has(type);
}

export function isDraining({ type }: Command): boolean {
  return draining.has(type);
}
