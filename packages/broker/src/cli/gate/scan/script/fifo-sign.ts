/**
 * Whether a send goes to a FIFO queue or topic, as its source shows: a MessageGroupId, or a name with `.fifo`. Input that is
 * written out completely is judged by itself, since a FIFO send without a group is refused; otherwise nobody can tell
 * (`unknown`), and the file decides.
 */

import { nameOf } from './scopes.ts';
import type { ScriptFile } from './script-file.ts';
import { entryMembers, otherCalls } from './sdk.ts';
import { bare, isFunction, type Node, nodesBelow } from './syntax-tree.ts';
import { evaluate, keyOf } from './values.ts';

export interface Judgment {
  readonly isFifo: boolean | 'unknown';
  /** Functions whose parameters the input comes from: their callers decide. */
  readonly from: readonly Node[];
}

/** Names are followed through this many variables. */
const stepsMax = 6;
const groupNames = ['MessageGroupId', 'messageGroupId'];
/** What a message says tells nothing about where it goes. */
const contentMembers = ['MessageBody', 'Message', 'Subject', 'MessageAttributes'];
/** A name of a queue or topic, or the group in a query or a command line. */
const fifoText = /\.fifo\b|\bMessageGroupId=|--message-group-id\b/;
const fifoWord = /(?:^|[_a-z])(?:FIFO|Fifo|fifo)(?![a-z])/;

/** Judges the arguments of a send. `groupNamed` are further names of the group. */
export function judgeInput(
  input: readonly Node[],
  file: ScriptFile,
  groupNamed: readonly string[] = [],
): Judgment {
  const from = new Set<Node>();
  const isFifo = input.some((node) =>
    showsFifo(node, file, [...groupNames, ...groupNamed], from, 0),
  );
  if (isFifo) return { isFifo, from: [] };
  const isWhole = input.length > 0 && input.every((node) => isWrittenOut(node, file, 0));
  return { isFifo: isWhole ? false : 'unknown', from: [...from] };
}

/** Whether anything in the file shows a FIFO target, apart from calls that only receive, delete, create and the like. */
export function fileShowsFifo(file: ScriptFile, groupNamed: readonly string[] = []): boolean {
  const names = [...groupNames, ...groupNamed];
  const sends = (node: Node): boolean => {
    const { callee } = node;
    const name = nameOf(callee) ?? nameOf(callee?.property);
    return name === undefined || !otherCalls.test(name.replace(/Command$/, ''));
  };
  for (const node of nodesBelow(file.program, sends)) {
    if (isGroup(node, file, names) || isFifoText(node)) return true;
  }
  return file.scopes.memberAssignments.some(({ name }) => names.includes(name));
}

function isGroup(node: Node, file: ScriptFile, names: readonly string[]): boolean {
  if (!/^(?:ObjectProperty|ObjectMethod|TSPropertySignature)$/.test(node.type)) return false;
  if (file.scopes.parentOf(node)?.type === 'ObjectPattern') return false;
  return names.includes(keyOf(node, file) ?? '') && nameOf(node.value as Node) !== 'undefined';
}

function isFifoText({ type, value }: Node): boolean {
  if (type === 'StringLiteral' || type === 'DirectiveLiteral') return fifoText.test(String(value));
  if (type !== 'TemplateElement') return false;
  return fifoText.test((value as { cooked?: string | null }).cooked ?? '');
}

/** Looks into the expression, and into the variables and functions that it names. */
function showsFifo(
  input: Node,
  file: ScriptFile,
  names: readonly string[],
  from: Set<Node>,
  steps: number,
): boolean {
  const enters = (node: Node): boolean => !contentMembers.includes(nameOf(node.key) ?? '');
  for (const node of nodesBelow(input, enters)) {
    if (isGroup(node, file, names) || isFifoText(node)) return true;
    const name = node.type === 'Identifier' ? String(node.name) : undefined;
    if (name === undefined) continue;
    if (fifoWord.test(name)) return true;
    const parent = file.scopes.parentOf(node);
    const isLabel = !parent?.computed && (parent?.property === node || parent?.key === node);
    if (isLabel && parent?.value !== node) continue;
    const value = evaluate(node, file);
    if (value?.is === 'text' && fifoText.test(value.text)) return true;
    if (steps >= stepsMax) continue;
    for (const meaning of file.scopes.meanings(name, node)) {
      // A parameter of a function inside the input is the function's own.
      if (meaning.is === 'parameter' && isFunction(meaning.of)) from.add(meaning.of);
      const node = meaning.is === 'value' || meaning.is === 'declared' ? meaning.node : undefined;
      if (node !== undefined && showsFifo(node, file, names, from, steps + 1)) return true;
    }
    if (membersOf(name, file).some((member) => names.includes(member))) return true;
  }
  return false;
}

/** Members that are assigned to a variable by its name. */
function membersOf(name: string, file: ScriptFile): string[] {
  return file.scopes.memberAssignments
    .filter(({ object }) => object.type === 'Identifier' && object.name === name)
    .map((assignment) => assignment.name);
}

/** An object of which every member can be seen, a text, a number, or a choice between such. */
function isWrittenOut(given: Node | null | undefined, file: ScriptFile, steps: number): boolean {
  if (!given || steps > stepsMax) return false;
  const node = bare(given);
  const whole = (each: Node | null | undefined): boolean => isWrittenOut(each, file, steps + 1);
  if (isFunction(node)) return returnedBy(node).every(whole);
  switch (node.type) {
    case 'StringLiteral':
    case 'NumericLiteral':
    case 'BooleanLiteral':
    case 'NullLiteral':
    case 'TemplateLiteral':
      return true;
    case 'ObjectExpression':
      return (node.properties ?? []).every((property) => {
        if (property.type === 'SpreadElement') return whole(property.argument);
        const key = keyOf(property, file);
        if (key === undefined) return false;
        if (key === 'queueUrl') return whole(property.value as Node);
        return !entryMembers.includes(key) || whole(property.value as Node);
      });
    case 'ArrayExpression':
      return (node.elements ?? []).every(whole);
    case 'ConditionalExpression':
      return whole(node.consequent) && whole(node.alternate);
    case 'LogicalExpression':
      return whole(node.right);
    case 'CallExpression':
      // orders.map((order) => ({ … }))
      return nameOf(node.callee?.property) === 'map' && whole(node.arguments?.[0]);
    case 'Identifier': {
      const meanings = file.scopes.meanings(String(node.name), node);
      const isValue = meanings.length > 0 && meanings.every(({ is }) => is === 'value');
      return (
        isValue &&
        meanings.every((each) => each.is === 'value' && each.path.length === 0 && whole(each.node))
      );
    }
    default:
      return false;
  }
}

function returnedBy(owner: Node): (Node | null | undefined)[] {
  const body = owner.body as Node;
  if (body.type !== 'BlockStatement') return [body];
  return [...nodesBelow(body, (child) => !isFunction(child))]
    .filter(({ type }) => type === 'ReturnStatement')
    .map(({ argument }) => argument);
}
