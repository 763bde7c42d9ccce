/**
 * Maps each kind of change to its family of records. Memory and LMDB both apply changes by this table, and a database will
 * too. Queues and topics have the same families under different kinds, so a store handles both with the same code.
 */

import type { Change } from '../core/changes.ts';

/**
 * `settings`: the queue or topic itself. `name`: of a deleted queue, still taken. `row`: a value under a key of its own
 * (`rowFamilies`). `cleared`: the end of many records at once.
 */
export type RecordFamily =
  | 'settings'
  | 'name'
  | 'counter'
  | 'message'
  | 'window'
  | 'row'
  | 'cleared';

export const recordFamily = {
  queue: 'settings',
  topic: 'settings',
  name: 'name',
  counter: 'counter',
  'topic-counter': 'counter',
  message: 'message',
  window: 'window',
  'topic-window': 'window',
  delivery: 'row',
  attempt: 'row',
  task: 'row',
  subscription: 'row',
  archived: 'row',
  post: 'row',
  'post-attempt': 'row',
  cleared: 'cleared',
  'topic-cleared': 'cleared',
} as const;

type KindOf<F extends RecordFamily> = {
  [K in Change['kind']]: (typeof recordFamily)[K] extends F ? K : never;
}[Change['kind']];

export type ChangeOf<F extends RecordFamily> = Extract<Change, { readonly kind: KindOf<F> }>;

export type RowKind = KindOf<'row'>;

export interface RowFamily {
  readonly owner: 'queue' | 'topic';
  /** How its rows are named: by a text, or by a number in order. */
  readonly key: 'text' | 'number';
  /** What removes all its rows at once, besides the end of the queue or topic. */
  readonly clearedBy: 'purge' | 'archive' | undefined;
}

/** In the order in which an engine loads them. */
export const rowFamilies: Readonly<Record<RowKind, RowFamily>> = {
  subscription: { owner: 'topic', key: 'text', clearedBy: undefined },
  delivery: { owner: 'queue', key: 'number', clearedBy: 'purge' },
  attempt: { owner: 'queue', key: 'text', clearedBy: 'purge' },
  task: { owner: 'queue', key: 'text', clearedBy: undefined },
  archived: { owner: 'topic', key: 'number', clearedBy: 'archive' },
  post: { owner: 'topic', key: 'number', clearedBy: undefined },
  'post-attempt': { owner: 'topic', key: 'number', clearedBy: undefined },
};

export const rowKinds: readonly RowKind[] = Object.keys(rowFamilies) as RowKind[];

export function isOf<F extends RecordFamily>(family: F, change: Change): change is ChangeOf<F> {
  return recordFamily[change.kind] === family;
}
