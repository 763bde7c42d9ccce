/**
 * Requests of megabytes, over the server's limit and just within it. They depend on their turn and not on the seed, so
 * that every run has the same few of them.
 */

import { formBytesMax, type Hostile, jsonBytesMax, type Source } from './hostile.ts';
import { formRequest, jsonRequest } from './whole-request.ts';

export function overLimit({ turn }: Source): Hostile {
  const filler = turned(['x', '[', '\0'], turn);
  const isForm = filler === 'x';
  const size = (isForm ? formBytesMax : jsonBytesMax) + turned([1, 10_000_000], turn);
  const body = Buffer.alloc(size, filler);
  const request = isForm ? formRequest(body) : jsonRequest('SendMessage', body);
  return { request: { ...request, framing: turned(['chunked', 'length'], turn) }, refusal: 413 };
}

/** As much as the server reads: a message that is too long, and JSON as deep and as wide as possible. */
export function withinLimit({ targets, turn }: Source): Hostile {
  const size = jsonBytesMax - 1_000;
  const queue = `"QueueUrl":"${targets.standard}"`;
  const bodies = [
    () => `{${queue},"MessageBody":"${'x'.repeat(size)}"}`,
    () => `{${queue},"MessageBody":"${'\\u0000'.repeat(size / 6)}"}`,
    () => `{"MessageBody":${'['.repeat(size / 2)}${']'.repeat(size / 2)}}`,
    () => `{"MessageBody":${'['.repeat(size)}`,
    () => `{${queue},"MessageBody":[${'{},'.repeat(size / 3)}{}]}`,
  ];
  return { request: jsonRequest('SendMessage', turned(bodies, turn)()), refusal: 400 };
}

export function manyParameters({ targets, turn }: Source): Hostile {
  const one = turned(['a=1&', 'Tag.1.Key=x&', 'a.b.c.d.e.f.g=1&', '%61=%61&', '%zz&'], turn);
  const body = `Action=TagQueue&QueueUrl=${targets.standard}&${one.repeat(300_000)}`;
  return { request: formRequest(body), refusal: 400 };
}

function turned<T>(choices: readonly T[], turn: number): T {
  return choices[turn % choices.length] as T;
}
