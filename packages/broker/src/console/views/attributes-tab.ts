/**
 * The attributes of a queue, as GetQueueAttributes returns them. Those that can be changed have a button that calls
 * SetQueueAttributes.
 */

import type { App } from '../app/app.ts';
import { sqs } from '../app/server.ts';
import { openDialog } from '../components/dialog.ts';
import { type Child, h } from '../components/dom.ts';
import { field } from '../components/field.ts';
import { pretty } from '../components/json-text.ts';
import { table } from '../components/table.ts';
import type { TabView } from './queue.ts';

/** What SetQueueAttributes accepts; the others are counts, dates and names. */
const changeable: ReadonlySet<string> = new Set([
  'ContentBasedDeduplication',
  'DeduplicationIntervalSeconds',
  'DeduplicationScope',
  'DelaySeconds',
  'FifoThroughputLimit',
  'MaximumMessageSize',
  'MessageRetentionPeriod',
  'Policy',
  'ReceiveMessageWaitTimeSeconds',
  'RedriveAllowPolicy',
  'RedrivePolicy',
  'VisibilityTimeout',
]);

/** Shown even if not set, although GetQueueAttributes then omits them. */
const offered = ['RedrivePolicy'];

export function attributesTab(app: App, name: string): TabView {
  let attributes: Readonly<Record<string, string>> | undefined;

  async function load(): Promise<void> {
    const { output } = await sqs<{ Attributes?: Record<string, string> }>('GetQueueAttributes', {
      QueueUrl: name,
      AttributeNames: ['All'],
    });
    attributes = output.Attributes ?? {};
  }

  function render(): Child {
    if (attributes === undefined) return undefined;
    const values = { ...Object.fromEntries(offered.map((each) => [each, ''])), ...attributes };
    const names = Object.keys(values).toSorted();
    return table(
      `Attributes of ${name}`,
      [{ title: 'Attribute' }, { title: 'Value' }, { title: 'Change' }],
      names.map((attribute) => row(attribute, values[attribute] ?? '')),
    );
  }

  function row(attribute: string, value: string): HTMLElement {
    return h(
      'tr',
      { key: attribute },
      h('th', { scope: 'row' }, h('bdi', {}, breakable(attribute))),
      h(
        'td',
        { class: 'text' },
        value === '' ? h('span', { class: 'muted' }, 'not set') : h('code', {}, value),
      ),
      h(
        'td',
        {},
        changeable.has(attribute) &&
          h(
            'button',
            {
              type: 'button',
              class: 'small',
              'aria-label': `Change ${attribute}`,
              onclick: () => change(attribute, value),
            },
            'Change',
          ),
      ),
    );
  }

  function change(attribute: string, value: string): void {
    const isLong = attribute.includes('Policy');
    const input = h(isLong ? 'textarea' : 'input', {
      name: 'value',
      rows: isLong ? 6 : undefined,
      value: pretty(value),
    });
    openDialog({
      title: `Change ${attribute} of ${name}`,
      content: field('attribute-value', 'Value', input),
      action: 'Save',
      run: async (form) => {
        const Attributes = { [attribute]: String(form.get('value') ?? '') };
        await sqs('SetQueueAttributes', { QueueUrl: name, Attributes });
        app.tell(`${attribute} of ${name} was changed.`);
        app.refresh();
        return true;
      },
    });
  }

  return { open: () => {}, load, render };
}

/** On small screens a long name breaks between its words. */
function breakable(attribute: string): Child {
  return attribute.split(/(?=[A-Z])/).flatMap((word) => [h('wbr'), word]);
}
