/**
 * Tries a message: which subscriptions of a topic would accept it, and whether a policy that is not set yet would. The
 * server decides by the rules of a publish; nothing is published.
 */

import type { MatchResult, Subscription } from '../app/answers.ts';
import type { App } from '../app/app.ts';
import { ask, resourcePath } from '../app/server.ts';
import { attributesIn } from '../components/attribute-lines.ts';
import { type Child, h } from '../components/dom.ts';
import { field } from '../components/field.ts';
import { endpointName } from '../components/format.ts';

export interface Trial {
  render(subscriptions: readonly Subscription[]): Child;
}

export function trial(app: App, topic: string): Trial {
  const asked = {
    message: '{}',
    attributes: '',
    policy: '',
    scope: 'MessageAttributes',
  };
  let result: MatchResult | undefined;
  let complaint = '';

  async function run(): Promise<void> {
    try {
      complaint = '';
      result = await ask<MatchResult>(resourcePath('topics', topic, 'match'), {
        message: asked.message,
        attributes: Object.fromEntries(
          attributesIn(asked.attributes).map(({ name, value }) => [
            name,
            { type: typeOf(value), value },
          ]),
        ),
        scope: asked.scope,
        ...(asked.policy.trim() === '' ? {} : { policy: policyIn(asked.policy) }),
      });
    } catch (error) {
      result = undefined;
      complaint = (error as Error).message;
    }
    app.repaint();
  }

  const note = (name: keyof typeof asked) => (event: Event) => {
    asked[name] = (event.target as HTMLInputElement).value;
  };

  function render(subscriptions: readonly Subscription[]): Child {
    return h(
      'form',
      {
        class: 'trial',
        onsubmit: (event) => {
          event.preventDefault();
          void run();
        },
      },
      h(
        'div',
        { class: 'columns' },
        field(
          'trial-message',
          'Message',
          h('textarea', {
            rows: 5,
            spellcheck: 'false',
            value: asked.message,
            oninput: note('message'),
          }),
        ),
        field(
          'trial-attributes',
          'Attributes',
          h('textarea', {
            rows: 5,
            spellcheck: 'false',
            value: asked.attributes,
            oninput: note('attributes'),
          }),
          'One per line, as name: value. Numbers are sent as Number, lists in brackets as String.Array.',
        ),
        h(
          'div',
          {},
          field(
            'trial-policy',
            'Another filter policy',
            h('textarea', {
              rows: 3,
              spellcheck: 'false',
              value: asked.policy,
              oninput: note('policy'),
            }),
            'Optional. It is tried in addition to those of the subscriptions.',
          ),
          field(
            'trial-scope',
            'Scope of that policy',
            h(
              'select',
              { value: asked.scope, onchange: note('scope') },
              h('option', { value: 'MessageAttributes' }, 'Message attributes'),
              h('option', { value: 'MessageBody' }, 'Message body'),
            ),
          ),
        ),
      ),
      h('button', { type: 'submit', class: 'primary' }, 'Try'),
      h(
        'div',
        { role: 'status', class: 'results' },
        complaint !== '' && h('p', { class: 'bad' }, complaint),
        result !== undefined && results(result, subscriptions),
      ),
    );
  }

  return { render };
}

function results(
  { subscriptions: found, policy }: MatchResult,
  subscriptions: readonly Subscription[],
): Child {
  const endpointOf = (arn: string): string =>
    subscriptions.find((each) => each.arn === arn)?.endpoint ?? arn;
  return h(
    'ul',
    {},
    policy !== null && verdict('The policy above', policy.matches),
    found.map(({ arn, matches }) => verdict(endpointName(endpointOf(arn)), matches)),
  );
}

function verdict(who: string, matches: boolean): HTMLElement {
  return h(
    'li',
    {},
    h('span', { class: matches ? 'state ready' : 'state' }, matches ? 'Matches' : 'Does not match'),
    ' ',
    h('bdi', {}, who),
  );
}

/** A numeric value is sent as a Number, and a list in brackets as a String.Array. */
function typeOf(value: string): string {
  if (/^[+-]?(\d+\.?\d*|\.\d+)$/.test(value)) return 'Number';
  return value.startsWith('[') ? 'String.Array' : 'String';
}

function policyIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error('The filter policy is not valid JSON.');
  }
}
