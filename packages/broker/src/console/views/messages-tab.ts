/**
 * Peeks at the messages of a queue or of one group, in order, with their bodies, without receiving them. Paged; long
 * bodies are truncated until the user asks for the whole one.
 */

import type { Message, MessagePage } from '../app/answers.ts';
import type { App } from '../app/app.ts';
import { queueLink } from '../app/route.ts';
import { look, resourcePath } from '../app/server.ts';
import { attributeTable, bodyText, cutNote } from '../components/body-text.ts';
import { type Child, h } from '../components/dom.ts';
import {
  dayAndTime,
  duration,
  exactCount,
  plural,
  shortId,
  timeOfDay,
} from '../components/format.ts';
import { cursorPager, none, table } from '../components/table.ts';
import type { TabView } from './queue.ts';

const messagesPerPage = 50;
const bodyCharsShown = 4_096;
const previewChars = 120;

export function messagesTab(app: App, name: string): TabView {
  let group = '';
  let after = '';
  let answer: MessagePage | undefined;
  /** The sequence of the open message; `whole` is the message with its full body, once requested. */
  let openSequence: number | undefined;
  let whole: Message | undefined;

  const page = (query: Record<string, string>): Promise<MessagePage> =>
    look(resourcePath('queues', name, `messages?${new URLSearchParams({ group, ...query })}`));

  async function load(): Promise<void> {
    const limit = String(messagesPerPage);
    answer = await page({ limit, after, bodyChars: String(bodyCharsShown) });
  }

  function show(from: string): void {
    after = from;
    openSequence = undefined;
    app.refresh();
  }

  async function showWhole({ sequence }: Message): Promise<void> {
    try {
      [whole] = (await page({ limit: '1', after: String(sequence - 1) })).messages;
    } catch (error) {
      app.tell((error as Error).message);
    }
    app.repaint();
  }

  function toggle(sequence: number): void {
    openSequence = openSequence === sequence ? undefined : sequence;
    app.repaint();
  }

  function render(): Child {
    if (answer === undefined) return undefined;
    const { messages, next } = answer;
    return [
      group !== '' &&
        h(
          'p',
          { class: 'tools' },
          h('span', {}, 'Messages in group ', h('strong', {}, h('bdi', {}, group))),
          h('a', { href: queueLink(name, 'messages') }, 'All groups'),
        ),
      messages.length === 0
        ? h(
            'p',
            { class: 'empty' },
            `There are no messages in this ${group === '' ? 'queue' : 'group'}.`,
          )
        : table(
            'Messages in order; looking at them does not receive them',
            [
              { title: 'Sent' },
              { title: 'Body' },
              { title: 'Group', class: 'wide' },
              { title: 'Received', class: 'number wide' },
              { title: 'State' },
            ],
            messages.flatMap((message) => rows(message)),
          ),
      cursorPager('messages', { isFirst: after === '', hasNext: next !== null }, (where) =>
        show(where === 'first' ? '' : String(next)),
      ),
    ];
  }

  function rows(message: Message): HTMLElement[] {
    const { sequence, sentAt, body, groupId, receiveCount } = message;
    const isOpen = sequence === openSequence;
    const row = h(
      'tr',
      { key: `m${sequence}`, class: isOpen ? 'open' : '' },
      h('td', { title: dayAndTime(sentAt) }, timeOfDay(sentAt)),
      h(
        'td',
        { class: 'text' },
        h(
          'button',
          {
            type: 'button',
            class: 'preview',
            'aria-expanded': String(isOpen),
            onclick: () => toggle(sequence),
          },
          body.trim() === '' ? 'only whitespace' : h('bdi', {}, body.slice(0, previewChars)),
        ),
      ),
      h('td', { class: 'wide' }, groupId === null ? none() : h('bdi', {}, groupId)),
      h('td', { class: 'number wide' }, receiveCount === 0 ? none() : exactCount(receiveCount)),
      h('td', { class: 'whole' }, state(message)),
    );
    return isOpen
      ? [row, h('tr', { key: `d${sequence}`, class: 'detail' }, detail(message))]
      : [row];
  }

  function detail(peeked: Message): HTMLElement {
    const message = whole?.sequence === peeked.sequence ? whole : peeked;
    const { messageId, deduplicationId, body, bodyLength, attributes, deadLetterSource } = message;
    const facts: [string, string][] = [
      ['Message id', messageId],
      ['Sequence', String(message.sequence)],
      ['Sent', dayAndTime(message.sentAt)],
    ];
    if (message.groupId !== null) facts.push(['Group', message.groupId]);
    if (deduplicationId !== null) facts.push(['Deduplication id', deduplicationId]);
    if (message.firstReceivedAt !== null) {
      facts.push(['First received', dayAndTime(message.firstReceivedAt)]);
    }
    if (deadLetterSource !== null) facts.push(['Dead letter of', deadLetterSource]);
    return h(
      'td',
      { colspan: 5 },
      h(
        'dl',
        { class: 'facts' },
        facts.map(([term, text]) =>
          h('div', {}, h('dt', {}, term), h('dd', {}, h('bdi', {}, text))),
        ),
      ),
      attributeTable(attributes),
      bodyText(body, `Body of ${shortId(messageId)}`),
      cutNote(body.length, bodyLength),
      body.length < bodyLength &&
        h(
          'button',
          { type: 'button', onclick: () => void showWhole(message) },
          'Show the whole body',
        ),
    );
  }

  function state({ state: is, visibleAt, receiveCount }: Message): Child {
    if (is === 'visible') {
      return [
        h('span', { class: 'state ready' }, 'Visible'),
        receiveCount > 0 && ` after ${plural(receiveCount, 'receive')}`,
      ];
    }
    const left = (visibleAt ?? 0) - app.now();
    return [
      h('span', { class: 'state blocked' }, is === 'delayed' ? 'Delayed' : 'In flight'),
      left > 0 ? ` ${duration(left)} left` : ' due now',
    ];
  }

  return {
    open: ([groupId = '']) => {
      if (groupId === group) return;
      group = groupId;
      answer = undefined;
      show('');
    },
    load,
    render,
  };
}
