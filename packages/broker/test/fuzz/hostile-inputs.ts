/**
 * Hostile requests whose content is wrong: values of wrong types and wrong values of right types, malformed JSON and
 * forms, keys that no shape has, actions that do not exist. A kind that is always wrong says how it must be refused; the
 * others may happen to be valid.
 */

import type { Chance } from '../support/chance.ts';
import { type Hostile, type Refusal, type Source, unlessTooLarge } from './hostile.ts';
import { deepText, hostileText, hostileValue, prototypeNames } from './hostile-values.ts';
import {
  actionNames,
  formOf,
  goodInput,
  type Input,
  shapeOf,
  withValue,
  wrongTypes,
} from './inputs.ts';
import { encodeForm, formRequest, getRequest, jsonRequest, jsonType } from './whole-request.ts';

const serialization = 'SerializationException';

export function wrongType({ chance, targets, turn }: Source): Hostile {
  const { action, path, value } = wrongTypes[turn % wrongTypes.length] as (typeof wrongTypes)[0];
  const input = withValue(goodInput(action, targets, chance.isOneIn(2)), path, value);
  return { request: jsonRequest(action, JSON.stringify(input)), refusal: serialization };
}

/** A good input with one or a few members replaced by hostile values, or removed. */
function hostileInput({ chance, targets }: Source): [string, Input] {
  const action = chance.pick(actionNames);
  const input = goodInput(action, targets, chance.isOneIn(2));
  const { fields } = shapeOf(action).input;
  for (let left = 1 + chance.below(3); left > 0; left -= 1) {
    const { name, type } = chance.pick(fields);
    if (chance.isOneIn(8)) delete input[name];
    else input[name] = chance.isOneIn(20) ? null : hostileValue(type, chance);
  }
  return [action, input];
}

export function hostileJson(source: Source): Hostile {
  const [action, input] = hostileInput(source);
  return unlessTooLarge(jsonRequest(action, JSON.stringify(input)));
}

export function hostileForm(source: Source): Hostile {
  const { chance, targets } = source;
  const [action, input] = hostileInput(source);
  const form = formOf(action, input);
  const path = chance.pick(['/', '/', `/000000000000/${targets.standard}`]);
  const isGet = chance.isOneIn(4) && form.length < 8_000;
  const request = isGet ? getRequest(`${path}?${form}`) : formRequest(form, path);
  const accept = chance.isOneIn(5) ? [['Accept', 'application/json'] as const] : [];
  return unlessTooLarge({ ...request, headers: [...request.headers, ...accept] });
}

export function someJson({ chance, targets }: Source): { action: string; text: string } {
  const action = chance.pick(actionNames);
  return { action, text: JSON.stringify(goodInput(action, targets, chance.isOneIn(2))) };
}

export function brokenJson(source: Source): Hostile {
  const { chance } = source;
  const { action, text } = someJson(source);
  const at = 1 + chance.below(text.length - 1);
  const whole = Buffer.from(text);
  const broken = (body: string | Buffer): Hostile => ({
    request: jsonRequest(action, body),
    refusal: serialization,
  });
  switch (chance.below(10)) {
    case 0:
    case 1:
      return broken(whole.subarray(0, at));
    case 2:
      return broken(`${text}${chance.pick(['}', ',', 'x', '\0', '{}', '//'])}`);
    case 3:
      return broken(`\ufeff${text}`);
    case 4:
      return broken(text.replaceAll('"', "'"));
    case 5:
      return broken(
        `{"QueueUrl":${chance.pick(['NaN', 'Infinity', '01', '.5', '+1', '0x1', "'a'", '\\u0022a"', '"\n"', '"\\x41"', '"\\ud8"', 'undefined', '/**/1', ''])}}`,
      );
    case 6:
      return broken(
        Buffer.concat([
          whole.subarray(0, -2),
          Buffer.from([0xff, 0xc0, 0xed, 0xa0]),
          whole.subarray(-2),
        ]),
      );
    case 7:
      return broken(Buffer.from(text, 'utf16le'));
    case 8:
      return broken(randomBytes(chance, chance.below(200)));
    default: {
      // Some flips leave valid JSON.
      const flipped = Buffer.from(whole);
      flipped[at] = (flipped[at] as number) ^ (1 << chance.below(8));
      return { request: jsonRequest(action, flipped), refusal: 'any' };
    }
  }
}

/** Starts with a byte that neither JSON nor UTF-8 can start with. */
function randomBytes(chance: Chance, length: number): Buffer {
  return Buffer.from([0xfe, ...Array.from({ length }, () => chance.below(256))]);
}

export function noObject({ chance }: Source): Hostile {
  const body = chance.pick([
    '',
    ' ',
    'null',
    '[]',
    '[{}]',
    '"x"',
    '5',
    '1e999',
    'true',
    '""',
    '[[]]',
  ]);
  return { request: jsonRequest(chance.pick(actionNames), body), refusal: serialization };
}

/** Keys given twice, keys that all objects inherit, keys that no shape names. */
export function strangeKeys(source: Source): Hostile {
  const { chance, targets } = source;
  const { action, text } = someJson(source);
  const extra = Array.from({ length: 1 + chance.below(6) }, () => {
    const key = chance.isOneIn(2)
      ? chance.pick(prototypeNames)
      : chance.pick([...shapeOf(action).input.fields.map(({ name }) => name), hostileText(chance)]);
    return `${JSON.stringify(key)}:${chance.pick(['null', '{}', '[]', '"x"', '-1', '{"QueueUrl":"x"}', text])}`;
  });
  if (chance.isOneIn(3)) {
    const pairs = prototypeNames.map(
      (name) => `${JSON.stringify(name)}:${chance.pick(['"1"', '{}', 'null', '1'])}`,
    );
    const member = chance.pick(['Attributes', 'tags', 'Tags', 'MessageAttributes']);
    extra.push(`"${member}":{${pairs.join()}}`);
    extra.push(
      `"QueueName":"${chance.pick(prototypeNames)}","QueueUrl":"/000000000000/${targets.standard}"`,
    );
  }
  const body = chance.isOneIn(2)
    ? `{${extra.join()},${text.slice(1)}`
    : `${text.slice(0, -1)},${extra.join()}}`;
  return { request: jsonRequest(action, body), refusal: 'any' };
}

/** Deep nesting in unknown members, in place of a string or a map, and inside strings that are JSON themselves. */
export function deepJson({ chance, targets }: Source): Hostile {
  const deep = deepText(chance.pick([1_000, 10_000, 100_000]), chance);
  const name = chance.pick(['Policy', 'RedrivePolicy', 'RedriveAllowPolicy']);
  const [action, body] = chance.pick([
    ['SendMessage', `{"QueueUrl":"${targets.standard}","MessageBody":${deep}}`],
    ['SendMessage', `{"QueueUrl":"not-there","MessageBody":"x","other":${deep}}`],
    ['TagQueue', `{"QueueUrl":"${targets.standard}","Tags":{"a":${deep}}}`],
    [
      'SetQueueAttributes',
      JSON.stringify({ QueueUrl: targets.standard, Attributes: { [name]: deep } }),
    ],
    ['CancelMessageMoveTask', JSON.stringify({ TaskHandle: Buffer.from(deep).toString('base64') })],
  ]) as [string, string];
  return {
    request: jsonRequest(action, body),
    refusal: action === 'SetQueueAttributes' ? 'any' : 'refused',
  };
}

export function brokenForm(source: Source): Hostile {
  const { chance, targets } = source;
  const [action, input] = hostileInput(source);
  const form = formOf(action, input);
  const queue = `QueueUrl=${targets.standard}`;
  const parameters: readonly (readonly [string, Refusal])[] = [
    [
      `Action=${action}&${chance.pick(['a=%', '%zz=1', 'b=%e0%a4', '%=%', 'c=%ed%a0%80', 'd=%ff', 'e=%u0041'])}`,
      400,
    ],
    [`Action=${action}&${'a.'.repeat(9)}b=1`, 400],
    [form.slice(0, chance.below(form.length)), 'any'],
    [`${form}&${form}`, 'any'],
    [`Action=${chance.pick(actionNames)}&${form}`, 'any'],
    ['', 404],
    ['&&&=&=x&', 404],
    ['Action', 404],
    ['Action.1=SendMessage', 404],
    [`Action=TagQueue&${queue}&Tag.1.Key=a`, 'any'],
    [`Action=TagQueue&${queue}&Tag.1.Value=a`, 'any'],
    [
      `Action=TagQueue&${queue}&Tag.${chance.pick(['0', '-1', '1e3', '01', '999999999', '9999999999', '__proto__', ''])}.Key=a&Tag.1.Value=b`,
      'any',
    ],
    [
      `Action=TagQueue&${queue}&${prototypeNames.map((name, at) => `Tag.${at + 1}.Key=${name}&Tag.${at + 1}.Value=${name}`).join('&')}`,
      'any',
    ],
    [`Action=SetQueueAttributes&${queue}&Attribute.1=x&Attribute=y&Attribute.Name=z`, 'any'],
    [
      `Action=SetQueueAttributes&${queue}&Attribute.1.Name=${chance.pick(prototypeNames)}&Attribute.1.Value=1`,
      400,
    ],
    [
      `Action=SendMessage&${queue}&MessageBody=x&MessageAttribute.1.Name=a&MessageAttribute.1.Value=b`,
      400,
    ],
    [
      `Action=ReceiveMessage&${queue}&MaxNumberOfMessages=${encodeForm(hostileText(chance))}`,
      'any',
    ],
    [
      `Action=ReceiveMessage&${queue}&WaitTimeSeconds=${chance.pick(['x', '1.5', '1e1', '0x5', ' 5', '5;', '99999999999999999999', ''])}`,
      400,
    ],
    [
      `Action=ReceiveMessage&${queue}&MaxNumberOfMessages=1${chance.pick(['0'.repeat(20), 'e0', '\u0661'])}`,
      400,
    ],
  ];
  const [body, refusal] = chance.pick(parameters);
  const isGet = chance.isOneIn(3) && body.length < 8_000 && /^[\x21-\x7e]*$/.test(body);
  return { request: isGet ? getRequest(`/?${body}`) : formRequest(body), refusal };
}

export function unknownAction({ chance }: Source): Hostile {
  const name = chance.pick([
    ...prototypeNames,
    '',
    'sendmessage',
    'SendMessage ',
    'SendMessage.SendMessage',
    'AmazonSQS.SendMessage',
    'Publish',
    'x'.repeat(5_000),
    '<script>',
    'é'.repeat(20),
  ]);
  if (chance.isOneIn(2)) {
    const refusal = name === '' ? 404 : 400;
    return { request: formRequest(`Action=${encodeForm(name)}&QueueUrl=x`), refusal };
  }
  const target = chance.pick([
    `AmazonSQS.${name}`,
    name,
    `AmazonSNS.${name}`,
    `AmazonSQS_20121105.${name}`,
  ]);
  const request = jsonRequest('', chance.pick(['{}', '', '{', '[]']));
  const headers = [['Content-Type', jsonType] as const, ['X-Amz-Target', target] as const];
  // Spaces around a header's value do not belong to it, so the padded name is a known action.
  const isKnown = target === 'AmazonSQS.SendMessage ' || target === 'AmazonSQS.SendMessage';
  return {
    request: { ...request, headers },
    refusal: isKnown ? 'any' : 'UnknownOperationException',
  };
}
