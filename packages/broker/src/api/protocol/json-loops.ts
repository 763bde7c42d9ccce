/**
 * What json-code.ts generates for a structure, as loops over its fields: for processes in which code may not be generated.
 * The results are the same to the byte; json-code.test.ts compares them.
 */

import type { Field, Structure } from '../shapes/shape.ts';
import type { IsReady, WriteStructure, WriteValue } from './json-code.ts';
import { isWhole } from './reading.ts';

export function loopIsReady({ fields }: Structure): IsReady {
  return (given) => fields.every((field) => isMemberReady(field, given[field.name]));
}

function isMemberReady({ is, type }: Field, member: unknown): boolean {
  if (member === undefined) return true;
  switch (is) {
    case 'string':
    case 'boolean':
      return typeof member === is;
    case 'integer':
    case 'long':
      return typeof member === 'number' && isWhole(member, type);
    default:
      return false;
  }
}

export function loopWriter({ fields }: Structure, writeValue: WriteValue): WriteStructure {
  return (value) => {
    let text = '';
    for (const { name, type, isPlain } of fields) {
      const member = value[name];
      if (member === undefined) continue;
      const written = isPlain ? `"${member}"` : writeValue(type, member);
      if (written !== '') text += `${text === '' ? '{' : ','}${JSON.stringify(name)}:${written}`;
    }
    return text === '' ? '{}' : `${text}}`;
  };
}
