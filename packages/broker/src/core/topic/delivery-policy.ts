/**
 * How often and when an HTTP endpoint is called again (3.7, 3.8, 12.3): delivery policies of topics and subscriptions,
 * and the delay before each retry. Retries go through four phases: at once, at the shortest delay, growing from the
 * shortest to the longest, and at the longest.
 */

import { parseObject } from '../json-object.ts';
import { postDelaySecondsMax, postRetriesMax, postTotalSecondsMax } from '../limits.ts';

export interface RetryPolicy {
  readonly minDelayTarget: number;
  readonly maxDelayTarget: number;
  readonly numRetries: number;
  readonly numMaxDelayRetries: number;
  readonly numNoDelayRetries: number;
  readonly numMinDelayRetries: number;
  readonly backoffFunction: string;
}

/** A topic's policy overlaid with its subscription's, as deliveries use it. */
export interface EffectiveDeliveryPolicy {
  readonly retry: RetryPolicy;
  readonly contentType: string;
}

const defaultRetry: RetryPolicy = {
  minDelayTarget: 20,
  maxDelayTarget: 20,
  numRetries: 3,
  numMaxDelayRetries: 0,
  numNoDelayRetries: 0,
  numMinDelayRetries: 0,
  backoffFunction: 'linear',
};

const defaultContentType = 'text/plain; charset=UTF-8';
const backoffFunctions = ['linear', 'arithmetic', 'geometric', 'exponential'];

type Json = Record<string, unknown>;

// Amazon shows members in an order of its own. A topic's policy has only those that were given; a subscription's has all.
const retryOrder: Json = unset(Object.keys(defaultRetry));
const topicOrder: Json = unset([
  'defaultHealthyRetryPolicy',
  'disableSubscriptionOverrides',
  'defaultThrottlePolicy',
  'defaultRequestPolicy',
]);
const emptySubscriptionPolicy: Json = {
  healthyRetryPolicy: null,
  sicklyRetryPolicy: null,
  throttlePolicy: null,
  requestPolicy: null,
  guaranteed: false,
};

type Read = { readonly ok: true; readonly text: string } | { readonly ok: false; reason: string };

/** A topic's policy in the form in which it is stored and shown; `reason` says what is wrong with it. */
export function readTopicDeliveryPolicy(value: string): Read {
  const policy = parseObject(value);
  if (policy === undefined) return wrong('failed to parse JSON.');
  const http = childOf(policy, 'http');
  if (http === undefined) return wrong('http must be there.');
  const retry = childOf(http, 'defaultHealthyRetryPolicy');
  const reason = wrongRetry(retry);
  if (reason !== undefined) return wrong(reason);
  const given = Object.entries(http).filter(([, value]) => value !== null);
  const shown = {
    ...topicOrder,
    ...Object.fromEntries(given),
    ...(retry === undefined ? {} : { defaultHealthyRetryPolicy: { ...retryOrder, ...retry } }),
    disableSubscriptionOverrides: areOverridesOff(http),
  };
  return { ok: true, text: JSON.stringify({ ...policy, http: shown }) };
}

/** The same of a subscription's policy, in which every member is shown. */
export function readSubscriptionDeliveryPolicy(value: string): Read {
  const policy = parseObject(value);
  if (policy === undefined) return wrong('failed to parse JSON.');
  const retry = childOf(policy, 'healthyRetryPolicy');
  const reason = wrongRetry(retry);
  if (reason !== undefined) return wrong(reason);
  const shown = {
    ...emptySubscriptionPolicy,
    ...policy,
    ...(retry === undefined ? {} : { healthyRetryPolicy: { ...retryOrder, ...retry } }),
  };
  return { ok: true, text: JSON.stringify(shown) };
}

/** EffectiveDeliveryPolicy of a topic: the defaults overlaid with its own (3.8). */
export function shownTopicPolicy(own: string | undefined): string {
  const http = topicPart(own);
  return JSON.stringify({
    http: {
      defaultHealthyRetryPolicy: retryOf(childOf(http, 'defaultHealthyRetryPolicy')),
      disableSubscriptionOverrides: areOverridesOff(http),
      defaultRequestPolicy: { headerContentType: contentTypeOf(http, 'defaultRequestPolicy') },
    },
  });
}

/** EffectiveDeliveryPolicy of an HTTP subscription. */
export function shownSubscriptionPolicy(
  topicPolicy: string | undefined,
  own: string | undefined,
): string {
  const { retry, contentType } = effectivePolicy(topicPolicy, own);
  return JSON.stringify({
    ...emptySubscriptionPolicy,
    healthyRetryPolicy: retry,
    throttlePolicy: ownPart(topicPolicy, own)['throttlePolicy'] ?? null,
    requestPolicy: { headerContentType: contentType },
  });
}

export function effectivePolicy(
  topicPolicy: string | undefined,
  own: string | undefined,
): EffectiveDeliveryPolicy {
  const http = topicPart(topicPolicy);
  const ofTopic: EffectiveDeliveryPolicy = {
    retry: retryOf(childOf(http, 'defaultHealthyRetryPolicy')),
    contentType: contentTypeOf(http, 'defaultRequestPolicy'),
  };
  const policy = ownPart(topicPolicy, own);
  const retry = childOf(policy, 'healthyRetryPolicy');
  const request = childOf(policy, 'requestPolicy');
  return {
    retry: retry === undefined ? ofTopic.retry : retryOf(retry),
    contentType:
      request === undefined ? ofTopic.contentType : contentTypeOf(policy, 'requestPolicy'),
  };
}

/** Seconds before the next call, after this many have failed; undefined if there is none (12.3). */
export function retryDelay(policy: RetryPolicy, failed: number): number | undefined {
  if (failed > policy.numRetries) return undefined;
  let total = 0;
  for (let retry = 1; retry <= failed; retry += 1) total += delayOf(policy, retry);
  return total > postTotalSecondsMax ? undefined : delayOf(policy, failed);
}

/** The delay before the nth retry, from 1. */
function delayOf(policy: RetryPolicy, retry: number): number {
  const {
    minDelayTarget: min,
    maxDelayTarget: max,
    numNoDelayRetries,
    numMinDelayRetries,
  } = policy;
  const growing =
    policy.numRetries - numNoDelayRetries - numMinDelayRetries - policy.numMaxDelayRetries;
  if (retry <= numNoDelayRetries) return 0;
  const step = retry - numNoDelayRetries - numMinDelayRetries;
  if (step <= 0) return min;
  if (step > growing) return max;
  const share = growing <= 1 ? 1 : (step - 1) / (growing - 1);
  return Math.round(min + (max - min) * curve(policy.backoffFunction, share));
}

/** Rises from 0 to 1 with the share; the steeper the function, the later it rises. */
function curve(backoff: string, share: number): number {
  switch (backoff) {
    case 'arithmetic':
      return (share * (1 + share)) / 2;
    case 'geometric':
      return share * share;
    case 'exponential':
      return (2 ** (share * 10) - 1) / 1023;
    default:
      return share;
  }
}

const retryNumbers = [
  ['minDelayTarget', 1, postDelaySecondsMax],
  ['maxDelayTarget', 1, postDelaySecondsMax],
  ['numRetries', 0, postRetriesMax],
  ['numMaxDelayRetries', 0, postRetriesMax],
  ['numNoDelayRetries', 0, postRetriesMax],
  ['numMinDelayRetries', 0, postRetriesMax],
] as const;

function wrongRetry(retry: Json | undefined): string | undefined {
  if (retry === undefined) return undefined;
  for (const [name, min, max] of retryNumbers) {
    const value = retry[name];
    if (value === undefined) continue;
    if (!Number.isInteger(value) || (value as number) < min || (value as number) > max) {
      return `${name} must be a number from ${min} to ${max}.`;
    }
  }
  const { backoffFunction: backoff } = retry;
  if (backoff !== undefined && !backoffFunctions.some((name) => name === backoff)) {
    return `backoffFunction must be one of ${backoffFunctions.join(', ')}.`;
  }
  const filled = retryOf(retry);
  const { minDelayTarget, maxDelayTarget, numRetries } = filled;
  if (minDelayTarget > maxDelayTarget) return 'minDelayTarget must not exceed maxDelayTarget.';
  const phases = filled.numNoDelayRetries + filled.numMinDelayRetries + filled.numMaxDelayRetries;
  return phases > numRetries ? 'the phases must not have more retries than numRetries.' : undefined;
}

function retryOf(given: Json | undefined): RetryPolicy {
  const known = Object.entries(given ?? {}).filter(([name]) => Object.hasOwn(defaultRetry, name));
  return { ...defaultRetry, ...Object.fromEntries(known) };
}

function topicPart(policy: string | undefined): Json {
  return childOf(parseObject(policy ?? '') ?? {}, 'http') ?? {};
}

/** A subscription's own policy: empty if it has none, or if its topic forbids overrides. */
function ownPart(topicPolicy: string | undefined, own: string | undefined): Json {
  if (own === undefined || areOverridesOff(topicPart(topicPolicy))) return {};
  return parseObject(own) ?? {};
}

function contentTypeOf(above: Json, name: string): string {
  const type = childOf(above, name)?.['headerContentType'];
  return typeof type === 'string' && /^[\x20-\x7e]{1,200}$/.test(type) ? type : defaultContentType;
}

function areOverridesOff(http: Json): boolean {
  return http['disableSubscriptionOverrides'] === true;
}

function childOf(above: Json, name: string): Json | undefined {
  const value = above[name];
  const isMap = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isMap ? (value as Json) : undefined;
}

/** All names without values: spreading a policy over them gives this order, and JSON omits those that stay undefined. */
function unset(names: readonly string[]): Json {
  return Object.fromEntries(names.map((name) => [name, undefined]));
}

function wrong(reason: string): Read {
  return { ok: false, reason };
}
