/**
 * Code for one structure in AWS JSON, generated from its shape: what a person would write for this structure alone, with
 * the names of its members in the source. A loop over the shape (json-loops.ts) reads each member by a name that V8 has to
 * look up; it takes three times as long for the answer to a batch.
 *
 * The source consists of names in our own tables; nothing that a client sends becomes code. A process may forbid generated
 * code (`--disallow-code-generation-from-strings`); `isCodeAllowed` says so, and the loops do the same.
 */

import type { Field, Structure, Type, Value, ValueMap } from '../shapes/shape.ts';
import { isWhole } from './reading.ts';

/** Whether there is nothing to convert or refuse: each member is absent, or as simple as its shape and of the right type. */
export type IsReady = (given: Readonly<Record<string, unknown>>) => boolean;

/** Members without a value, empty lists and empty maps are left out (2.4). */
export type WriteStructure = (value: ValueMap) => string;

/** Returns nothing for an empty list or map. */
export type WriteValue = (type: Type, value: Value) => string;

export const isCodeAllowed: boolean = canGenerateCode();

function canGenerateCode(): boolean {
  try {
    new Function('');
    return true;
  } catch (error) {
    if (error instanceof EvalError) return false;
    throw error;
  }
}

export function compileIsReady({ fields }: Structure): IsReady {
  const conditions = fields.map(({ name, is }, at) => {
    const member = `given[${JSON.stringify(name)}]`;
    const isAbsent = `${member} === undefined`;
    switch (is) {
      case 'string':
      case 'boolean':
        return `(typeof ${member} === '${is}' || ${isAbsent})`;
      case 'integer':
      case 'long':
        return `(${isAbsent} || typeof ${member} === 'number' && isWhole(${member}, types[${at}]))`;
      default:
        return isAbsent;
    }
  });
  const source = `return (given) => ${conditions.join(' && ') || 'true'};`;
  return new Function('types', 'isWhole', source)(typesOf(fields), isWhole) as IsReady;
}

export function compileWriter({ fields }: Structure, writeValue: WriteValue): WriteStructure {
  const source = `return (value) => {
    let text = '';
    let isQuoted = false;
    ${fields.map(statementFor).join('\n')}
    if (text === '') return '{}';
    return text + (isQuoted ? '"}' : '}');
  };`;
  return new Function('types', 'writeValue', source)(typesOf(fields), writeValue) as WriteStructure;
}

function typesOf(fields: readonly Field[]): Type[] {
  return fields.map(({ type }) => type);
}

/** The quote that ends a plain string is written with what follows it: one text less to join for each member. */
function statementFor({ name, is, isPlain }: Field, at: number): string {
  const key = `${JSON.stringify(name)}:${isPlain ? '"' : ''}`;
  const [first, later, afterPlain] = [`{${key}`, `,${key}`, `",${key}`].map((text) =>
    JSON.stringify(text),
  );
  const written = isPlain
    ? 'member'
    : is === 'string'
      ? 'JSON.stringify(member)'
      : `writeValue(types[${at}], member)`;
  return `{
    const member = value[${JSON.stringify(name)}];
    const written = member === undefined ? '' : ${written};
    if (${isPlain ? 'member !== undefined' : "written !== ''"}) {
      text += (text === '' ? ${first} : isQuoted ? ${afterPlain} : ${later}) + written;
      isQuoted = ${isPlain};
    }
  }`;
}
