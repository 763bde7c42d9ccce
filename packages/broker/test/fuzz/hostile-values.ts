/**
 * Values that programs trip over: for every type of the shapes, some of the right type that are wrong in every other way,
 * and some of the wrong type. Nothing here names the good client's queues.
 *
 * There is no waiting on purpose: a number from 1 to 20 could start a long poll, which is valid and would only keep a
 * connection from trying more.
 */

import type { Type } from '../../src/api/shapes/shape.ts';
import type { Chance } from '../support/chance.ts';

/** Names that every JavaScript object has, or that change one when they are assigned. */
export const prototypeNames: readonly string[] = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'valueOf',
  'hasOwnProperty',
  '__defineGetter__',
  'toJSON',
  'then',
  'length',
];

const odd: readonly string[] = [
  '',
  ' ',
  '\0',
  'a\0b',
  '\ud800',
  '\udc00x',
  'x\udfff\ud83d',
  '\ufffe\uffff',
  '\ufeffbom',
  '\u202egnp.elif',
  'e\u0301\u0302\u0303',
  '👩‍👩‍👧‍👦',
  '𝒳'.repeat(40),
  '９',
  '\u2028\u2029',
  '\r\n',
  'a\r\nX-Injected: yes',
  '\t\v\f\x7f\x85',
  '<!--',
  ']]>',
  '<?xml version="1.0"?><a/>',
  '&amp;&#0;&undefined;',
  '"\'`\\',
  '{value}{name}{word}',
  '$&$1$`',
  '%00%zz%',
  '../../../etc/passwd',
  'NaN',
  'null',
  'undefined',
  '-1',
  '-0',
  '1e309',
  '0x10',
  '99999999999999999999',
  '043201',
  '0.5',
  'true',
  'All',
  '*',
  '.*',
  'AWS.x',
  'a..b',
  '.fifo',
  'x'.repeat(76),
  'x'.repeat(81),
  'x'.repeat(257),
];

const jsonTexts: readonly string[] = [
  '{}',
  '[]',
  'null',
  '0',
  '{"__proto__":{"maxReceiveCount":1}}',
  '{"maxReceiveCount":"__proto__","deadLetterTargetArn":{}}',
  '{"maxReceiveCount":1e400,"deadLetterTargetArn":[]}',
  '{"maxReceiveCount":5,"deadLetterTargetArn":"arn:aws:sqs:us-east-1:000000000000:nowhere"}',
  '{"redrivePermission":"byQueue","sourceQueueArns":[null,{}]}',
  '{"redrivePermission":"byQueue","sourceQueueArns":"constructor"}',
  '{"Statement":null}',
  '{"Statement":[null,5,{"Sid":{}}]}',
  '{"Version":"2012-10-17","Statement":[{"Sid":"a"},{"Sid":"a"}]}',
];

const arns: readonly string[] = [
  'arn:',
  'arn:aws:sqs:::',
  'arn:aws:sqs:us-east-1:000000000000:',
  'arn:aws:sqs:us-east-1:000000000000:__proto__',
  'arn:aws:sqs:mars-1:999999999999:x:y:z',
  'arn:aws:s3:::bucket',
  `arn:${':'.repeat(500)}`,
];

const queueUrls: readonly string[] = [
  'http://',
  '/',
  '//',
  '/000000000000/',
  '/999999999999/other',
  'http://[::1',
  'http://user:word@host:99999/000000000000/%2e%2e',
  'https://sqs.us-east-1.amazonaws.com/000000000000/constructor',
];

/** Values that look like a receipt handle, a page token or a task handle. */
const tokens: readonly string[] = [
  'AAAA',
  '====',
  '-_-_',
  Buffer.from('null').toString('base64'),
  Buffer.from('{}').toString('base64'),
  Buffer.from('{"taskId":{},"sourceArn":[]}').toString('base64'),
  Buffer.from('{"taskId":"x","sourceArn":"arn:"}').toString('base64'),
  Buffer.from('__proto__').toString('base64url'),
  Buffer.alloc(300, 0xff).toString('base64url'),
];

/** Deep enough to break recursive code, short enough for a value. */
const depths: readonly number[] = [100, 5_000, 20_000];

export function hostileText(chance: Chance): string {
  switch (chance.below(12)) {
    case 0:
    case 1:
      return chance.pick(prototypeNames);
    case 2:
      return chance.pick(jsonTexts);
    case 3:
      return chance.pick(arns);
    case 4:
      return chance.pick(queueUrls);
    case 5:
      return chance.pick(tokens);
    case 6:
      return randomText(chance, 1 + chance.below(300));
    case 7:
      return chance.isOneIn(4) ? longText(chance) : chance.pick(odd) + chance.pick(odd);
    case 8:
      return chance.isOneIn(4) ? deepText(chance.pick(depths), chance) : chance.pick(odd);
    default:
      return chance.pick(odd);
  }
}

/** Any 16-bit units, half of them printable: lone surrogates and controls among them. */
export function randomText(chance: Chance, length: number): string {
  const units = Array.from({ length }, () =>
    chance.isOneIn(2) ? 0x20 + chance.below(0x5f) : chance.below(0x1_0000),
  );
  return String.fromCharCode(...units);
}

function longText(chance: Chance): string {
  const length = chance.pick([1_000, 2_049, 65_537]);
  return chance.pick(['x', '\0', 'é', '"', '&']).repeat(length);
}

/** JSON so deep that it overflows recursive code; closed, or left open. */
export function deepText(depth: number, chance: Chance): string {
  const [open, close] = chance.pick([
    ['[', ']'],
    ['{"a":', '}'],
    ['{"Statement":[', ']}'],
  ]) as [string, string];
  const inner = open.endsWith(':') ? '1' : '';
  return open.repeat(depth) + (chance.isOneIn(4) ? '' : inner + close.repeat(depth));
}

const numbers: readonly number[] = [
  -1,
  0,
  21,
  901,
  43_201,
  2 ** 31 - 1,
  -(2 ** 31),
  2 ** 31,
  2 ** 53,
  1.5,
  1e21,
  1e308,
  -1e-7,
];

/** A value of the right type, or of one that JSON accepts for it. Only the outermost list or map may be long. */
export function hostileValue(type: Type, chance: Chance, isInside = false): unknown {
  switch (type.is) {
    case 'integer':
    case 'long':
      return chance.pick(numbers);
    case 'boolean':
      return chance.isOneIn(2);
    case 'blob':
      return chance.isOneIn(2)
        ? randomText(chance, chance.below(40))
        : Buffer.from(randomText(chance, chance.below(40))).toString('base64');
    case 'string':
      return hostileText(chance);
    case 'list': {
      const length = !isInside && chance.isOneIn(30) ? 300 : chance.below(13);
      return Array.from({ length }, () => hostileValue(type.of, chance, true));
    }
    case 'map': {
      const length = !isInside && chance.isOneIn(30) ? 100 : chance.below(4);
      return Object.fromEntries(
        Array.from({ length }, () => [hostileText(chance), hostileValue(type.of, chance, true)]),
      );
    }
    case 'structure':
      return Object.fromEntries(
        type.fields
          .filter(() => !chance.isOneIn(4))
          .map((field) => [field.name, hostileValue(field.type, chance, true)]),
      );
  }
}

/** JSON values that the type does not accept (2.5, 2.7): each of them is a SerializationException. */
export function wrongValues(type: Type, isInMap: boolean): readonly unknown[] {
  switch (type.is) {
    case 'integer':
    case 'long':
      return ['x', '5', '', true, {}, [], 1.5, 2 ** 60, -1e300];
    case 'boolean':
      return ['true', 1, {}, []];
    case 'blob':
      return [5, true, {}, [], '***', 'A', 'AA=A', '\ud800'];
    case 'string':
      // Queue attributes and tags accept numbers and booleans as strings.
      return isInMap ? [{}, []] : [5, true, false, {}, [], ['x'], { toString: 'x' }];
    case 'list':
      return ['x', 5, false, {}, { length: 1 }];
    case 'map':
    case 'structure':
      return ['x', 5, false, [], [{}]];
  }
}
