/**
 * The rows of the window's list: one for each send that was accepted or suppressed, and for each message that broke the
 * queue's contract.
 */

import type { WindowRow } from './answers.ts';
import { type Child, h, svg } from './dom.ts';
import { dayAndTime, duration, exactCount, shortId, timeOfDay } from './format.ts';
import type { Column } from './table.ts';

export const windowColumns: readonly Column[] = [
  { title: 'When' },
  { title: 'What' },
  { title: 'Deduplication id' },
  { title: 'Group', class: 'wide' },
  { title: 'Message', class: 'wide' },
  { title: 'Window' },
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
    h('td', {}, isLeaving ? h('span', { class: 'state' }, 'Expired') : what(row, link)),
    kind === 'violation'
      ? h('td', { class: 'text' }, row.reason ?? '')
      : h(
          'td',
          {},
          h('code', { title: id }, h('bdi', {}, shortId(id ?? ''))),
          row.source === 'content' && h('span', { class: 'tag' }, 'hash'),
        ),
    h('td', { class: 'wide' }, groupId === null ? '–' : h('bdi', {}, groupId)),
    h(
      'td',
      { class: 'wide' },
      messageId === undefined ? '–' : h('code', { title: messageId }, shortId(messageId)),
    ),
    h('td', {}, rest(row, now)),
  );
}

function what(row: WindowRow, link: string): Child {
  switch (row.kind) {
    case 'accepted': {
      const count = row.suppressed ?? 0;
      return [
        h('a', { class: 'state ready', href: link }, 'Accepted'),
        count > 0 && h('span', { class: 'muted' }, `, ${exactCount(count)} suppressed`),
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
          ` ${row.rule ?? ''}${row.mode === 'reject' ? ', refused' : ''}`,
        ),
      ];
  }
}

/** The time an accepted send has left in the window, or how a suppressed one differed. */
function rest(row: WindowRow, now: number): Child {
  if (row.kind === 'violation') return '–';
  if (row.kind === 'suppressed') {
    const { differed = [], originalAt = row.at } = row;
    const after = `${duration(row.at - originalAt)} after the original`;
    return differed.length === 0
      ? `${after}, the same`
      : [`${after}, `, h('strong', {}, `other ${differed.join(' and ')}`)];
  }
  const left = (row.expiresAt ?? 0) - now;
  if (left <= 0) return 'over';
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
