/**
 * What an expression stands for, as far as sends are concerned: a client, a command, a function that sends, a text. The
 * scan follows names through variables, parameters with a type, members, classes, calls of functions in the repository,
 * and imports and re-exports of its files. Nothing is run; whatever it cannot follow is unknown (undefined).
 */

import { type Meaning, nameOf } from './scopes.ts';
import type { ScriptFile } from './script-file.ts';
import { requestMethods, sdkModule, sendCommands, sendMethods } from './sdk.ts';
import { bare, isClass, isFunction, type Node, nodesBelow } from './syntax-tree.ts';

export type Value =
  | { readonly is: 'sdk' | 'sqs-producer' | 'toolkit' | 'client-class' | 'client' | 'request' }
  /** Something that this scan need not follow: a member of another package. */
  | { readonly is: 'foreign' }
  | { readonly is: 'command' | 'send'; readonly name: string }
  /** `bind`, `call` or `apply` of a function. */
  | { readonly is: 'via'; readonly how: string; readonly of: Value }
  | { readonly is: 'text'; readonly text: string }
  | { readonly is: 'file'; readonly file: ScriptFile }
  | {
      readonly is: 'function' | 'class' | 'instance' | 'object';
      readonly node: Node;
      readonly file: ScriptFile;
    };

/** Names are followed through this many steps. */
const stepsMax = 60;
const ofSends = ['sdk', 'client-class', 'client', 'command', 'send'];

/** The value of an expression in a file. */
export function evaluate(given: Node, file: ScriptFile, steps = 0): Value | undefined {
  const known = file.values.get(given);
  if (known !== undefined || file.values.has(given)) return known;
  if (steps > stepsMax) return undefined;
  // Until it is known; ends a circle.
  file.values.set(given, undefined);
  const value = evaluated(bare(given), file, steps + 1);
  file.values.set(given, value);
  return value;
}

function evaluated(node: Node, file: ScriptFile, steps: number): Value | undefined {
  const first = (nodes: readonly (Node | null | undefined)[]): Value | undefined =>
    firstOf(nodes, (each) => (each ? evaluate(each, file, steps) : undefined));
  if (isFunction(node)) return { is: 'function', node, file };
  if (isClass(node)) return classValue(node, file, steps);
  switch (node.type) {
    case 'Identifier':
      return namedValue(String(node.name), node, file, steps);
    case 'StringLiteral':
      return { is: 'text', text: String(node.value) };
    case 'TemplateLiteral':
    case 'BinaryExpression':
      return textValue(node, file, steps);
    case 'ObjectExpression':
      return { is: 'object', node, file };
    case 'ThisExpression': {
      const around = file.scopes.around(node, isClass);
      return around === undefined ? undefined : { is: 'instance', node: around, file };
    }
    case 'Super': {
      const parent = file.scopes.around(node, isClass)?.superClass;
      return parent ? instanceOf(evaluate(parent, file, steps)) : undefined;
    }
    case 'MemberExpression':
    case 'OptionalMemberExpression': {
      const name = memberName(node, file, steps);
      const object = node.object && evaluate(node.object, file, steps);
      return name === undefined || !object ? undefined : memberOf(object, name, steps);
    }
    case 'NewExpression':
      return instanceOf(node.callee && evaluate(node.callee, file, steps));
    case 'CallExpression':
    case 'OptionalCallExpression':
      return callValue(node, file, steps);
    case 'AssignmentExpression':
      return first([node.right]);
    case 'LogicalExpression':
      return first([node.left, node.right]);
    case 'ConditionalExpression':
      return first([node.consequent, node.alternate]);
    case 'SequenceExpression':
      return first([node.expressions?.at(-1)]);
    default:
      return undefined;
  }
}

/** `.name`, or a computed one that is a text. */
export function memberName(node: Node, file: ScriptFile, steps = 0): string | undefined {
  if (!node.property) return undefined;
  if (!node.computed) return nameOf(node.property);
  const value = evaluate(node.property, file, steps);
  return value?.is === 'text' ? value.text : undefined;
}

function namedValue(name: string, at: Node, file: ScriptFile, steps: number): Value | undefined {
  return firstOf(file.scopes.meanings(name, at), (meaning) => meant(meaning, file, steps));
}

function meant(meaning: Meaning, file: ScriptFile, steps: number): Value | undefined {
  switch (meaning.is) {
    case 'import': {
      const module = moduleValue(meaning.from, file, steps);
      return meaning.name === '*' ? module : module && memberOf(module, meaning.name, steps);
    }
    case 'declared':
      return evaluate(meaning.node, file, steps);
    case 'value':
      return inside(evaluate(meaning.node, file, steps), meaning.path, steps);
    case 'parameter': {
      const typed = meaning.type && typeValue(meaning.type, file, steps);
      return typed ?? inside(awaitedParameter(meaning.of, file, steps), meaning.path, steps);
    }
  }
}

function inside(
  value: Value | undefined,
  path: readonly string[],
  steps: number,
): Value | undefined {
  return path.reduce<Value | undefined>(
    (within, name) => (within === undefined ? undefined : memberOf(within, name, steps)),
    value,
  );
}

/** `import('…').then((sdk) => …)` */
function awaitedParameter(of: Node, file: ScriptFile, steps: number): Value | undefined {
  const call = file.scopes.parentOf(of);
  const then = call?.callee;
  if (!then?.object || nameOf(then.property) !== 'then' || call?.arguments?.[0] !== of)
    return undefined;
  return evaluate(then.object, file, steps);
}

/** The value of a parameter of this type: `SQSClient`, `AWS.SQS`, a class of the repository. */
function typeValue(type: Node, file: ScriptFile, steps: number): Value | undefined {
  if (type.types !== undefined) return firstOf(type.types, (each) => typeValue(each, file, steps));
  // In Flow, a type has an id; in TypeScript, a name.
  const name = type.typeName ?? type.id;
  return name ? instanceOf(typeNamed(name, file, steps)) : undefined;
}

function typeNamed(name: Node, file: ScriptFile, steps: number): Value | undefined {
  if (name.type !== 'TSQualifiedName') return evaluate(name, file, steps);
  const left = name.left && typeNamed(name.left, file, steps);
  const right = nameOf(name.right);
  return left && right !== undefined ? memberOf(left, right, steps) : undefined;
}

function moduleValue(specifier: string, file: ScriptFile, steps: number): Value | undefined {
  const known = sdkModule(specifier);
  if (known === 'sdk-client') return { is: 'client-class' };
  if (known !== undefined) return { is: known };
  if (!specifier.startsWith('.')) return { is: 'foreign' };
  const local = file.imported(specifier);
  if (local === undefined) return undefined;
  const whole = local.scopes.memberAssignments.find(
    ({ object, name }) => nameOf(object) === 'module' && name === 'exports',
  );
  return whole === undefined ? { is: 'file', file: local } : evaluate(whole.value, local, steps);
}

function classValue(node: Node, file: ScriptFile, steps: number): Value {
  const parent = node.superClass ? evaluate(node.superClass, file, steps) : undefined;
  if (parent?.is === 'command') return parent;
  return { is: 'class', node, file };
}

function instanceOf(value: Value | undefined): Value | undefined {
  if (value?.is === 'client-class') return { is: 'client' };
  if (value?.is === 'class') return { ...value, is: 'instance' };
  return value?.is === 'foreign' ? value : undefined;
}

function callValue(node: Node, file: ScriptFile, steps: number): Value | undefined {
  const given = node.arguments ?? [];
  const isRequire = node.callee?.type === 'Import' || nameOf(node.callee) === 'require';
  if (isRequire && given[0] !== undefined) {
    const name = evaluate(given[0], file, steps);
    return name?.is === 'text' ? moduleValue(name.text, file, steps) : undefined;
  }
  const callee = node.callee && evaluate(node.callee, file, steps);
  if (callee?.is === 'via' && callee.how === 'bind') return callee.of;
  if (callee?.is === 'function') return returned(callee.node, callee.file, steps);
  if (callee !== undefined && callee.is !== 'foreign') return undefined;
  // What wraps a client or a method gives one back: promisify, captureAWSv3Client.
  const passed = firstOf(given, (each) => {
    const value = evaluate(each, file, steps);
    return value !== undefined && ofSends.includes(value.is) ? value : undefined;
  });
  if (passed !== undefined) return passed;
  if (nameOf(node.callee?.property) === 'then' && given[0]) {
    const next = evaluate(given[0], file, steps);
    return next?.is === 'function' ? returned(next.node, next.file, steps) : undefined;
  }
  return callee;
}

function returned(owner: Node, file: ScriptFile, steps: number): Value | undefined {
  const body = owner.body as Node;
  if (body.type !== 'BlockStatement') return evaluate(body, file, steps);
  const own = [...nodesBelow(body, (child) => !isFunction(child))];
  return firstOf(own, ({ type, argument }) =>
    type === 'ReturnStatement' && argument ? evaluate(argument, file, steps) : undefined,
  );
}

function textValue(node: Node, file: ScriptFile, steps: number): Value | undefined {
  const texts = (nodes: readonly (Node | undefined)[]): string[] | undefined => {
    const values = nodes.map((each) => (each ? evaluate(each, file, steps) : undefined));
    return values.every((value) => value?.is === 'text')
      ? values.map(({ text }) => text)
      : undefined;
  };
  if (node.type === 'BinaryExpression') {
    const parts = node.operator === '+' ? texts([node.left, node.right]) : undefined;
    return parts && { is: 'text', text: parts.join('') };
  }
  const parts = texts(node.expressions ?? []);
  const written = (node.quasis ?? []).map(({ value }) => value.cooked ?? '');
  return (
    parts && { is: 'text', text: written.map((text, at) => text + (parts[at] ?? '')).join('') }
  );
}

/** The member of a value by its name. */
export function memberOf(value: Value, name: string, steps = 0): Value | undefined {
  if (
    ['send', 'function', 'request'].includes(value.is) &&
    ['bind', 'call', 'apply'].includes(name)
  ) {
    return { is: 'via', how: name, of: value };
  }
  switch (value.is) {
    case 'sdk':
      if (name === 'default') return value;
      if (sendCommands.includes(name)) return { is: 'command', name };
      return /^(?:SQS|SNS)(?:Client)?$/.test(name) ? { is: 'client-class' } : { is: 'foreign' };
    case 'client-class':
      if (name === 'default') return value;
      return name === 'prototype' ? { is: 'client' } : undefined;
    case 'client':
      if (requestMethods.includes(name)) return { is: 'request' };
      return sendMethods.includes(name) ? { is: 'send', name } : { is: 'foreign' };
    case 'sqs-producer':
      if (name === 'default') return value;
      return name === 'Producer' ? { is: 'command', name: 'Producer' } : { is: 'foreign' };
    case 'command':
      return name === 'create' ? { is: 'send', name: `${value.name}.create` } : undefined;
    case 'toolkit':
      return name === 'defineProducer' ? { is: 'send', name } : { is: 'foreign' };
    case 'foreign':
      return value;
    case 'file':
      return exported(value.file, name, steps);
    case 'object':
      return objectMember(value.node, value.file, name, steps);
    case 'class':
    case 'instance':
      return classMember(value, name, steps);
    default:
      return undefined;
  }
}

function objectMember(
  node: Node,
  file: ScriptFile,
  name: string,
  steps: number,
): Value | undefined {
  return firstOf([...(node.properties ?? [])].reverse(), (property) => {
    if (property.type === 'SpreadElement') {
      const spread = property.argument && evaluate(property.argument, file, steps);
      return spread ? memberOf(spread, name, steps) : undefined;
    }
    if (keyOf(property, file) !== name) return undefined;
    if (property.type === 'ObjectMethod') return { is: 'function', node: property, file };
    return evaluate(property.value as Node, file, steps);
  });
}

/** The name of a property in an object or a class; a computed one if it is a text. */
export function keyOf({ key, computed }: Node, file: ScriptFile): string | undefined {
  if (key === undefined || !computed) return nameOf(key);
  const value = evaluate(key, file);
  return value?.is === 'text' ? value.text : undefined;
}

function classMember(
  { node, file, is }: Extract<Value, { readonly node: Node }>,
  name: string,
  steps: number,
): Value | undefined {
  if (is === 'class' && name === 'prototype') return { is: 'instance', node, file };
  const { superClass } = node;
  const members = (node.body as Node).body as readonly Node[];
  const own = firstOf(members, (member) => {
    const key = member.key?.type === 'PrivateName' ? nameOf(member.key) : keyOf(member, file);
    if (key !== name) return undefined;
    if (isFunction(member)) {
      // A getter's value, or the method itself.
      return member.kind === 'get'
        ? returned(member, file, steps)
        : { is: 'function', node: member, file };
    }
    const type = member.typeAnnotation?.typeAnnotation;
    const value = member.value ? evaluate(member.value as Node, file, steps) : undefined;
    return value ?? (type && typeValue(type, file, steps));
  });
  if (own !== undefined) return own;
  const assigned = firstOf(file.scopes.memberAssignments, (assignment) =>
    assignment.name === name &&
    assignment.object.type === 'ThisExpression' &&
    file.scopes.around(assignment.object, isClass) === node
      ? evaluate(assignment.value, file, steps)
      : undefined,
  );
  const inherited = superClass ? evaluate(superClass, file, steps) : undefined;
  const parent = is === 'instance' ? instanceOf(inherited) : inherited;
  return (
    assigned ?? constructed(members, file, name, steps) ?? (parent && memberOf(parent, name, steps))
  );
}

/** `constructor(private readonly sqs: SQSClient)` */
function constructed(
  members: readonly Node[],
  file: ScriptFile,
  name: string,
  steps: number,
): Value | undefined {
  const maker = members.find(({ kind }) => kind === 'constructor');
  const declares = maker?.params?.some(
    ({ type, parameter }) =>
      type === 'TSParameterProperty' && [nameOf(parameter), nameOf(parameter?.left)].includes(name),
  );
  return maker && declares ? namedValue(name, maker, file, steps) : undefined;
}

function exported(file: ScriptFile, name: string, steps: number): Value | undefined {
  const body = file.program.body as readonly Node[];
  const found = firstOf(body, (node) => {
    if (node.type === 'ExportDefaultDeclaration' && name === 'default' && node.declaration) {
      return evaluate(node.declaration, file, steps);
    }
    if (node.type === 'ExportNamedDeclaration') return exportedBy(node, file, name, steps);
    if (node.type !== 'ExportAllDeclaration') return undefined;
    const module = moduleValue(String(node.source?.value), file, steps);
    // `export *` of another package tells nothing about a name.
    return module === undefined || module.is === 'foreign'
      ? undefined
      : memberOf(module, name, steps);
  });
  return (
    found ??
    firstOf(file.scopes.memberAssignments, (assignment) => {
      const { object } = assignment;
      const isExports = nameOf(object) === 'exports' || nameOf(object.property) === 'exports';
      return isExports && assignment.name === name
        ? evaluate(assignment.value, file, steps)
        : undefined;
    })
  );
}

function exportedBy(node: Node, file: ScriptFile, name: string, steps: number): Value | undefined {
  const specifier = node.specifiers?.find((each) => nameOf(each.exported) === name);
  if (specifier === undefined) {
    const declared = [node.declaration, ...(node.declaration?.declarations ?? [])];
    const isHere = declared.some(
      (each) => nameOf(each?.id) === name || each?.id?.type === 'ObjectPattern',
    );
    return isHere ? namedValue(name, node, file, steps) : undefined;
  }
  if (!node.source) return specifier.local && evaluate(specifier.local, file, steps);
  const module = moduleValue(String(node.source.value), file, steps);
  if (specifier.type === 'ExportNamespaceSpecifier') return module;
  return module && memberOf(module, nameOf(specifier.local) ?? '', steps);
}

function firstOf<T>(all: readonly T[], found: (each: T) => Value | undefined): Value | undefined {
  for (const each of all) {
    const value = found(each);
    if (value !== undefined) return value;
  }
  return undefined;
}
