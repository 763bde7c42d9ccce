/**
 * Inputs of actions, derived from the shapes: one that is right in every member, the path of every value in it that can be wrong, and
 * the input as AWS Query writes it. The fuzz test automatically covers what is added to a shape.
 */

import type { ActionShape, Structure, Type } from '../../src/api/shapes/shape.ts';
import { sqsActions } from '../../src/api/shapes/sqs.ts';
import { wrongValues } from './hostile-values.ts';
import { encodeForm } from './whole-request.ts';

export type Input = { [name: string]: unknown };

export const actionNames: readonly string[] = Object.keys(sqsActions);

export function shapeOf(action: string): ActionShape {
  return sqsActions[action] as ActionShape;
}

/** The queues that hostile requests may reach; the good client's have other names. */
export interface Targets {
  readonly standard: string;
  readonly fifo: string;
  /** Makes each message different. */
  readonly unique: string;
}

const account = '000000000000';

/** An input with every member. If the action concerns a queue, it names an existing one. */
export function goodInput(action: string, targets: Targets, isFifo: boolean): Input {
  const queue = isFifo ? targets.fifo : targets.standard;
  const arn = `arn:aws:sqs:us-east-1:${account}:${queue}`;
  const known: Readonly<Record<string, unknown>> = {
    QueueUrl: `http://localhost/${account}/${action === 'DeleteQueue' ? 'not-there' : queue}`,
    QueueName: queue,
    AWSAccountIds: [account],
    Actions: ['SendMessage'],
    AttributeNames: ['All'],
    SourceArn: arn,
    DestinationArn: arn,
    MaxResults: 10,
    MaxNumberOfMessages: 10,
    MaxNumberOfMessagesPerSecond: 10,
    Attributes: { VisibilityTimeout: '30' },
    Id: 'one',
    DataType: 'String',
    BinaryValue: 'AAEC',
    BinaryListValues: [],
    StringListValues: [],
    MessageSystemAttributes: { AWSTraceHeader: { DataType: 'String', StringValue: 'Root=1' } },
    MessageDeduplicationId: targets.unique,
    // Never a wait: see hostile-values.ts.
    WaitTimeSeconds: 0,
    VisibilityTimeout: 0,
    DelaySeconds: 0,
  };
  return goodStructure(shapeOf(action).input, known);
}

/** Leaves out the members that `known` sets to undefined. */
export function goodStructure({ fields }: Structure, known: Input): Input {
  const members = fields
    .filter(({ name }) => !Object.hasOwn(known, name) || known[name] !== undefined)
    .map(({ name, type }) => [name, known[name] ?? goodValue(type, known)]);
  return Object.fromEntries(members) as Input;
}

function goodValue(type: Type, known: Input): unknown {
  switch (type.is) {
    case 'structure':
      return goodStructure(type, known);
    case 'list':
      return [goodValue(type.of, known)];
    case 'map':
      return { name: goodValue(type.of, known) };
    case 'integer':
    case 'long':
      return 1;
    case 'boolean':
      return true;
    case 'blob':
      return 'AAEC';
    case 'string':
      return 'text';
  }
}

export interface WrongType {
  readonly action: string;
  readonly path: readonly (string | number)[];
  readonly value: unknown;
}

/** Every wrong JSON value at every path of every action. */
export const wrongTypes: readonly WrongType[] = actionNames.flatMap((action) =>
  pathsIn(shapeOf(action).input, []).flatMap(({ path, type, isInMap }) =>
    wrongValues(type, isInMap).map((value) => ({ action, path, value })),
  ),
);

interface ValuePath {
  readonly path: readonly (string | number)[];
  readonly type: Type;
  readonly isInMap: boolean;
}

function pathsIn(type: Type, path: ValuePath['path'], isInMap = false): ValuePath[] {
  const here = path.length === 0 ? [] : [{ path, type, isInMap }];
  switch (type.is) {
    case 'structure':
      return [
        ...here,
        ...type.fields.flatMap((field) => pathsIn(field.type, [...path, field.name])),
      ];
    case 'list':
      return [...here, ...pathsIn(type.of, [...path, 0])];
    case 'map':
      return [...here, ...pathsIn(type.of, [...path, 'name'], true)];
    default:
      return here;
  }
}

/** The input with another value at that path; creates what is missing on the way. */
export function withValue(input: Input, path: WrongType['path'], value: unknown): Input {
  const changed = structuredClone(input);
  let at: Record<string | number, unknown> = changed;
  for (const [index, step] of path.slice(0, -1).entries()) {
    at[step] ??= typeof path[index + 1] === 'number' ? [] : {};
    at = at[step] as Record<string | number, unknown>;
  }
  at[path.at(-1) as string | number] = value;
  return changed;
}

/** `Action=…&QueueUrl=…&Tag.1.Key=…`; values of a wrong type are converted to strings. */
export function formOf(action: string, input: Input, shape: ActionShape = shapeOf(action)): string {
  return [`Action=${action}`, ...pairsOf(shape.input, input, '')].join('&');
}

function pairsOf({ fields }: Structure, input: Input, prefix: string): string[] {
  return fields.flatMap(({ name, query, type }) =>
    Object.hasOwn(input, name) ? valuePairs(type, input[name], prefix + query) : [],
  );
}

function valuePairs(type: Type, value: unknown, name: string): string[] {
  if (typeof value === 'object' && value !== null) {
    if (type.is === 'structure') return pairsOf(type, value as Input, `${name}.`);
    const within = 'within' in type && type.within !== undefined ? `${name}.${type.within}` : name;
    if (type.is === 'list' && Array.isArray(value)) {
      return value.flatMap((item, index) => valuePairs(type.of, item, `${within}.${index + 1}`));
    }
    if (type.is === 'map') {
      return Object.entries(value).flatMap(([key, item], index) => [
        `${within}.${index + 1}.${type.key}=${encodeForm(key)}`,
        ...valuePairs(type.of, item, `${within}.${index + 1}.${type.value}`),
      ]);
    }
  }
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
  return [`${name}=${encodeForm(text)}`];
}
