/**
 * The compliance tests of a producer, as functions for any test runner: the contract's three (hash behavior, attribute
 * ignorance, replay window) and four more. Each takes the producer, its samples and a queue, and returns its
 * findings; an empty list is a pass.
 *
 *   for (const { title, run } of complianceChecks)
 *     test(title, async () => assert.deepEqual(await run({ producer, queue }), []));
 */

import { inspect } from 'node:util';
import { canonicalText, sha256 } from '../contract/canonical.ts';
import type { Contract } from '../contract/contract.ts';
import type { Envelope } from '../contract/envelope.ts';
import { checkMessage } from '../contract/message.ts';
import type { Refusal } from '../contract/refusals.ts';
import { comparedAttributes } from '../contract/trace-context.ts';
import { windowMsDefault } from '../contract/window.ts';
import { memoryInbox } from '../inbox/memory-inbox.ts';
import type { AnyProducer } from '../producer/define-producer.ts';
import type { ProducerMessage } from '../producer/send.ts';
import { differingMembers } from './byte-difference.ts';
import { isKeptForReplays, later, messageOf, notDeterministic } from './determinism.ts';
import { ambiguousKeys } from './escaping.ts';
import { type CheckResult, type Finding, finding, findingOf } from './findings.ts';
import { meaninglessKey } from './meaningless-key.ts';
import type { QueueUnderTest } from './queue-under-test.ts';

export interface ComplianceSubject {
  readonly producer: AnyProducer;
  readonly queue: QueueUnderTest;
  /** Default: the producer's own. */
  readonly samples?: readonly unknown[];
  /** The contract of the repository, which holds where the producer has no option of its own; default: the producer's. */
  readonly contract?: Contract;
}

export interface ComplianceCheck {
  readonly name: string;
  /** A sentence that is false when the check finds something. */
  readonly title: string;
  run(subject: ComplianceSubject): Promise<Finding[]>;
}

/** Further samples are ignored: the checks on the queue cost a few requests for each sample. */
const samplesMax = 1_000;
const windowSeconds = windowMsDefault / 1000;
/** Further findings of a check are dropped: ten samples with the same problem say enough. */
const findingsMax = 10;

export const complianceChecks: readonly ComplianceCheck[] = [
  {
    name: 'envelope',
    title: 'every sample becomes an envelope of the contract',
    run: async (subject) => [
      ...enoughSamples(subject),
      ...refusals(subject).filter(({ code }) => !isOfSize(code)),
      ...meaninglessKeys(subject),
    ],
  },
  {
    name: 'size',
    title: 'every sample fits into a message',
    run: async (subject) => refusals(subject).filter(({ code }) => isOfSize(code)),
  },
  {
    name: 'determinism',
    title: 'two runs give the same bytes, whenever they happen',
    run: async ({ producer, ...subject }) =>
      samplesOf({ producer, ...subject }).flatMap((sample) => notDeterministic(producer, sample)),
  },
  {
    name: 'escaping',
    title: 'no two events get the same key because characters shift from one value into the next',
    run: async ({ producer, ...subject }) =>
      ambiguousKeys(producer, samplesOf({ producer, ...subject })),
  },
  {
    name: 'hash-behavior',
    title: 'a different key gives a different body and a different hash',
    run: async (subject) => hashBehavior(messagesOf(subject)),
  },
  {
    name: 'attribute-ignorance',
    title: 'attributes never change the hash, and no two events differ in them alone',
    run: async (subject) => attributeIgnorance(messagesOf(subject), subject.queue),
  },
  {
    name: 'replay-window',
    title: 'a replay is suppressed within the window, and recognized by its key after it',
    run: async (subject) => replayWindow(replaysOf(subject), subject.queue),
  },
];

/** Runs all checks, one after another; returns each with its findings. */
export async function checkProducer(subject: ComplianceSubject): Promise<CheckResult[]> {
  const results: CheckResult[] = [];
  for (const { name, title, run } of complianceChecks) {
    results.push({ check: name, title, findings: (await run(subject)).slice(0, findingsMax) });
    // Without samples, the first check reports that, and the others would pass without checking anything.
    if (samplesOf(subject).length === 0) break;
  }
  return results;
}

function samplesOf({ producer, samples }: Omit<ComplianceSubject, 'queue'>): readonly unknown[] {
  return (samples ?? producer.options.samples ?? []).slice(0, samplesMax);
}

/** The messages of the samples that have one; the first check reports what is wrong with the others. */
function messagesOf(subject: ComplianceSubject): ProducerMessage[] {
  return samplesOf(subject).flatMap((sample) => messageOf(subject.producer, sample) ?? []);
}

interface Replay {
  readonly message: ProducerMessage;
  readonly replay: ProducerMessage;
}

/** The same messages, each with its replay: built again from the sample, a year later, or the same bytes if stored. */
function replaysOf(subject: ComplianceSubject): Replay[] {
  const { producer } = subject;
  return samplesOf(subject).flatMap((sample) => {
    const message = messageOf(producer, sample);
    if (message === undefined) return [];
    if (isKeptForReplays(producer)) return [{ message, replay: message }];
    return [{ message, replay: later(() => messageOf(producer, sample)) ?? message }];
  });
}

function enoughSamples(subject: ComplianceSubject): Finding[] {
  // At full depth: two events may differ only in a deeply nested value.
  const whole = { depth: null, maxArrayLength: null, maxStringLength: null };
  const different = new Set(samplesOf(subject).map((sample) => inspect(sample, whole)));
  return different.size < 2 ? [finding('samples-missing', { count: different.size })] : [];
}

function refusals(subject: ComplianceSubject): Finding[] {
  return samplesOf(subject).flatMap((sample, index) => {
    const checked = attempt(() => subject.producer.check(sample));
    if (checked instanceof Error) {
      return [finding('sample-failed', { index: index + 1, reason: checked.message })];
    }
    const refusal = checked.ok ? brokenBy(checked.message, subject) : checked;
    return refusal === undefined ? [] : [findingOf(refusal, inspect(sample))];
  });
}

function isOfSize(code: string): boolean {
  return code === 'body-too-large' || code === 'body-too-complex';
}

function meaninglessKeys(subject: ComplianceSubject): Finding[] {
  return samplesOf(subject).flatMap((sample) => {
    const message = messageOf(subject.producer, sample);
    if (message === undefined) return [];
    const { dedupe_key: key } = JSON.parse(message.body) as Envelope;
    return meaninglessKey(key, sample, message.body);
  });
}

/** How a message that its producer allows breaks the contract of the repository. */
function brokenBy(
  message: ProducerMessage,
  { producer, contract }: ComplianceSubject,
): Refusal | undefined {
  if (contract === undefined) return undefined;
  const checked = checkMessage(message, { ...producer.options, contract });
  return checked.ok ? undefined : checked;
}

function hashBehavior(messages: readonly ProducerMessage[]): Finding[] {
  const found: Finding[] = [];
  const bodyOfKey = new Map<string, string>();
  for (const { body } of messages) {
    const envelope = JSON.parse(body) as { dedupe_key: string };
    const other = canonicalText({ ...envelope, dedupe_key: `${envelope.dedupe_key}*` });
    if (!other.ok || sha256(other.text) === sha256(body))
      found.push(finding('hash-unchanged', {}, body));
    const { dedupe_key: key } = envelope;
    const known = bodyOfKey.get(key) ?? body;
    bodyOfKey.set(key, known);
    // A random event_id makes the same event, sent twice, two events with one key.
    if (known !== body) found.push(finding('key-shared', { key }, body));
  }
  return found;
}

async function attributeIgnorance(
  messages: readonly ProducerMessage[],
  queue: QueueUnderTest,
): Promise<Finding[]> {
  const found: Finding[] = [];
  const seen = new Map<string, string>();
  for (const { body, groupId, attributes = {} } of messages) {
    const rest = JSON.stringify([groupId, comparedAttributes(attributes)]);
    if ((seen.get(body) ?? rest) !== rest) {
      found.push(finding('attributes-decide', { differed: 'attributes or group' }, body));
    }
    seen.set(body, rest);
  }
  const [message] = [...messages].sort((a, b) => a.body.length - b.body.length);
  if (message === undefined) return found;
  const id = await queue.send(message);
  // Drop all attributes, or add one if there are none, so that neither their number nor the size exceeds its limit.
  const { attributes = {}, ...bare } = message;
  const others = Object.keys(attributes).length === 0 ? { other: 'yes' } : {};
  const other = await queue.send({ ...bare, attributes: others });
  if (other !== id) found.push(finding('attributes-hashed', {}, message.body));
  await leaveWindow(queue);
  return found;
}

async function replayWindow(replays: readonly Replay[], queue: QueueUnderTest): Promise<Finding[]> {
  const found: Finding[] = [];
  const distinct = [...new Map(replays.map((each) => [each.message.body, each])).values()];
  const firstOf = new Map(distinct.map(({ message, replay }) => [replay.body, message.body]));
  const inbox = memoryInbox();
  /** For each effect, the first body of its event. */
  const effects: string[] = [];
  const deliver = async (): Promise<Set<string>> => {
    const bodies = await queue.drain();
    for (const body of bodies) {
      const { event_source: source, dedupe_key: key } = JSON.parse(body) as Envelope;
      const event = { source, key, digest: sha256(body) };
      await inbox.once(event, async () => void effects.push(firstOf.get(body) ?? body));
    }
    return new Set(bodies);
  };
  const ids = new Map<string, string>();
  for (const { message } of distinct) ids.set(message.body, await queue.send(message));
  for (const { message, replay } of distinct) {
    if ((await queue.send(replay)) === ids.get(message.body)) continue;
    const members = differingMembers(message.body, replay.body).join(', ');
    const reason = members === '' ? 'the body was the same' : `it differs in ${members}`;
    found.push(finding('replay-not-suppressed', { reason }, replay.body));
  }
  const delivered = await deliver();
  const suppressed = distinct.filter(({ message }) => !delivered.has(message.body));
  found.push(...suppressed.map(({ message }) => finding('event-suppressed', {}, message.body)));
  await queue.advance(windowSeconds);
  for (const { replay } of distinct) await queue.send(replay);
  const again = await deliver();
  const lost = distinct.filter(({ replay }) => !again.has(replay.body));
  found.push(...lost.map(({ replay }) => finding('not-delivered-again', {}, replay.body)));
  const twice = effects.filter((body, index) => effects.indexOf(body) !== index);
  found.push(...twice.map((body) => finding('inbox-missed', {}, body)));
  await leaveWindow(queue);
  return found;
}

/** Lets the next check start with an empty queue that remembers nothing. */
async function leaveWindow(queue: QueueUnderTest): Promise<void> {
  await queue.drain();
  await queue.advance(windowSeconds);
}

function attempt<T>(run: () => T): T | Error {
  try {
    return run();
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}
