/**
 * What the names in a file stand for: each scope's declarations, and everything that is assigned to them later. Nothing is
 * evaluated here. A name may have several meanings (`let Send; Send = …`); all of them are remembered.
 */

import { bare, childrenOf, isClass, isFunction, type Node, nodesBelow } from './syntax-tree.ts';

export type Meaning =
  /** `name` is what the module exports; `*` for the whole module. */
  | { readonly is: 'import'; readonly from: string; readonly name: string }
  /** The value of an expression, or what is at this path in it, as a pattern takes it apart. */
  | { readonly is: 'value'; readonly node: Node; readonly path: readonly string[] }
  | { readonly is: 'declared'; readonly node: Node }
  | {
      readonly is: 'parameter';
      readonly of: Node;
      readonly path: readonly string[];
      readonly type: Node | undefined;
    };

export interface Scope {
  readonly parent: Scope | undefined;
  readonly names: Map<string, Meaning[]>;
  /** A function or the file, which is where `var` declares. */
  readonly isWhole: boolean;
}

/** `object.name = value` */
export interface MemberAssignment {
  readonly object: Node;
  readonly name: string;
  readonly value: Node;
}

export class Scopes {
  readonly #parents: Map<Node, Node> = new Map();
  readonly #scopes: Map<Node, Scope> = new Map();
  readonly memberAssignments: MemberAssignment[] = [];

  constructor(program: Node) {
    const assignments: Node[] = [];
    for (const node of nodesBelow(program)) {
      for (const child of childrenOf(node)) this.#parents.set(child, node);
      this.#open(node);
      this.#declare(node);
      if (node.type === 'AssignmentExpression') assignments.push(node);
    }
    for (const { left, right } of assignments) {
      if (left !== undefined && right !== undefined) this.#assign(left, right);
    }
  }

  parentOf(node: Node): Node | undefined {
    return this.#parents.get(node);
  }

  /** The nearest ancestor for which this holds. */
  around(node: Node, holds: (ancestor: Node) => boolean): Node | undefined {
    let next = this.#parents.get(node);
    while (next !== undefined && !holds(next)) next = this.#parents.get(next);
    return next;
  }

  /** What a name means where the node is; nothing if it is declared nowhere in the file. */
  meanings(name: string, at: Node): readonly Meaning[] {
    for (let scope = this.#scopeAt(at); scope !== undefined; scope = scope.parent) {
      const found = scope.names.get(name);
      if (found !== undefined) return found;
    }
    return [];
  }

  #scopeAt(node: Node): Scope | undefined {
    const holder = this.#scopes.has(node)
      ? node
      : this.around(node, (each) => this.#scopes.has(each));
    return holder === undefined ? undefined : this.#scopes.get(holder);
  }

  #open(node: Node): void {
    const isWhole = node.type === 'Program' || isFunction(node);
    if (!isWhole && !isClass(node) && !/^(Block|For|Switch|Catch)/.test(node.type)) return;
    const above = this.#parents.get(node);
    const parent = above === undefined ? undefined : this.#scopeAt(above);
    this.#scopes.set(node, { parent, names: new Map(), isWhole });
  }

  #declare(node: Node): void {
    if (node.type === 'ImportDeclaration') this.#declareImports(node);
    if (node.type === 'TSImportEqualsDeclaration') {
      const from = node.moduleReference?.expression?.value;
      if (typeof from === 'string') this.#add(node, node.id, { is: 'import', from, name: '*' });
    }
    if (node.type === 'VariableDeclarator' && node.id) {
      const { id, init } = node;
      const isVar = this.#parents.get(node)?.kind === 'var';
      for (const { name, path } of namesIn(id)) {
        const type = path.length === 0 ? typeOf(id) : undefined;
        const value: Meaning = init
          ? { is: 'value', node: init, path }
          : { is: 'parameter', of: node, path, type };
        this.#addName(node, name, value, isVar);
      }
    }
    if (isClass(node) || node.type === 'FunctionDeclaration') {
      const outer = this.#parents.get(node) ?? node;
      this.#add(outer, node.id, { is: 'declared', node });
    }
    if (node.type === 'FunctionExpression') this.#add(node, node.id, { is: 'declared', node });
    if (isFunction(node)) {
      for (const parameter of node.params ?? []) this.#declareParameter(node, parameter);
    }
  }

  #declareImports({ source, specifiers = [] }: Node): void {
    const from = String(source?.value);
    for (const specifier of specifiers) {
      const name =
        specifier.type === 'ImportSpecifier'
          ? nameOf(specifier.imported)
          : specifier.type === 'ImportDefaultSpecifier'
            ? 'default'
            : '*';
      this.#add(specifier, specifier.local, { is: 'import', from, name: name ?? '' });
    }
  }

  #declareParameter(owner: Node, given: Node): void {
    const parameter = given.type === 'TSParameterProperty' ? (given.parameter ?? given) : given;
    const pattern = parameter.type === 'AssignmentPattern' ? parameter.left : parameter;
    if (pattern === undefined) return;
    for (const { name, path } of namesIn(pattern)) {
      const type = path.length === 0 ? typeOf(pattern) : undefined;
      this.#addName(owner, name, { is: 'parameter', of: owner, path, type });
      if (parameter.type === 'AssignmentPattern' && parameter.right !== undefined) {
        this.#addName(owner, name, { is: 'value', node: parameter.right, path });
      }
    }
  }

  #assign(left: Node, right: Node): void {
    if (left.type === 'MemberExpression' && left.object !== undefined) {
      const name = nameOf(left.property);
      if (name !== undefined) {
        this.memberAssignments.push({ object: bare(left.object), name, value: right });
      }
      return;
    }
    for (const { name, path } of namesIn(left)) {
      // A name that is declared nowhere is a global one, of which nothing is known.
      (this.meanings(name, left) as Meaning[]).push({ is: 'value', node: right, path });
    }
  }

  #add(at: Node, id: Node | null | undefined, meaning: Meaning): void {
    const name = nameOf(id);
    if (name !== undefined) this.#addName(at, name, meaning);
  }

  #addName(at: Node, name: string, meaning: Meaning, isVar = false): void {
    let scope = this.#scopeAt(at);
    while (isVar && scope?.isWhole === false) scope = scope.parent;
    if (scope === undefined) return;
    scope.names.set(name, [...(scope.names.get(name) ?? []), meaning]);
  }
}

/** The names that a pattern declares, each with its path in the value. */
function namesIn(
  pattern: Node,
  path: readonly string[] = [],
): { name: string; path: readonly string[] }[] {
  switch (pattern.type) {
    case 'Identifier':
      return [{ name: String(pattern.name), path }];
    case 'AssignmentPattern':
      return pattern.left === undefined ? [] : namesIn(pattern.left, path);
    case 'ObjectPattern':
      return (pattern.properties ?? []).flatMap(({ type, key, value, argument }) => {
        if (type === 'RestElement') return argument ? namesIn(argument, path) : [];
        return namesIn(value as Node, [...path, nameOf(key) ?? '']);
      });
    case 'ArrayPattern':
      return (pattern.elements ?? []).flatMap((each, index) =>
        each === null ? [] : namesIn(each, [...path, String(index)]),
      );
    default:
      return [];
  }
}

/** The type that is written at a name. */
function typeOf({ typeAnnotation }: Node): Node | undefined {
  return typeAnnotation?.typeAnnotation;
}

/** A name as code spells it: an identifier, a text, or a private name. */
export function nameOf(node: Node | null | undefined): string | undefined {
  if (!node) return undefined;
  if (node.type === 'StringLiteral') return String(node.value);
  if (node.type === 'PrivateName') return nameOf(node.id);
  return typeof node.name === 'string' ? node.name : undefined;
}
