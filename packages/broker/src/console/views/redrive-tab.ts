/**
 * Moves messages out of a dead-letter queue: which queues it serves, tasks that move its messages back or elsewhere, and
 * their progress. They are the tasks of StartMessageMoveTask, so those started by other clients are shown too.
 */

import type { MoveTask } from '../app/answers.ts';
import type { App } from '../app/app.ts';
import { queueLink } from '../app/route.ts';
import { sqs } from '../app/server.ts';
import { openDialog } from '../components/dialog.ts';
import { type Child, h } from '../components/dom.ts';
import { field } from '../components/field.ts';
import { dayAndTime, exactCount, nameInArn } from '../components/format.ts';
import type { TabView } from './queue.ts';

const tasksShown = 10;

interface Named {
  readonly queueUrls?: readonly string[];
}

export function redriveTab(app: App, name: string): TabView {
  let arn: string | undefined;
  let sources: readonly string[] = [];
  let tasks: readonly MoveTask[] | undefined;

  async function load(): Promise<void> {
    arn ??= await arnOf(name);
    const [served, listed] = await Promise.all([
      sqs<Named>('ListDeadLetterSourceQueues', { QueueUrl: name }),
      sqs<{ Results?: MoveTask[] }>('ListMessageMoveTasks', {
        SourceArn: arn,
        MaxResults: tasksShown,
      }),
    ]);
    sources = (served.output.queueUrls ?? []).map((url) => url.slice(url.lastIndexOf('/') + 1));
    tasks = listed.output.Results ?? [];
  }

  function render(): Child {
    if (tasks === undefined) return undefined;
    if (sources.length === 0 && tasks.length === 0) {
      return h(
        'p',
        { class: 'empty' },
        `${name} is not a dead-letter queue: no queue names it in its RedrivePolicy, so there is nothing to redrive.`,
      );
    }
    return [
      h(
        'div',
        { class: 'tools' },
        h(
          'p',
          {},
          sources.length === 0
            ? 'No queue sends its dead letters here anymore.'
            : 'Dead letters come from ',
          sources.flatMap((source, index) => [
            index > 0 && ', ',
            h('a', { href: queueLink(source) }, source),
          ]),
        ),
        h('button', { type: 'button', class: 'primary', onclick: start }, 'Start a redrive'),
      ),
      tasks.length === 0
        ? h('p', { class: 'empty' }, 'No redrive has been started yet.')
        : h('ul', { class: 'tasks' }, tasks.map(taskItem)),
    ];
  }

  function taskItem(task: MoveTask, index: number): HTMLElement {
    const { Status, DestinationArn, FailureReason, StartedTimestamp, TaskHandle } = task;
    const moved = task.ApproximateNumberOfMessagesMoved ?? 0;
    const all = Math.max(task.ApproximateNumberOfMessagesToMove ?? 0, moved);
    const where =
      DestinationArn === undefined ? 'the queues they came from' : nameInArn(DestinationArn);
    return h(
      'li',
      { key: `${StartedTimestamp}-${index}` },
      h(
        'div',
        { class: 'heading' },
        h('strong', {}, statusText(Status)),
        h(
          'span',
          { class: 'muted' },
          `to ${where}${StartedTimestamp === undefined ? '' : `, started ${dayAndTime(StartedTimestamp)}`}`,
        ),
        TaskHandle !== undefined &&
          Status === 'RUNNING' &&
          h(
            'button',
            { type: 'button', class: 'small', onclick: () => void cancel(TaskHandle) },
            'Cancel',
          ),
      ),
      h('progress', { max: Math.max(all, 1), value: moved, 'aria-label': 'Messages moved' }),
      h('p', {}, `${exactCount(moved)} of ${exactCount(all)} messages moved`),
      FailureReason !== undefined && h('p', { class: 'bad' }, FailureReason),
    );
  }

  function start(): void {
    openDialog({
      title: `Redrive ${name}`,
      content: [
        h('p', {}, 'Moves all messages out of ', h('strong', {}, name), '.'),
        field(
          'redrive-to',
          'Destination queue',
          h('input', { name: 'to' }),
          'If empty, each message returns to the queue it came from.',
        ),
        field(
          'redrive-rate',
          'Messages per second',
          h('input', { name: 'rate', type: 'number', min: 1, max: 500 }),
          'If empty, as fast as possible.',
        ),
      ],
      action: 'Start',
      run: async (form) => {
        const to = String(form.get('to') ?? '').trim();
        const rate = String(form.get('rate') ?? '');
        await sqs('StartMessageMoveTask', {
          SourceArn: arn,
          DestinationArn: to === '' ? undefined : await arnOf(to),
          MaxNumberOfMessagesPerSecond: rate === '' ? undefined : Number(rate),
        });
        app.tell(`A redrive of ${name} was started.`);
        app.refresh();
        return true;
      },
    });
  }

  async function cancel(TaskHandle: string): Promise<void> {
    try {
      await sqs('CancelMessageMoveTask', { TaskHandle });
      app.tell('The redrive was canceled.');
    } catch (error) {
      app.tell((error as Error).message);
    }
    app.refresh();
  }

  return { open: () => {}, load, render };
}

function statusText(status: string): string {
  return status.charAt(0) + status.slice(1).toLowerCase();
}

async function arnOf(queue: string): Promise<string | undefined> {
  const { output } = await sqs<{ Attributes?: Record<string, string> }>('GetQueueAttributes', {
    QueueUrl: queue,
    AttributeNames: ['QueueArn'],
  });
  return output.Attributes?.['QueueArn'];
}
