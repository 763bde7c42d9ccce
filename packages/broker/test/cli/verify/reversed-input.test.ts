/**
 * The input of a program with its members reversed is the same JSON, with the same spelling of every value; input that is
 * not JSON stays as it is.
 */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { reversedInput } from '../../../src/cli/verify/reversed-input.ts';

describe('members are reversed', () => {
  const cases: readonly (readonly [string, string, string | undefined])[] = [
    [
      'at every depth, and lists are not',
      '{"a":[1,{"b":2,"c":3}],"d":{}}',
      '{"d":{},"a":[1,{"c":3,"b":2}]}',
    ],
    ['on each line', '{"a":1,"b":2}\n\n{"c":3}\n', '{"b":2,"a":1}\n\n{"c":3}\n'],
    [
      'with the spelling of numbers and strings',
      '{"a":1.0,"b":"\\u0041,}"}',
      '{"b":"\\u0041,}","a":1.0}',
    ],
    ['but not where there is one', '{"a":1}', undefined],
    ['but not in other input', 'a,b\n1,2\n', undefined],
    ['but not if a line is no JSON', '{"a":1,"b":2}\nend\n', undefined],
  ];
  for (const [what, text, expected] of cases) {
    test(what, () => assert.equal(reversedInput(text), expected));
  }
});
