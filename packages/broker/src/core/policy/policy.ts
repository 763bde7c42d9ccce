/**
 * The policy language of queues and topics, IAM's: reads a document once into statements, and refuses what is not written
 * in it, as Amazon does when a policy is set. An element, an operator or an Effect that nobody knows could otherwise be
 * overlooked where the policy is asked (is-allowed.ts), and allow by mistake what was to be denied. Whoever finds a stored
 * policy that cannot be read allows nothing by it.
 *
 * Only the language is checked: whether an account, an action or a condition key exists is not, and limits are left to
 * whoever stores the policy.
 */

import { parseObject, repeatedKeyIn } from '../json-object.ts';

export interface Policy {
  readonly statements: readonly Statement[];
}

export interface Statement {
  readonly sid: string | undefined;
  readonly effect: 'Allow' | 'Deny';
  readonly principals: Named<Principal>;
  readonly actions: Named<string>;
  /** Undefined: the resource that has the policy. */
  readonly resources: Named<string> | undefined;
  readonly conditions: readonly Condition[];
}

/** What an element names; with `isNot`, its Not form was given, which covers everything else. */
export interface Named<T> {
  readonly isNot: boolean;
  readonly values: readonly T[];
}

export interface Principal {
  readonly type: PrincipalType;
  /** `*` for everybody. */
  readonly id: string;
}

export type PrincipalType = 'AWS' | 'Service' | 'Federated' | 'CanonicalUser';

/** One key of one operator. */
export interface Condition {
  /** In lower case, without IfExists: `stringequals`. */
  readonly operator: string;
  /** In lower case: `aws:sourcearn`. */
  readonly key: string;
  /** Alternatives. */
  readonly values: readonly string[];
}

export type ReadPolicy =
  | { readonly ok: true; readonly policy: Policy }
  | { readonly ok: false; readonly reason: string };

export function parsePolicy(text: string): ReadPolicy {
  const document = parseObject(text);
  if (document === undefined) return { ok: false, reason: 'Policy is not JSON' };
  const repeated = repeatedKeyIn(text);
  if (repeated !== undefined)
    return { ok: false, reason: `the element ${repeated} is there twice` };
  try {
    return { ok: true, policy: { statements: readDocument(document) } };
  } catch (error) {
    if (error instanceof UnreadablePolicy) return { ok: false, reason: error.message };
    throw error;
  }
}

/** Ends the reading of a document at once, however deep it is; leaves this file as a value. */
class UnreadablePolicy extends Error {}

const versions: ReadonlySet<unknown> = new Set(['2008-10-17', '2012-10-17']);
const documentElements: ReadonlySet<string> = new Set(['Version', 'Id', 'Statement']);
const statementElements: ReadonlySet<string> = new Set([
  'Sid',
  'Effect',
  'Principal',
  'NotPrincipal',
  'Action',
  'NotAction',
  'Resource',
  'NotResource',
  'Condition',
]);
const principalTypes: ReadonlySet<string> = new Set([
  'AWS',
  'Service',
  'Federated',
  'CanonicalUser',
]);

/** IAM's condition operators, in lower case. Each but Null also has an IfExists form, and all can be asked of a set. */
const operators: ReadonlySet<string> = new Set(
  [
    ['string', 'equals notequals equalsignorecase notequalsignorecase like notlike'],
    ['numeric', 'equals notequals lessthan lessthanequals greaterthan greaterthanequals'],
    ['date', 'equals notequals lessthan lessthanequals greaterthan greaterthanequals'],
    ['arn', 'equals notequals like notlike'],
    ['', 'bool binaryequals ipaddress notipaddress null'],
  ].flatMap(([type = '', names = '']) => names.split(' ').map((name) => type + name)),
);
const operatorForm = /^(?:forallvalues:|foranyvalue:)?(.*?)(ifexists)?$/;

function readDocument(document: Readonly<Record<string, unknown>>): readonly Statement[] {
  const { Version, Id, Statement } = document;
  requireKnown(document, documentElements);
  if (Version !== undefined && !versions.has(Version))
    fail('Version is not one of 2008-10-17, 2012-10-17');
  if (Id !== undefined && typeof Id !== 'string') fail('Id is not a text');
  const statements = listOf(Statement).map(readStatement);
  if (statements.length === 0) fail('there is no Statement');
  return statements;
}

function readStatement(given: unknown): Statement {
  const statement = objectOf(given, 'Statement');
  requireKnown(statement, statementElements);
  const { Sid: sid, Effect: effect, Condition } = statement;
  if (sid !== undefined && typeof sid !== 'string') return fail('Sid is not a text');
  if (effect !== 'Allow' && effect !== 'Deny') return fail('Effect is not one of Allow, Deny');
  const principals = readNamed(statement, 'Principal', principalsIn);
  const actions = readNamed(statement, 'Action', textsIn);
  if (principals === undefined) return fail('a statement has no Principal');
  if (actions === undefined) return fail('a statement has no Action');
  const resources = readNamed(statement, 'Resource', textsIn);
  const conditions = Condition === undefined ? [] : conditionsIn(Condition);
  return { sid, effect, principals, actions, resources, conditions };
}

function readNamed<T>(
  statement: Readonly<Record<string, unknown>>,
  element: 'Principal' | 'Action' | 'Resource',
  read: (value: unknown, element: string) => readonly T[],
): Named<T> | undefined {
  const { [element]: those, [`Not${element}`]: others } = statement;
  if (those !== undefined && others !== undefined)
    fail(`${element} and Not${element} exclude each other`);
  if (those !== undefined) return { isNot: false, values: read(those, element) };
  return others === undefined ? undefined : { isNot: true, values: read(others, `Not${element}`) };
}

function principalsIn(value: unknown, element: string): readonly Principal[] {
  if (value === '*') return [{ type: 'AWS', id: '*' }];
  const principals = Object.entries(objectOf(value, element)).flatMap(([type, ids]) => {
    if (!principalTypes.has(type)) fail(`${element} has the unknown type ${type}`);
    return textsIn(ids, element).map((id) => ({ type: type as PrincipalType, id }));
  });
  return principals.length === 0 ? fail(`${element} is empty`) : principals;
}

function conditionsIn(value: unknown): readonly Condition[] {
  return Object.entries(objectOf(value, 'Condition')).flatMap(([given, keys]) => {
    const operator = operatorOf(given);
    return Object.entries(objectOf(keys, given)).map(([key, values]) => {
      return { operator, key: key.toLowerCase(), values: listOf(values).map(conditionValue) };
    });
  });
}

/** As it is compared: without IfExists, which makes a difference only for keys that are not there. */
function operatorOf(given: string): string {
  const lower = given.toLowerCase();
  const [, name = '', ifExists] = operatorForm.exec(lower) ?? [];
  const isKnown = operators.has(name) && !(name === 'null' && ifExists !== undefined);
  if (!isKnown) fail(`the condition operator ${given} is unknown`);
  return ifExists === undefined ? lower : lower.slice(0, -ifExists.length);
}

/** Numbers and truth values are also given without quotes. */
function conditionValue(value: unknown): string {
  const isPlain = ['string', 'number', 'boolean'].includes(typeof value);
  return isPlain
    ? String(value)
    : fail('a value in a Condition is neither a text nor a number, true or false');
}

function textsIn(value: unknown, element: string): readonly string[] {
  const texts = listOf(value);
  if (texts.length === 0) fail(`${element} is empty`);
  return texts.map((text) => (typeof text === 'string' ? text : fail(`${element} is not a text`)));
}

function objectOf(value: unknown, element: string): Readonly<Record<string, unknown>> {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isObject ? (value as Record<string, unknown>) : fail(`${element} is not an object`);
}

function requireKnown(given: object, known: ReadonlySet<string>): void {
  const unknown = Object.keys(given).find((name) => !known.has(name));
  if (unknown !== undefined) fail(`the element ${unknown} is unknown`);
}

function listOf(value: unknown): readonly unknown[] {
  if (value === undefined) return [];
  return Array.isArray(value) ? value : [value];
}

function fail(reason: string): never {
  throw new UnreadablePolicy(reason);
}
