/**
 * The syntax tree of a TypeScript or JavaScript file, from @babel/parser. The parser recovers from mistakes where it can;
 * a file that it cannot read has no tree, and is searched by patterns instead.
 *
 * The walk is a loop, not a recursion: generated code nests deeper than the stack.
 */

import { type ParserPlugin, parse } from '@babel/parser';

/** Those members of Babel's nodes that the scan reads. Which of them a node has depends on its type. */
export interface Node {
  readonly type: string;
  readonly loc: { readonly start: { readonly line: number } };
  readonly name?: string | Node;
  readonly value?: unknown;
  readonly computed?: boolean;
  readonly kind?: string;
  readonly operator?: string;
  readonly id?: Node | null;
  readonly key?: Node;
  readonly init?: Node | null;
  readonly left?: Node;
  readonly right?: Node;
  readonly object?: Node;
  readonly property?: Node;
  readonly callee?: Node;
  readonly arguments?: readonly Node[];
  readonly argument?: Node | null;
  readonly test?: Node | null;
  readonly consequent?: Node;
  readonly alternate?: Node | null;
  readonly expression?: Node;
  readonly expressions?: readonly Node[];
  readonly quasis?: readonly { readonly value: { readonly cooked?: string | null } }[];
  readonly elements?: readonly (Node | null)[];
  readonly properties?: readonly Node[];
  readonly params?: readonly Node[];
  readonly parameter?: Node;
  readonly body?: Node | readonly Node[];
  readonly superClass?: Node | null;
  readonly source?: Node | null;
  readonly specifiers?: readonly Node[];
  readonly imported?: Node;
  readonly exported?: Node;
  readonly local?: Node;
  readonly declaration?: Node | null;
  readonly declarations?: readonly Node[];
  readonly typeAnnotation?: Node;
  readonly typeName?: Node;
  readonly types?: readonly Node[];
  readonly moduleReference?: Node;
}

/** Beyond this, a file is a bundle, and is searched by patterns. */
const treeCharsMax = 4_000_000;

/** undefined if the text cannot be parsed. */
export function syntaxTree(path: string, text: string): Node | undefined {
  if (text.length > treeCharsMax) return undefined;
  for (const language of languagesOf(path)) {
    try {
      const { program } = parse(text, {
        sourceType: 'unambiguous',
        errorRecovery: true,
        allowReturnOutsideFunction: true,
        allowAwaitOutsideFunction: true,
        allowImportExportEverywhere: true,
        allowUndeclaredExports: true,
        plugins: [...language, 'decorators', 'decoratorAutoAccessors'],
      });
      return program as unknown as Node;
    } catch {
      // Not in this language, or nested beyond the stack.
    }
  }
  return undefined;
}

/** JavaScript may have the types of Flow, or of a compiler that reads TypeScript from .js files. */
function languagesOf(path: string): ParserPlugin[][] {
  if (/\.[mc]?ts$/.test(path)) return [['typescript']];
  if (/\.tsx$/.test(path)) return [['typescript', 'jsx']];
  return [
    ['jsx', 'flow'],
    ['jsx', 'typescript'],
  ];
}

const notChildren = new Set([
  'loc',
  'extra',
  'leadingComments',
  'innerComments',
  'trailingComments',
]);

/** The node and everything below it, in the order of the source, without the parts that `enters` refuses. */
export function* nodesBelow(
  node: Node,
  enters: (child: Node) => boolean = () => true,
): Generator<Node> {
  const open = [node];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    yield next;
    // One by one: a list in generated code has more elements than a call can have arguments.
    for (const child of childrenOf(next).reverse()) if (enters(child)) open.push(child);
  }
}

export function childrenOf(node: Node): Node[] {
  return Object.entries(node).flatMap(([name, value]: [string, unknown]) =>
    notChildren.has(name) ? [] : (Array.isArray(value) ? value : [value]).filter(isNode),
  );
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && 'loc' in value;
}

export function isFunction({ type }: Node): boolean {
  return /Function|ClassMethod|ClassPrivateMethod|ObjectMethod|TSDeclareMethod/.test(type);
}

export function isClass({ type }: Node): boolean {
  return type === 'ClassDeclaration' || type === 'ClassExpression';
}

/** The expression without what does not change its value: types, brackets, `await`. */
export function bare(node: Node): Node {
  let inner = node;
  while (
    /^(TSAsExpression|TSSatisfiesExpression|TSNonNullExpression|TSTypeAssertion|TSInstantiationExpression|TypeCastExpression|ParenthesizedExpression|ChainExpression)$/.test(
      inner.type,
    ) &&
    inner.expression !== undefined
  ) {
    inner = inner.expression;
  }
  if (inner.type === 'AwaitExpression' && inner.argument) return bare(inner.argument);
  return inner;
}
