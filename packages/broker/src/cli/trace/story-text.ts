/**
 * Prints a story for people: which event it is about, then a line for each record with the time since the previous one,
 * where it happened, and details.
 */

import type { LedgerRecord } from '../../server/ledger/record.ts';
import { printable } from '../printable.ts';
import { table } from '../table.ts';
import type { Story } from './story.ts';
import { storyMax } from './telling.ts';

export function storyText({ records, isCut, isWhole, beginsAt }: Story): string {
  const rows = records.map((record, at) => [
    record['prov:startedAtTime'],
    at === 0 ? '' : sinceText(records[at - 1] as LedgerRecord, record),
    record.event,
    routeOf(record),
    detailsOf(record),
  ]);
  const notes: string[] = [];
  if (!isWhole)
    notes.push(`The ledger starts at ${beginsAt}; earlier events of this story are not in it.`);
  if (isCut) notes.push(`The story is longer: only its first ${storyMax} records are shown.`);
  return [...headOf(records), table(['time', 'after', 'event', 'where', ''], rows), ...notes].join(
    '\n',
  );
}

function headOf(records: readonly LedgerRecord[]): string[] {
  const named = records.find(({ event_id }) => event_id !== undefined);
  if (named === undefined) return [];
  const { event_id, event_source = '', dedupe_key } = named;
  const lines = [`event ${event_id} of ${event_source}`, `key   ${dedupe_key}`];
  return [...lines.map(printable), ''];
}

function sinceText(before: LedgerRecord, record: LedgerRecord): string {
  const [from, to] = [before, record].map((each) => Date.parse(each['prov:startedAtTime']));
  const seconds = ((to as number) - (from as number)) / 1000;
  return `${seconds < 0 ? '' : '+'}${seconds.toFixed(1)} s`;
}

function routeOf({ topic, queue, target }: LedgerRecord): string {
  return [topic, queue, target].filter((name) => name !== undefined).join(' → ');
}

function detailsOf(record: LedgerRecord): string {
  const { message_id: id, group, receive_count: count = 0 } = record;
  const grouped = group === undefined ? '' : `, group ${group}`;
  switch (record.event) {
    case 'published':
      return `publication ${id}${grouped}`;
    case 'accepted':
      return `message ${id}${grouped}`;
    case 'suppressed':
      return suppressedText(record);
    case 'violation': {
      const fate = record.mode === 'reject' ? 'refused' : 'sent anyway';
      return `${record.rule}, ${fate}: ${record.reason}`;
    }
    case 'delivered':
      return `message ${id}, receive ${count}`;
    case 'dead-lettered':
      return `message ${id}, after ${count} ${count === 1 ? 'receive' : 'receives'}`;
    case 'moved':
      return `message ${id}, now ${record.new_message_id}`;
    case 'fanned-out':
      return record.duplicate === true
        ? `already in the queue, as message ${record.queue_message_id}`
        : `as message ${record.queue_message_id}`;
    case 'filtered-out':
      return `by the filter policy of subscription ${record.subscription}`;
    case 'posted':
      return `to the endpoint of subscription ${record.subscription}`;
    case 'post-failed':
      return `subscription ${record.subscription}: ${record.reason}`;
    case 'delivery-failed': {
      const fate =
        record.target === undefined
          ? 'lost'
          : `dead-lettered as message ${record.queue_message_id}`;
      return `subscription ${record.subscription}: ${record.reason}; ${fate}`;
    }
    case 'purged':
      return `messages removed: ${record.messages}`;
    case 'window-forgotten':
      return `deduplication window emptied; ids removed: ${record.entries}`;
    case 'gap':
      return `records missing here: ${record.lost}`;
    case 'opened':
      return 'the server had been killed: the events just before may be missing';
    default:
      return id === undefined ? '' : `message ${id}`;
  }
}

function suppressedText(record: LedgerRecord): string {
  const { original_message_id, matched_by, source, differed = [], collision } = record;
  const content = 'same body (content hash)';
  const cause = matched_by === 'body' || source === 'content' ? content : 'same id';
  const difference = differed.length === 0 ? '' : `, ${differed.join(' and ')} differed`;
  const kind = collision === true ? ': a collision' : '';
  return `${cause}${difference}${kind}; original ${original_message_id}, ${record.age_seconds} s old`;
}
