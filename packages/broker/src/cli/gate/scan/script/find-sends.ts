/**
 * Finds the sends to FIFO queues and topics in the syntax tree of a file, however the send is written, and functions that
 * only pass their arguments on to a send (wrappers): a call of one is a send, in whichever file it is.
 */

import { fileShowsFifo, type Judgment, judgeInput } from './fifo-sign.ts';
import { nameOf } from './scopes.ts';
import type { ScriptFile } from './script-file.ts';
import {
  infrastructure,
  inputMembers,
  queryActions,
  rawRequest,
  sdkModule,
  sendCommands,
  sendMethods,
  targetMembers,
} from './sdk.ts';
import { bare, isClass, type Node, nodesBelow } from './syntax-tree.ts';
import { evaluate, keyOf, memberName, type Value } from './values.ts';

export interface FoundSend {
  readonly line: number;
  readonly name: string;
}

/** An expression that sends, if its input is FIFO. */
interface Site {
  readonly node: Node;
  readonly name: string;
  readonly input: readonly Node[];
  /** The wrapper that it calls. */
  readonly wrapper?: Node;
}

/** Wrappers around wrappers are followed this deep. */
const wrappersDeepMax = 5;
/** sqs-producer has its own name for the group. */
const producerGroup = ['groupId'];

interface Found {
  readonly sends: readonly FoundSend[];
  /** Functions that pass a parameter on to a send, each with the send's name. */
  readonly wrappers: ReadonlyMap<Node, string>;
}

const nothing: Found = { sends: [], wrappers: new Map() };

/** Remembers what each file contains, because wrappers are looked up from other files. */
export class SendFinder {
  readonly #found: Map<ScriptFile, Found> = new Map();

  find(file: ScriptFile): Found {
    const known = this.#found.get(file);
    if (known !== undefined) return known;
    // Until it is known; ends a circle of imports.
    this.#found.set(file, nothing);
    const found = this.#search(file);
    this.#found.set(file, found);
    return found;
  }

  #search(file: ScriptFile): Found {
    const nodes = [...nodesBelow(file.program)];
    const hasSdk = nodes.some((node) => isSdkImport(node));
    const wrappers = new Map<Node, string>();
    const flagged = new Set<Node>();
    const sends = new Map<Node, FoundSend>();
    let isFifoFile: boolean | undefined;
    for (let depth = 0; depth < wrappersDeepMax; depth += 1) {
      const before = wrappers.size;
      for (const node of nodes) {
        const site = this.#siteAt(node, file, hasSdk, wrappers);
        if (site === undefined || sends.has(node)) continue;
        // The wrapper itself is reported.
        if (site.wrapper !== undefined && flagged.has(site.wrapper)) continue;
        const groupNamed = site.name.startsWith('Producer') ? producerGroup : [];
        const judged = judgeInput(site.input, file, groupNamed);
        if (judged.isFifo === 'unknown') isFifoFile ??= fileShowsFifo(file, groupNamed);
        const isFifo = judged.isFifo === 'unknown' ? isFifoFile === true : judged.isFifo;
        if (isFifo) sends.set(node, { line: node.loc.start.line, name: site.name });
        this.#noteWrappers(judged, site, isFifo, wrappers, flagged);
      }
      if (wrappers.size === before) break;
    }
    return { sends: [...sends.values()], wrappers };
  }

  #noteWrappers(
    { isFifo, from }: Judgment,
    { name }: Site,
    isReported: boolean,
    wrappers: Map<Node, string>,
    flagged: Set<Node>,
  ): void {
    if (isFifo !== 'unknown') return;
    for (const owner of from) {
      wrappers.set(owner, name);
      if (isReported) flagged.add(owner);
    }
  }

  #siteAt(
    node: Node,
    file: ScriptFile,
    hasSdk: boolean,
    wrappers: ReadonlyMap<Node, string>,
  ): Site | undefined {
    if (node.type === 'NewExpression') return this.#newSite(node, file, wrappers);
    if (/^(?:Optional)?CallExpression$/.test(node.type)) {
      return this.#callSite(node, file, hasSdk, wrappers) ?? passedOn(node, file);
    }
    if (node.type === 'ObjectProperty') return targetSite(node, file) ?? querySite(node, file);
    const text = node.type === 'StringLiteral' ? String(node.value) : templateText(node);
    const [raw] = rawRequest.exec(text) ?? [];
    return raw === undefined ? undefined : { node, name: raw, input: [] };
  }

  #newSite(node: Node, file: ScriptFile, wrappers: ReadonlyMap<Node, string>): Site | undefined {
    const input = node.arguments ?? [];
    const callee = node.callee && evaluate(node.callee, file);
    if (callee?.is === 'command') return { node, name: callee.name, input: input.slice(0, 1) };
    const name = importedName(node.callee, file) ?? '';
    if (infrastructure.test(name))
      return isLiteralGroup(input, file) ? { node, name, input } : undefined;
    // Named like a command, but from a package that this scan does not read.
    const isForeign = callee === undefined || callee.is === 'foreign';
    if (isForeign && sendCommands.includes(name) && hasInput(input[0], file)) {
      return { node, name, input: input.slice(0, 1) };
    }
    if (callee?.is !== 'class') return undefined;
    const maker = ((callee.node.body as Node).body as readonly Node[]).find(
      ({ kind }) => kind === 'constructor',
    );
    const own = callee.file === file ? wrappers : undefined;
    return maker && this.#wrapperSite({ node, input }, maker, callee.file, own);
  }

  #callSite(
    node: Node,
    file: ScriptFile,
    hasSdk: boolean,
    wrappers: ReadonlyMap<Node, string>,
  ): Site | undefined {
    const { callee, arguments: given = [] } = node;
    if (callee === undefined) return undefined;
    if (callee.type === 'Super') {
      const parent = file.scopes.around(node, isClass)?.superClass;
      const value = parent ? evaluate(parent, file) : undefined;
      return value?.is === 'command' ? { node, name: value.name, input: given } : undefined;
    }
    const value = evaluate(callee, file);
    const called = value?.is === 'via' ? value.of : value;
    if (value?.is === 'via' && value.how === 'bind') return undefined;
    const input = value?.is === 'via' ? given.slice(1) : given;
    if (called?.is === 'send') {
      return called.name === 'defineProducer'
        ? undefined
        : { node, name: called.name, input: input.slice(0, 1) };
    }
    if (called?.is === 'request') return requestSite(node, input, file);
    if (called?.is === 'function') {
      const own = called.file === file ? wrappers : undefined;
      return this.#wrapperSite({ node, input }, called.node, called.file, own);
    }
    const isForeign = called === undefined || called.is === 'foreign';
    return isForeign ? unknownClient(node, called, file, hasSdk) : undefined;
  }

  /** The call of a function that is a wrapper, in its own file or another. */
  #wrapperSite(
    { node, input }: Pick<Site, 'node' | 'input'>,
    owner: Node,
    home: ScriptFile,
    wrappers: ReadonlyMap<Node, string> | undefined,
  ): Site | undefined {
    const name = (wrappers ?? this.find(home).wrappers).get(owner);
    return name === undefined ? undefined : { node, name, input, wrapper: owner };
  }
}

/** `SqsParameters: { MessageGroupId: 'g' }` of a service that sends. */
function targetSite(node: Node, file: ScriptFile): Site | undefined {
  const name = keyOf(node, file) ?? '';
  const input = [node.value as Node];
  return targetMembers.test(name) && isLiteralGroup(input, file)
    ? { node, name, input }
    : undefined;
}

/** `{ Action: 'SendMessage', … }`, a query that is written by hand. */
function querySite(node: Node, file: ScriptFile): Site | undefined {
  if (keyOf(node, file) !== 'Action') return undefined;
  const value = evaluate(node.value as Node, file);
  if (value?.is !== 'text' || !queryActions.includes(value.text)) return undefined;
  return { node, name: `Action=${value.text}`, input: [] };
}

/** `client.makeRequest('sendMessage', input)`; a name that is not known may be that of a send. */
function requestSite(
  node: Node,
  [operation, ...input]: readonly Node[],
  file: ScriptFile,
): Site | undefined {
  const value = operation && evaluate(operation, file);
  if (value?.is !== 'text') return { node, name: 'makeRequest', input: [] };
  return sendMethods.includes(value.text)
    ? { node, name: value.text, input: input.slice(0, 1) }
    : undefined;
}

/** A method named like one that sends, of a client that comes from elsewhere: what it is given must look like a send. */
function unknownClient(
  node: Node,
  called: Value | undefined,
  file: ScriptFile,
  hasSdk: boolean,
): Site | undefined {
  const { callee, arguments: given = [] } = node;
  const name = callee && memberName(callee, file);
  if (callee?.object === undefined || name === undefined || !sendMethods.includes(name))
    return undefined;
  const site = { node, name, input: given.slice(0, 1) };
  if (hasInput(given[0], file)) return site;
  if (called?.is === 'foreign' || !hasSdk || given.some((each) => isSeen(each, file)))
    return undefined;
  // Much else has a method `publish`.
  const owner = bare(callee.object);
  const isTopic = /sns|topic/i.test(nameOf(owner) ?? nameOf(owner.property) ?? '');
  return !name.startsWith('publish') || isTopic ? site : undefined;
}

/** An object with members of a send's input. */
function hasInput(node: Node | undefined, file: ScriptFile): boolean {
  const value = node && evaluate(node, file);
  if (value?.is !== 'object') return false;
  return (value.node.properties ?? []).some((property) =>
    inputMembers.includes(keyOf(property, value.file) ?? ''),
  );
}

function isSeen(node: Node | undefined, file: ScriptFile): boolean {
  const value = node && evaluate(node, file);
  return value?.is === 'text' || value?.is === 'object';
}

function isLiteralGroup(input: readonly Node[], file: ScriptFile): boolean {
  return input.some((each) => judgeInput([each], file).isFifo === true);
}

/** A command or a method that is handed to another function, which will send with it. */
function passedOn(node: Node, file: ScriptFile): Site | undefined {
  const parent = file.scopes.parentOf(node);
  // A value that is kept, such as the result of promisify, is found where it is used.
  if (
    parent !== undefined &&
    /^(?:Variable|Assignment|Member|Optional|Class|Object)/.test(parent.type)
  ) {
    return undefined;
  }
  if (parent?.callee === node) return undefined;
  const given = node.arguments ?? [];
  for (const each of given) {
    const value = evaluate(each, file);
    if (value?.is !== 'command' && value?.is !== 'send') continue;
    if (value.name === 'defineProducer') continue;
    return { node, name: value.name, input: given.filter((other) => other !== each) };
  }
  return undefined;
}

/** The name by which a class is exported where it comes from. */
function importedName(callee: Node | undefined, file: ScriptFile): string | undefined {
  if (callee === undefined) return undefined;
  const name = nameOf(callee);
  if (name === undefined) return callee.object === undefined ? undefined : memberName(callee, file);
  const [meaning] = file.scopes.meanings(name, callee);
  return meaning?.is === 'import' ? meaning.name : name;
}

function isSdkImport({ type, source, callee, arguments: given = [] }: Node): boolean {
  const isCall = callee?.type === 'Import' || nameOf(callee) === 'require';
  const from =
    type.startsWith('Import') || type.startsWith('Export') ? source : isCall ? given[0] : undefined;
  const known = from?.type === 'StringLiteral' ? sdkModule(String(from.value)) : undefined;
  return known !== undefined && known !== 'toolkit';
}

function templateText({ type, value }: Node): string {
  return type === 'TemplateElement' ? ((value as { cooked?: string }).cooked ?? '') : '';
}

/** Calls of `defineProducer`, by whatever name. */
export function producerDefinitions(file: ScriptFile): number[] {
  return [...nodesBelow(file.program)].flatMap(({ type, callee, loc }) => {
    if (type !== 'CallExpression' || callee === undefined) return [];
    const value = evaluate(callee, file);
    return value?.is === 'send' && value.name === 'defineProducer' ? [loc.start.line] : [];
  });
}
