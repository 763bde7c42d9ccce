/**
 * JSON documents for fuzzing, as trees: a grammar builds one that is right, `mutated` makes it wrong in a few random places,
 * and `jsonText` writes it. An object is a list of members, so that it can have a member twice or one named `__proto__`,
 * and a leaf can be any text, so that it can hold numbers that JavaScript cannot.
 *
 * Mutations are the same for every grammar and can hit every node: a value of another type, a huge number, an empty or long
 * list, deep nesting, strange text, a member that is missing, doubled, or named like a member that all objects have.
 */

import type { Chance } from '../support/chance.ts';
import { hostileText, prototypeNames } from './hostile-values.ts';

export type Tree = string | number | boolean | null | Raw | readonly Tree[] | Members;

/** Written as it is. */
class Raw {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export class Members {
  readonly list: readonly (readonly [string, Tree])[];

  constructor(list: readonly (readonly [string, Tree])[]) {
    this.list = list;
  }
}

/** An object in the usual notation; members that are undefined are left out. */
export function object(members: Readonly<Record<string, Tree | undefined>>): Members {
  return new Members(
    Object.entries(members).filter((pair): pair is [string, Tree] => pair[1] !== undefined),
  );
}

export function jsonText(tree: Tree): string {
  if (tree instanceof Raw) return tree.text;
  if (tree instanceof Members) {
    const members = tree.list.map(([key, value]) => `${JSON.stringify(key)}:${jsonText(value)}`);
    return `{${members.join()}}`;
  }
  if (isList(tree)) return `[${tree.map(jsonText).join()}]`;
  return JSON.stringify(tree);
}

/** None in a quarter of all cases, so that what lies behind the first checks is reached too; else one to three. */
export function mutated(tree: Tree, chance: Chance): Tree {
  let result = tree;
  const count = chance.below(4);
  for (let done = 0; done < count; done += 1) {
    result = mutatedAt(result, chance.below(nodesIn(result)), chance);
  }
  return result;
}

function isList(tree: Tree): tree is readonly Tree[] {
  return Array.isArray(tree);
}

function nodesIn(tree: Tree): number {
  let nodes = 1;
  if (isList(tree)) for (const item of tree) nodes += nodesIn(item);
  if (tree instanceof Members) for (const [, value] of tree.list) nodes += nodesIn(value);
  return nodes;
}

/** Nodes are counted from the root, each before those below it. */
function mutatedAt(tree: Tree, place: number, chance: Chance): Tree {
  if (place === 0) return mutation(tree, chance);
  let left = place - 1;
  const below = (item: Tree): Tree => {
    const nodes = nodesIn(item);
    const isHere = left >= 0 && left < nodes;
    const result = isHere ? mutatedAt(item, left, chance) : item;
    left -= nodes;
    return result;
  };
  if (isList(tree)) return tree.map(below);
  if (!(tree instanceof Members)) return tree;
  return new Members(tree.list.map(([key, value]) => [key, below(value)] as const));
}

/** What is repeated is short, so that mutations of mutations stay far below the size that the server reads. */
const repeatedCharsMax = 200;

function repeatable(tree: Tree): Tree {
  return jsonText(tree).length > repeatedCharsMax ? 'x' : tree;
}

/** Numbers that overflow, lose digits, or are zero in an unusual way. */
const numbers = ['1e999', '-1e999', '-0', '1e-999', '123456789012345678901234567890', '0.1', '-1'];
const depths = [5, 31, 33, 200, 20_000];

function mutation(tree: Tree, chance: Chance): Tree {
  if (chance.isOneIn(2)) {
    if (tree instanceof Members) return mutatedObject(tree, chance);
    if (isList(tree)) return mutatedList(tree, chance);
  }
  switch (chance.below(9)) {
    case 0:
      return chance.pick<Tree>([null, true, false, '', 0, [], object({})]);
    case 1:
      return new Raw(chance.pick(numbers));
    case 2:
      return chance.pick(prototypeNames);
    case 3:
    case 4:
      return hostileText(chance);
    case 5:
      return [tree];
    case 6:
      return new Members([[chance.pick(prototypeNames), tree]]);
    case 7:
      // Such an object cannot be converted to a string.
      return object({ toString: tree });
    default: {
      const depth = chance.pick(depths);
      const [open, close] = chance.pick([
        ['[', ']'],
        ['{"a":', '}'],
        ['{"__proto__":', '}'],
      ]) as [string, string];
      return new Raw(`${open.repeat(depth)}${jsonText(tree)}${close.repeat(depth)}`);
    }
  }
}

function mutatedObject({ list }: Members, chance: Chance): Members {
  const at = chance.below(list.length);
  const [key, value] = list[at] ?? ['a', 'x'];
  const repeated = repeatable(value);
  const others = list.filter((_, index) => index !== at);
  switch (chance.below(6)) {
    case 0:
      return new Members(others);
    case 1:
      return new Members([...list, [key, chance.isOneIn(2) ? value : hostileText(chance)]]);
    case 2:
      return new Members([...others, [chance.pick(prototypeNames), value]]);
    case 3:
      return new Members([...others, [hostileText(chance), value]]);
    case 4:
      return new Members([...list, ...prototypeNames.map((name) => [name, repeated] as const)]);
    default:
      return new Members(
        Array.from({ length: chance.pick([60, 300]) }, (_, index) => [
          `${key.slice(0, 9)}${index}`,
          repeated,
        ]),
      );
  }
}

function mutatedList(list: readonly Tree[], chance: Chance): readonly Tree[] {
  const item = repeatable(list[chance.below(list.length)] ?? 'x');
  switch (chance.below(4)) {
    case 0:
      return [];
    case 1:
      return [...list, item];
    case 2:
      return [...list, hostileText(chance)];
    default:
      return new Array<Tree>(chance.pick([21, 151, 400])).fill(item);
  }
}
