/**
 * All kinds of hostile requests that are complete HTTP: the method, the path, a header, the body, or the content of the
 * body is wrong.
 */

import type { Hostile, Source } from './hostile.ts';
import {
  attributesOfQueue,
  extendedPolicy,
  judgedByFilter,
  judgedByPolicy,
  messageAttributes,
  policyOfTopic,
  tags,
  triedFilter,
} from './hostile-grammars.ts';
import { badInspect, strangeHeaders, strangePath } from './hostile-http.ts';
import {
  brokenForm,
  brokenJson,
  deepJson,
  hostileForm,
  hostileJson,
  noObject,
  strangeKeys,
  unknownAction,
  wrongType,
} from './hostile-inputs.ts';
import { hostileMessage, hostilePolicy, hostileTopicForm } from './hostile-topics.ts';
import { manyParameters, overLimit, withinLimit } from './oversized.ts';

type Maker = (source: Source) => Hostile;

/** How often a kind is tried: that many times in each round of all kinds. */
export const wholeKinds: readonly (readonly [string, number, Maker])[] = [
  ['wrong type', 20, wrongType],
  ['hostile values in JSON', 20, hostileJson],
  ['hostile values in a form', 14, hostileForm],
  ['hostile values in a form to a topic', 12, hostileTopicForm],
  ['hostile policy of a subscription', 6, hostilePolicy],
  ['hostile publication', 4, hostileMessage],
  ['grammar of access policies', 10, judgedByPolicy],
  ['grammar of filter policies', 8, judgedByFilter],
  ['grammar of filter policies, tried', 3, triedFilter],
  ['grammar of policies, extended', 3, extendedPolicy],
  ['grammar of queue attributes', 6, attributesOfQueue],
  ['grammar of tags', 3, tags],
  ['grammar of message attributes', 4, messageAttributes],
  ["grammar of topics' policies", 4, policyOfTopic],
  ['broken JSON', 12, brokenJson],
  ['JSON that is no object', 2, noObject],
  ['repeated and strange keys', 5, strangeKeys],
  ['deep JSON', 2, deepJson],
  ['broken form', 10, brokenForm],
  ['unknown action', 5, unknownAction],
  ['strange headers', 5, strangeHeaders],
  ['strange method or path', 6, strangePath],
  ['bad /_oncemq/ request', 8, badInspect],
];

export const rareKinds: readonly (readonly [string, Maker])[] = [
  ['body over the limit', overLimit],
  ['body just within the limit', withinLimit],
  ['form of very many parameters', manyParameters],
];
