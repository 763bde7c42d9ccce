/**
 * Reads `oncemq.contract.json`, the one place that says what holds for the messages of a repository or a server:
 *
 *   { "namespace": "shop",
 *     "harmless": ["warehouse_id"],
 *     "queues": [ { "queue": "orders*.fifo", "mode": "reject" },
 *                 { "queue": "prices*", "schema": "prices.schema.json" } ],
 *     "topics": [ { "topic": "orders*.fifo" } ] }
 *
 * Its form is a published JSON Schema (published-schemas.ts), and the file is checked completely when it is read; an error
 * says where the mistake is, and which name was probably meant. Paths in it are relative to the file.
 */

import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { ErrorObject } from 'ajv';
import { wordsOf } from './attribute-names.ts';
import { exceededBound } from './body-bounds.ts';
import {
  type Binding,
  type Contract,
  defaultContract,
  type RegisteredProducer,
} from './contract.ts';
import { checkMessage } from './message.ts';
import { nearestName } from './nearest-name.ts';
import { contractSchema } from './published-schemas.ts';
import { type Refusal, refuse } from './refusals.ts';
import { repeatedMember } from './repeated-member.ts';
import { compileSchema, type JsonSchema, schemaReason } from './schemas.ts';

export const contractFileName = 'oncemq.contract.json';

/** A contract file is wrong or missing; the message says where and what to do. */
export class ContractFileError extends Error {
  override readonly name: string = 'ContractFileError';
}

type Fields = Readonly<Record<string, unknown>>;

type BindingFields = Partial<Record<'queue' | 'topic' | 'contract', string>> & {
  readonly schema?: unknown;
  readonly mode?: Binding['mode'];
};

const findError = compileSchema(contractSchema);

/** The path of the contract file in the folder, or in the nearest folder above that has one. */
export function findContract(from: string = process.cwd()): string | undefined {
  for (let folder = resolve(from); ; folder = dirname(folder)) {
    const file = join(folder, contractFileName);
    if (existsSync(file)) return file;
    if (folder === dirname(folder)) return undefined;
  }
}

/** The contract of the file that `findContract` finds. Throws if there is none: a program that asks for one needs it. */
export function loadContract(from?: string): Contract {
  const file = findContract(from);
  if (file !== undefined) return readContract(file);
  throw new ContractFileError(
    `There is no ${contractFileName} in ${resolve(from ?? process.cwd())} or a folder above it.`,
  );
}

export function readContract(file: string): Contract {
  const content = objectIn(file, `The contract file ${file}`);
  const error = findError(content);
  if (error !== undefined) throw new ContractFileError(`${file}: ${errorText(error)}`);
  const { $schema: _, ...given } = content as Fields & Partial<Contract>;
  const contract: Contract = { ...defaultContract, ...given };
  checkNames(contract, file);
  const bindings = (name: 'queue' | 'topic'): Binding[] =>
    ((given[`${name}s`] ?? []) as readonly BindingFields[]).map((fields, index) =>
      boundBy(fields, String(fields[name]), contract, {
        file,
        where: `${file}: ${name}s[${index}]`,
      }),
    );
  contract.producers.forEach((producer, index) => {
    checkProducer(producer, contract.producers.slice(0, index), `${file}: producers[${index}]`);
  });
  return { ...contract, queues: bindings('queue'), topics: bindings('topic') };
}

function checkNames({ critical, harmless }: Contract, file: string): void {
  const both = critical.find((name) =>
    harmless.some((each) => wordsOf(each).join(' ') === wordsOf(name).join(' ')),
  );
  if (both === undefined) return;
  throw new ContractFileError(`${file}: ${both} is in critical and in harmless.`);
}

function checkProducer(
  { name, queue, topic }: RegisteredProducer,
  before: readonly RegisteredProducer[],
  where: string,
): void {
  if ((queue === undefined) === (topic === undefined)) {
    throw new ContractFileError(`${where} needs either a queue or a topic.`);
  }
  if (before.some((other) => other.name === name)) {
    throw new ContractFileError(`${where}: there is another producer ${name}.`);
  }
}

function boundBy(
  { contract: form, schema, mode = 'observe' }: BindingFields,
  pattern: string,
  contract: Contract,
  { file, where }: { readonly file: string; readonly where: string },
): Binding {
  if (form !== undefined && schema !== undefined) {
    throw new ContractFileError(`${where} has a contract and a schema; only one can apply.`);
  }
  const escaped = pattern.replace(/[.]/g, '\\.').replaceAll('*', '.*').replaceAll('?', '.');
  const names = new RegExp(`^${escaped}$`);
  const own = form === undefined ? contract : { ...contract, form: form as Contract['form'] };
  const judge: Binding['judge'] = (message, rules) =>
    checkMessage(message, { ...rules, contract: own });
  const matches = (name: string): boolean => names.test(name);
  return schema === undefined
    ? { matches, mode, form: own.form, judge }
    : { matches, mode, judge: schemaRule(schema, file, where) };
}

function schemaRule(schema: unknown, file: string, where: string): Binding['judge'] {
  const findBodyError = compiled(schema, file, where);
  const violated = (reason: string): Refusal => refuse('schema-violated', { reason });
  return (message) => {
    const { body } = message;
    const exceeded = exceededBound(message);
    if (exceeded !== undefined) return exceeded;
    let value: unknown;
    try {
      value = JSON.parse(body);
    } catch (error) {
      return violated(`it is not JSON (${(error as Error).message})`);
    }
    const name = repeatedMember(body);
    if (name !== undefined) return refuse('member-repeated', { name });
    try {
      const error = findBodyError(value);
      return error === undefined ? { ok: true } : violated(schemaReason(error));
    } catch {
      // A recursive schema overflowed the stack on a deeply nested body.
      return violated('it is nested too deeply');
    }
  };
}

function compiled(schema: unknown, file: string, where: string): ReturnType<typeof compileSchema> {
  const path = typeof schema === 'string' ? resolve(dirname(file), schema) : undefined;
  const named = path === undefined ? 'the schema' : `the schema file ${path}`;
  const found = path === undefined ? schema : objectIn(path, `${where}: ${named}`);
  try {
    return compileSchema(found as JsonSchema);
  } catch (cause) {
    throw new ContractFileError(`${where}: ${named} is not valid: ${(cause as Error).message}.`, {
      cause,
    });
  }
}

/** `named` is how errors name the file. */
function objectIn(file: string, named: string): Fields {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (cause) {
    throw new ContractFileError(`${named} cannot be read: ${(cause as Error).message}.`, { cause });
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new ContractFileError(`${named} is not JSON: ${(cause as Error).message}`, { cause });
  }
  const repeated = repeatedMember(text);
  if (repeated !== undefined) {
    throw new ContractFileError(`${named} has the member ${repeated} twice in one object.`);
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Fields;
  throw new ContractFileError(`${named} must contain a JSON object.`);
}

/** `queues[0]: there is no setting mod. Did you mean mode?` */
function errorText({ keyword, instancePath, params, message, schemaPath }: ErrorObject): string {
  const where = instancePath
    .slice(1)
    .replace(/\/(\d+)/g, '[$1]')
    .replaceAll('/', '.');
  const prefix = where === '' ? '' : `${where}: `;
  if (keyword === 'additionalProperties') {
    const name = String(params['additionalProperty']);
    const near = nearestName(
      name,
      Object.keys((schemaAt(schemaPath)['properties'] ?? {}) as object),
    );
    return `${prefix}there is no setting ${name}.${near === undefined ? '' : ` Did you mean ${near}?`}`;
  }
  if (keyword === 'required') return `${prefix}${params['missingProperty']} is missing.`;
  const { description = '' } = schemaAt(schemaPath);
  const allowed: unknown = params['allowedValues'];
  const must = Array.isArray(allowed) ? `must be ${allowed.join(' or ')}` : message;
  return `${where} ${must}. ${String(description)}`.trim();
}

/** The part of the contract schema that has the keyword of an error. */
function schemaAt(schemaPath: string): Fields {
  const steps = schemaPath.split('/').slice(1, -1);
  return steps.reduce<Fields>((part, step) => part[step] as Fields, contractSchema);
}
