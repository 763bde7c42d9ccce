/**
 * Sends one message by hand and shows the result: accepted with its id, or suppressed with a link that shows why. The
 * dialog stays open, because trying out deduplication takes more than one send.
 */

import type { App } from '../app/app.ts';
import { queueLink } from '../app/route.ts';
import { sqs } from '../app/server.ts';
import { attributesIn } from '../components/attribute-lines.ts';
import { openDialog } from '../components/dialog.ts';
import { type Child, h } from '../components/dom.ts';
import { field } from '../components/field.ts';
import { shortId } from '../components/format.ts';

interface Sent {
  readonly MessageId: string;
  readonly SequenceNumber?: string;
}

export function openSendDialog(app: App, queue: string): void {
  const isFifo = queue.endsWith('.fifo');
  openDialog({
    title: `Send a message to ${queue}`,
    content: [
      field(
        'send-body',
        'Body',
        h('textarea', { name: 'body', rows: 7, required: true, spellcheck: 'false' }),
      ),
      isFifo &&
        field(
          'send-group',
          'Message group',
          h('input', { name: 'group', required: true, value: 'console' }),
        ),
      isFifo &&
        field(
          'send-id',
          'Deduplication id',
          h('input', { name: 'id' }),
          'If empty, the SHA-256 of the body is used, provided that the queue has ContentBasedDeduplication.',
        ),
      !isFifo &&
        field(
          'send-delay',
          'Delay in seconds',
          h('input', { name: 'delay', type: 'number', min: 0, max: 900 }),
        ),
      field(
        'send-attributes',
        'Attributes',
        h('textarea', { name: 'attributes', rows: 2, spellcheck: 'false' }),
        isFifo
          ? 'One per line, as name: value. They are not part of the content hash.'
          : 'One per line, as name: value.',
      ),
    ],
    action: 'Send',
    run: async (form, say) => {
      say(await send(queue, form));
      app.refresh();
      return false;
    },
  });
}

async function send(queue: string, form: FormData): Promise<Child> {
  const text = (name: string): string | undefined => String(form.get(name) ?? '') || undefined;
  const { output, duplicateOf } = await sqs<Sent>('SendMessage', {
    QueueUrl: queue,
    MessageBody: text('body'),
    MessageGroupId: text('group'),
    MessageDeduplicationId: text('id'),
    DelaySeconds: text('delay') === undefined ? undefined : Number(text('delay')),
    MessageAttributes: Object.fromEntries(
      attributesIn(text('attributes') ?? '').map(({ name, value }) => [
        name,
        { DataType: 'String', StringValue: value },
      ]),
    ),
  });
  if (duplicateOf === null) {
    return [h('strong', { class: 'good' }, 'Accepted'), ' as ', h('code', {}, output.MessageId)];
  }
  return [
    h('strong', { class: 'warn' }, 'Suppressed'),
    ': a duplicate of ',
    h('code', { title: duplicateOf }, shortId(duplicateOf)),
    '. It will not be delivered. ',
    h('a', { href: queueLink(queue, 'window'), onclick: closeDialog }, 'See why'),
  ];
}

function closeDialog(event: Event): void {
  (event.target as HTMLElement).closest('dialog')?.close();
}
