/**
 * The policy language: what is read of a policy, and what is refused when it is set (6; of topics 3.6). Names that every
 * JavaScript object has are as unknown as any other.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parsePolicy } from '../../../src/core/policy/policy.ts';

const allow = { Effect: 'Allow', Principal: '*', Action: 'sqs:SendMessage' };

function reasonFor(statement: unknown): string {
  const read = parsePolicy(JSON.stringify({ Statement: statement }));
  return read.ok ? 'none' : read.reason;
}

test('a policy is read into statements', () => {
  const statement = {
    Sid: 'one',
    Effect: 'Deny',
    NotPrincipal: { AWS: ['1', '2'], Service: 'sns.amazonaws.com' },
    NotAction: ['sqs:*'],
    Resource: 'arn:aws:sqs:*:*:jobs',
    Condition: {
      'ForAnyValue:StringEqualsIfExists': { 'aws:SourceAccount': ['1', 2] },
      Bool: { 'aws:SecureTransport': false },
    },
  };
  const Statement = [statement, allow];
  const read = parsePolicy(JSON.stringify({ Version: '2012-10-17', Id: 'mine', Statement }));
  assert.deepEqual(read, {
    ok: true,
    policy: {
      statements: [
        {
          sid: 'one',
          effect: 'Deny',
          principals: {
            isNot: true,
            values: [
              { type: 'AWS', id: '1' },
              { type: 'AWS', id: '2' },
              { type: 'Service', id: 'sns.amazonaws.com' },
            ],
          },
          actions: { isNot: true, values: ['sqs:*'] },
          resources: { isNot: false, values: ['arn:aws:sqs:*:*:jobs'] },
          conditions: [
            {
              operator: 'foranyvalue:stringequals',
              key: 'aws:sourceaccount',
              values: ['1', '2'],
            },
            { operator: 'bool', key: 'aws:securetransport', values: ['false'] },
          ],
        },
        {
          sid: undefined,
          effect: 'Allow',
          principals: { isNot: false, values: [{ type: 'AWS', id: '*' }] },
          actions: { isNot: false, values: ['sqs:SendMessage'] },
          resources: undefined,
          conditions: [],
        },
      ],
    },
  });
});

test('every operator of IAM is known, in any letter case, also for sets and with IfExists', () => {
  const known = ['StringEquals', 'stringnotlike', 'NumericLessThanEquals', 'DateGreaterThan'];
  known.push('Bool', 'BinaryEquals', 'IpAddress', 'NotIpAddress', 'ArnLike', 'Null');
  known.push(
    'StringLikeIfExists',
    'ForAllValues:StringNotEqualsIgnoreCase',
    'ForAnyValue:ArnEquals',
  );
  for (const operator of known) {
    assert.equal(
      reasonFor({ ...allow, Condition: { [operator]: { key: 'x' } } }),
      'none',
      operator,
    );
  }
});

test('an unknown operator is refused, also one that every object has', () => {
  const names = ['StringIs', 'NullIfExists', 'IfExists', '', 'ForAllValues:', 'ForSome:ArnEquals'];
  names.push('constructor', '__proto__', 'toString', 'hasOwnProperty');
  for (const name of names) {
    const Condition = JSON.parse(`{${JSON.stringify(name)}:{"aws:SourceArn":"x"}}`);
    const reason = `the condition operator ${name} is unknown`;
    assert.equal(reasonFor({ ...allow, Condition }), reason);
  }
});

test('what is not the policy language is refused with the reason', () => {
  const { Principal: _, ...nobody } = allow;
  const { Action: __, ...nothing } = allow;
  const cases: readonly (readonly [unknown, string])[] = [
    [undefined, 'there is no Statement'],
    [[], 'there is no Statement'],
    [null, 'Statement is not an object'],
    [[allow, 5], 'Statement is not an object'],
    [{ ...allow, Sid: {} }, 'Sid is not a text'],
    [{ ...allow, Effect: 'deny' }, 'Effect is not one of Allow, Deny'],
    [{ ...allow, Effect: ['Allow'] }, 'Effect is not one of Allow, Deny'],
    [{ ...allow, Principle: '*' }, 'the element Principle is unknown'],
    [JSON.parse('{"__proto__":{}}'), 'the element __proto__ is unknown'],
    [nobody, 'a statement has no Principal'],
    [{ ...allow, Principal: 'me' }, 'Principal is not an object'],
    [{ ...allow, Principal: { aws: '*' } }, 'Principal has the unknown type aws'],
    [{ ...allow, Principal: { AWS: [] } }, 'Principal is empty'],
    [{ ...allow, Principal: {} }, 'Principal is empty'],
    [{ ...allow, NotPrincipal: '*' }, 'Principal and NotPrincipal exclude each other'],
    [nothing, 'a statement has no Action'],
    [{ ...allow, Action: [] }, 'Action is empty'],
    [{ ...nothing, NotAction: [5] }, 'NotAction is not a text'],
    [{ ...allow, Resource: {} }, 'Resource is not a text'],
    [{ ...allow, Condition: [] }, 'Condition is not an object'],
    [{ ...allow, Condition: null }, 'Condition is not an object'],
    [{ ...allow, Condition: { Bool: [] } }, 'Bool is not an object'],
    [
      { ...allow, Condition: { Bool: { a: [{}] } } },
      'a value in a Condition is neither a text nor a number, true or false',
    ],
  ];
  for (const [statement, reason] of cases) assert.equal(reasonFor(statement), reason);
  const documents: readonly (readonly [object, string])[] = [
    [{ Statement: allow, version: '2012-10-17' }, 'the element version is unknown'],
    [{ Statement: allow, Version: '2024-01-01' }, 'Version is not one of 2008-10-17, 2012-10-17'],
    [{ Statement: allow, Id: 5 }, 'Id is not a text'],
  ];
  for (const [document, reason] of documents) {
    assert.deepEqual(parsePolicy(JSON.stringify(document)), { ok: false, reason });
  }
  assert.deepEqual(parsePolicy('[]'), { ok: false, reason: 'Policy is not JSON' });
});

test('a key that is there twice is refused, at any depth and however it is written', () => {
  const documents: readonly (readonly [string, string])[] = [
    ['{"Statement":[],"Statement":[]}', 'Statement'],
    ['{"Statement":{"Effect":"Deny","Sid":"a, \\" {","Effect" : "Allow"}}', 'Effect'],
    ['{"Statement":[{"Action":["a"],"\\u0041ction":"*"}]}', 'Action'],
    ['{"Statement":{"Condition":{"Bool":{"a":"1"},"Null":{"b":"1","c":"2","b":"3"}}}}', 'b'],
    ['{"__proto__":{},"__proto__":{}}', '__proto__'],
  ];
  for (const [text, key] of documents) {
    const reason = `the element ${key} is there twice`;
    assert.deepEqual(parsePolicy(text), { ok: false, reason });
  }
  // The same keys in two objects, and texts that look like keys.
  const twice = [allow, { ...allow, Action: ['Action', 'Action:', '"Action":1'] }];
  assert.ok(parsePolicy(JSON.stringify({ Statement: twice })).ok);
});
