/**
 * The contract file: which contract applies to which queues, by name pattern, and whether a message that breaks it is
 * refused. It is read once at startup and checked completely; an error says where the mistake is.
 *
 *   { "namespace": "kfm",
 *     "queues": [ { "queue": "landsat-*.fifo", "contract": "envelope", "mode": "reject" },
 *                 { "queue": "prices*", "schema": "prices.schema.json", "mode": "observe" } ] }
 *
 * The first entry whose pattern matches a queue applies. A schema is an object, or the name of a file relative to this one.
 */

import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import {
  checkMessage,
  compileSchema,
  type JsonSchema,
  type MessageParts,
  schemaReason,
} from '@oncemq/toolkit';
import { nearestName } from '../../api/nearest-name.ts';
import type { Violation } from '../../core/commands.ts';
import { ConfigError } from '../config.ts';

export interface Contract {
  /** How a message violates the contract of its queue; undefined if it does not, or if the queue has none. */
  judge(queue: string, message: MessageParts): Violation | undefined;
}

type Finding = Pick<Violation, 'rule' | 'reason'>;

interface Binding {
  readonly form: RegExp;
  readonly mode: Violation['mode'];
  find(message: MessageParts): Finding | undefined;
}

type Fields = Readonly<Record<string, unknown>>;

const fileKeys = ['namespace', 'queues'];
const bindingKeys = ['queue', 'contract', 'schema', 'mode'];
const bindingsMax = 1_000;

export function readContract(file: string): Contract {
  const content = objectIn(file);
  checkKeys(content, fileKeys, file);
  const { namespace = 'kfm', queues } = content;
  if (typeof namespace !== 'string' || !/^[a-z0-9][a-z0-9_-]*$/.test(namespace)) {
    throw new ConfigError(`${file}: namespace must be lower-case letters, digits, - and _.`);
  }
  if (!Array.isArray(queues)) throw new ConfigError(`${file}: queues must be a list.`);
  if (queues.length > bindingsMax) {
    throw new ConfigError(`${file}: queues must have at most ${bindingsMax} entries.`);
  }
  const bindings = queues.map((item: unknown, index) =>
    bindingOf(item, namespace, file, `${file}: queues[${index}]`),
  );
  return {
    judge: (queue, message) => {
      const binding = bindings.find(({ form }) => form.test(queue));
      const found = binding?.find(message);
      return binding === undefined || found === undefined
        ? undefined
        : { mode: binding.mode, ...found };
    },
  };
}

function bindingOf(item: unknown, namespace: string, file: string, where: string): Binding {
  if (typeof item !== 'object' || item === null || Array.isArray(item)) {
    throw new ConfigError(`${where} must be an object.`);
  }
  checkKeys(item as Fields, bindingKeys, where);
  const { queue, contract, schema, mode = 'observe' } = item as Fields;
  if (typeof queue !== 'string' || !/^[\w.*?-]+$/.test(queue)) {
    throw new ConfigError(`${where}: queue must be a queue name, or a pattern with * and ?.`);
  }
  if (mode !== 'observe' && mode !== 'reject') {
    throw new ConfigError(`${where}: mode must be observe or reject.`);
  }
  if ((contract === undefined) === (schema === undefined)) {
    throw new ConfigError(`${where} needs either contract: "envelope" or a schema.`);
  }
  if (contract !== undefined && contract !== 'envelope') {
    throw new ConfigError(
      `${where}: contract must be "envelope"; other contracts are given as a schema.`,
    );
  }
  const pattern = queue.replace(/[.]/g, '\\.').replaceAll('*', '.*').replaceAll('?', '.');
  const find = contract === undefined ? schemaRule(schema, file, where) : envelopeRule(namespace);
  return { form: new RegExp(`^${pattern}$`), mode, find };
}

function envelopeRule(namespace: string): Binding['find'] {
  return (message) => {
    const checked = checkMessage(message, { namespace });
    return checked.ok ? undefined : { rule: checked.code, reason: checked.text };
  };
}

function schemaRule(schema: unknown, file: string, where: string): Binding['find'] {
  const rule = 'schema-violated';
  const findError = compiled(schema, file, where);
  return ({ body }) => {
    let value: unknown;
    try {
      value = JSON.parse(body);
    } catch (error) {
      return { rule, reason: `The body is not JSON: ${(error as Error).message}` };
    }
    try {
      const error = findError(value);
      return (
        error && { rule, reason: `The body does not match its schema: ${schemaReason(error)}.` }
      );
    } catch {
      // A recursive schema overflowed the stack on a deeply nested body.
      return { rule, reason: 'The body is nested too deeply for its schema.' };
    }
  };
}

function compiled(schema: unknown, file: string, where: string): ReturnType<typeof compileSchema> {
  const found = typeof schema === 'string' ? objectIn(resolve(dirname(file), schema)) : schema;
  if (typeof found !== 'object' || found === null || Array.isArray(found)) {
    throw new ConfigError(
      `${where}: schema must be a JSON Schema, or the path of a file that contains one.`,
    );
  }
  try {
    return compileSchema(found as JsonSchema);
  } catch (cause) {
    throw new ConfigError(`${where}: the schema is not valid: ${(cause as Error).message}.`, {
      cause,
    });
  }
}

function objectIn(file: string): Fields {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (cause) {
    throw new ConfigError(
      `The contract file ${file} cannot be read: ${(cause as Error).message}.`,
      { cause },
    );
  }
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return value as Fields;
  } catch (cause) {
    throw new ConfigError(`${file} is not JSON: ${(cause as Error).message}`, { cause });
  }
  throw new ConfigError(`${file} must contain a JSON object.`);
}

function checkKeys(given: Fields, known: readonly string[], where: string): void {
  const unknown = Object.keys(given).find((key) => !known.includes(key));
  if (unknown === undefined) return;
  const near = nearestName(unknown, known);
  const hint = near === undefined ? '' : ` Did you mean ${near}?`;
  throw new ConfigError(`${where}: there is no setting ${unknown}.${hint}`);
}
