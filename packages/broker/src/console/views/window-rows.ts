/**
 * The rows of the window's list: one for each send that was accepted or suppressed, and for each message that broke the
 * queue's contract.
 */

import type { WindowRow } from '../app/answers.ts';
import { type Child, h, svg } from '../components/dom.ts';
import {
  dayAndTime,
  duration,
  exactCount,
  joinedWords,
  shortId,
  timeOfDay,
} from '../components/format.ts';
import { type Column, none } from '../components/table.ts';

export const windowColumns: readonly Column[] = [
  { title: 'Time' },
  { title: 'Result' },
  { title: 'Deduplication id', class: 'wide' },
  { title: 'Group', class: 'wide' },
  { title: 'Message', class: 'wider' },
  { title: 'Details' },
];

export interface RowSetting {
  /** Opens the send beside its original. */
  readonly link: string;
  readonly now: number;
  /** The send is currently open. */
  readonly isChosen?: boolean;
  /** It has left the window. */
  readonly isLeaving?: boolean;
}

export function windowRow(
  row: WindowRow,
  { link, now, isChosen = false, isLeaving = false }: RowSetting,
): HTMLElement {
  const { at, kind, id, groupId, messageId } = row;
  const tone = row.collision === true || kind === 'violation' ? 'bad' : kind;
  return h(
    'tr',
    { key: rowKey(row), class: `${tone} ${isLeaving ? 'leaving' : ''} ${isChosen ? 'open' : ''}` },
    h('td', { title: dayAndTime(at) }, timeOfDay(at)),
    h(
      'td',
      { class: 'whole' },
      isLeaving ? h('span', { class: 'state' }, 'Expired') : what(row, link),
    ),
    h(
      'td',
      { class: 'wide whole' },
      id === undefined ? none() : h('code', { title: id }, h('bdi', {}, shortId(id))),
      row.source === 'content' && h('span', { class: 'tag' }, 'hash'),
    ),
    h('td', { class: 'wide' }, groupId === null ? none() : h('bdi', {}, groupId)),
    h(
      'td',
      { class: 'wider' },
      messageId === undefined ? none() : h('code', { title: messageId }, shortId(messageId)),
    ),
    h('td', { class: 'text' }, details(row, now)),
  );
}

function what(row: WindowRow, link: string): Child {
  switch (row.kind) {
    case 'accepted': {
      const count = row.suppressed ?? 0;
      return [
        h('a', { class: 'state ready', href: link }, 'Accepted'),
        count > 0 && h('span', { class: 'muted' }, ` ${exactCount(count)} suppressed`),
      ];
    }
    case 'suppressed':
      return h(
        'a',
        { class: row.collision ? 'state collision' : 'state suppressed', href: link },
        row.collision ? 'Collision' : 'Suppressed',
      );
    case 'violation':
      return [
        h('span', { class: 'state collision' }, 'Violation'),
        h(
          'span',
          { class: 'muted' },
          ` ${row.rule ?? ''}${row.mode === 'reject' ? ', rejected' : ''}`,
        ),
      ];
  }
}

/** The time an accepted send has left in the window, how a suppressed one differed, or what a violation is. */
function details(row: WindowRow, now: number): Child {
  if (row.kind === 'violation') return row.reason;
  if (row.kind === 'suppressed') {
    const { differed = [], originalAt = row.at } = row;
    const after = `${duration(row.at - originalAt)} after the original`;
    return differed.length === 0
      ? `${after}, identical`
      : [`${after}, `, h('strong', {}, `different ${joinedWords(differed)}`)];
  }
  const left = (row.expiresAt ?? 0) - now;
  if (left <= 0) return 'expired';
  return [remaining(left / ((row.expiresAt ?? 0) - row.at)), ` ${duration(left)} left`];
}

/** Identifies a row. */
export function rowKey({ kind, sequence, number, at, reason }: WindowRow): string {
  return kind === 'violation' ? `v${at}${reason}` : `${kind}${sequence}/${number ?? ''}`;
}

/** A bar that shrinks with the remaining time. */
function remaining(part: number): Element {
  const width = 48;
  return svg(
    'svg',
    { class: 'remaining', viewBox: `0 0 ${width} 6`, 'aria-hidden': 'true' },
    svg('rect', { class: 'track', width, height: 6, rx: 3 }),
    svg('rect', {
      class: 'left',
      width: Math.max(3, Math.min(1, part) * width).toFixed(1),
      height: 6,
      rx: 3,
    }),
  );
}
