/**
 * The message groups of a queue: how many messages wait in each, how many are in flight, what blocks it and until when.
 * Paged, since a queue may have a million groups.
 */

import type { Group, GroupPage } from '../app/answers.ts';
import type { App } from '../app/app.ts';
import { queueLink } from '../app/route.ts';
import { look, resourcePath } from '../app/server.ts';
import { type Child, h } from '../components/dom.ts';
import { count, duration, plural, shortId, timeOfDay } from '../components/format.ts';
import { cursorPager, none, table } from '../components/table.ts';
import type { TabView } from './queue.ts';

const groupsPerPage = 50;

export function groupsTab(app: App, name: string): TabView {
  let isBlockedOnly = false;
  let after = '';
  let answer: GroupPage | undefined;

  async function load(): Promise<void> {
    const state = isBlockedOnly ? 'blocked' : '';
    const query = new URLSearchParams({ limit: String(groupsPerPage), after, state });
    answer = await look<GroupPage>(resourcePath('queues', name, `groups?${query}`));
  }

  function show(from: string): void {
    after = from;
    app.refresh();
  }

  function render(): Child {
    if (answer === undefined) return undefined;
    const { groups, next } = answer;
    return [
      h(
        'div',
        { class: 'tools' },
        h(
          'label',
          { class: 'check' },
          h('input', {
            type: 'checkbox',
            checked: isBlockedOnly,
            onchange: (event) => {
              isBlockedOnly = (event.target as HTMLInputElement).checked;
              show('');
            },
          }),
          'Blocked only',
        ),
      ),
      groups.length === 0
        ? h('p', { class: 'empty' }, noneText(isBlockedOnly, after === '' && next === null))
        : table(
            'Message groups and what blocks them',
            [
              { title: 'Group' },
              { title: 'Messages', class: 'number' },
              { title: 'In flight', class: 'number' },
              { title: 'Oldest', class: 'number wide' },
              { title: 'State' },
            ],
            groups.map((group) => row(group)),
          ),
      cursorPager('groups', { isFirst: after === '', hasNext: next !== null }, (where) =>
        show(where === 'first' ? '' : String(next)),
      ),
    ];
  }

  function row(group: Group): HTMLElement {
    const { groupId, messages, inFlight, oldestSentAt, blockedBy } = group;
    return h(
      'tr',
      { key: groupId },
      h(
        'th',
        { scope: 'row' },
        h('a', { href: queueLink(name, 'messages', groupId) }, h('bdi', {}, groupId)),
      ),
      h('td', { class: 'number' }, count(messages)),
      h('td', { class: 'number' }, inFlight === 0 ? none() : count(inFlight)),
      h('td', { class: 'number wide' }, duration(app.now() - oldestSentAt)),
      h(
        'td',
        {},
        blockedBy === null ? h('span', { class: 'state ready' }, 'Ready') : blocked(blockedBy),
      ),
    );
  }

  function blocked({
    messageId,
    state,
    until,
    receiveCount,
  }: NonNullable<Group['blockedBy']>): Child {
    const left = until - app.now();
    const why =
      state === 'delayed'
        ? 'delayed'
        : `in flight, received ${receiveCount === 1 ? 'once' : plural(receiveCount, 'time')}`;
    return [
      h('span', { class: 'state blocked' }, 'Blocked'),
      ' by ',
      h('code', { title: messageId }, shortId(messageId)),
      ` (${why}) until ${timeOfDay(until)}, `,
      left > 0 ? `${duration(left)} left` : 'due now',
    ];
  }

  return { open: () => {}, load, render };
}

/** A page of blocked groups may be empty although later groups are blocked: the server examines a bounded number per page. */
function noneText(isBlockedOnly: boolean, isAll: boolean): string {
  if (!isAll) return `No ${isBlockedOnly ? 'blocked ' : ''}groups on this page.`;
  return isBlockedOnly
    ? 'No group is blocked.'
    : 'There are no messages in this queue, so there are no groups.';
}
