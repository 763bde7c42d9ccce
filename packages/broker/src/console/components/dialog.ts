/**
 * Questions and forms as the browser's own modal dialogs: focus moves in and returns afterwards, and Escape closes them.
 * They are outside the part of the page that is repainted, and are removed when they are closed.
 */

import { type Child, h } from './dom.ts';

export interface DialogParts {
  readonly title: string;
  readonly content: Child;
  /** The label of the submit button. */
  readonly action: string;
  readonly isDangerous?: boolean;
  /** Performs the action. True closes the dialog; an error keeps it open and is shown in it. */
  readonly run: (form: FormData, say: (child: Child) => void) => Promise<boolean>;
}

let dialogs = 0;

export function openDialog({
  title,
  content,
  action,
  isDangerous = false,
  run,
}: DialogParts): void {
  dialogs += 1;
  const titleId = `dialog-${dialogs}`;
  const answer = h('div', { class: 'answer', role: 'status' });
  const say = (child: Child): void => answer.replaceChildren(h('p', {}, child));
  const complain = (error: Error): void =>
    answer.replaceChildren(h('p', { class: 'bad' }, error.message));
  const submit = h('button', { type: 'submit', class: isDangerous ? 'danger' : 'primary' }, action);
  const dialog = h(
    'dialog',
    { 'aria-labelledby': titleId },
    h(
      'form',
      {
        onsubmit: (event) => {
          event.preventDefault();
          submit.setAttribute('disabled', '');
          run(new FormData(event.target as HTMLFormElement), say)
            .then((isDone) => isDone && dialog.close(), complain)
            .finally(() => submit.removeAttribute('disabled'));
        },
      },
      h('h2', { id: titleId }, title),
      content,
      answer,
      h(
        'div',
        { class: 'actions' },
        h('button', { type: 'button', onclick: () => dialog.close() }, 'Close'),
        submit,
      ),
    ),
  ) as HTMLDialogElement;
  dialog.addEventListener('close', () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}
