/**
 * The check of escaping.ts for a program in any language, which can only be given events and observed: it gets generated
 * neighbors as its input, many in one run, and two of them must not come out under one key.
 *
 * What is sent is matched with what was given by its order, so the program has to send one message for each event. Nothing
 * is concluded from a message that does not show the values it should have: a program may send in parallel, or not at all.
 * A run that fails, or that sends too few or too many, is repeated in halves, because the program may refuse one event;
 * events that are refused prove nothing.
 */

import type { Envelope } from '../contract/envelope.ts';
import { isPlain } from './determinism.ts';
import {
  alteredValue,
  ambiguous,
  type Changes,
  changed,
  likelyMarks,
  type Neighbors,
  neighborsOf,
  type Path,
  valueAt,
  valuePaths,
} from './escaping.ts';
import type { Finding } from './findings.ts';

/** Runs the program with these events; resolves to the bodies that it sent, in order, or to undefined if it failed. */
export type SendEvents = (events: readonly unknown[]) => Promise<readonly string[] | undefined>;

/** Each run may take a second and more. */
const runsMax = 24;
const samplesMax = 3;
const valuesMax = 16;
const neighborsMax = 1_000;

/** The findings, or why nothing could be found. */
export async function ambiguousProgramKeys(
  input: readonly unknown[],
  send: SendEvents,
): Promise<{ readonly findings: Finding[] } | { readonly untried: string }> {
  const samples = differentlyFormed(input);
  const runs = new Runs(send);
  const [own] = await runs.send([samples]);
  if (own === undefined) {
    return { untried: 'the program does not send one message for each event of its input' };
  }
  const findings: Finding[] = [];
  let [given, judged] = [0, 0];
  for (const [at, sample] of samples.entries()) {
    const { key } = membersOf(own[at] as string);
    if (key === undefined) continue;
    const paths = await keyPaths(sample, key, runs);
    const pairs = await sentPairs(sample, { key, paths }, runs);
    const told = pairs.filter(({ bodies }) => bodies !== undefined);
    given += pairs.length;
    judged += told.length;
    const found = told.find(areOneKey);
    if (found === undefined) continue;
    const shared = membersOf(found.bodies?.[0] ?? '').key as string;
    findings.push(ambiguous(found.pair, shared, sample));
  }
  return given > 0 && judged === 0
    ? { untried: 'the program accepts no generated events, or not several in one run' }
    : { findings };
}

/** Where the values are that the key is made from, as far as the body shows them. */
async function keyPaths(sample: unknown, key: string, runs: Runs): Promise<Path[]> {
  const altered = valuePaths(sample)
    .slice(0, valuesMax)
    .map((path): Changes => [[path, alteredValue(valueAt(sample, path))]]);
  const sent = await runs.send(altered.map((changes) => [changed(sample, changes)]));
  return altered.flatMap((changes, at) => {
    const [body = ''] = sent[at] ?? [];
    const { key: other = key } = membersOf(body);
    return other === key || !shows(body, changes) ? [] : changes.map(([path]) => path);
  });
}

interface SentPair {
  readonly pair: Neighbors;
  readonly bodies: readonly string[] | undefined;
}

/** Pairs of neighbors of the sample, and what the program sent for them. */
async function sentPairs(
  sample: unknown,
  { key, paths }: { readonly key: string; readonly paths: readonly Path[] },
  runs: Runs,
): Promise<SentPair[]> {
  const pairs: Neighbors[] = [];
  for (const pair of neighborsOf(sample, paths, likelyMarks(key))) {
    if (pairs.push(pair) === neighborsMax) break;
  }
  const sent = await runs.send(
    pairs.map(({ one, other }) => [changed(sample, one), changed(sample, other)]),
  );
  return pairs.map((pair, at) => ({ pair, bodies: sent[at] }));
}

function areOneKey({ pair, bodies: [one = '', other = ''] = [] }: SentPair): boolean {
  const [a, b] = [membersOf(one), membersOf(other)];
  const isShared = a.key !== undefined && a.key === b.key && a.source === b.source;
  return isShared && shows(one, pair.one) && shows(other, pair.other);
}

/** Runs of the program, of which there are a limited number. */
class Runs {
  readonly #send: SendEvents;
  #left = runsMax;

  constructor(send: SendEvents) {
    this.#send = send;
  }

  /** For each list of events, the bodies of their messages; undefined for those that cannot be told. */
  async send(lists: readonly (readonly unknown[])[]): Promise<(readonly string[] | undefined)[]> {
    if (lists.length === 0) return [];
    if (this.#left === 0) return lists.map(() => undefined);
    this.#left -= 1;
    const bodies = await this.#send(lists.flat());
    if (bodies?.length === lists.flat().length) {
      const rest = [...bodies];
      return lists.map((list) => rest.splice(0, list.length));
    }
    if (lists.length === 1) return [undefined];
    const half = lists.length >> 1;
    return [...(await this.send(lists.slice(0, half))), ...(await this.send(lists.slice(half)))];
  }
}

/** The first events of each form: those with other members, or members of other types. */
function differentlyFormed(events: readonly unknown[]): unknown[] {
  const byForm = new Map<string, unknown>();
  for (const event of events) {
    const form = JSON.stringify(
      valuePaths(event).map((path) => [path.join('.'), typeof valueAt(event, path)]),
    );
    if (isPlain(event) && !byForm.has(form)) byForm.set(form, event);
    if (byForm.size === samplesMax) break;
  }
  return [...byForm.values()];
}

function membersOf(body: string): { readonly key?: string; readonly source?: unknown } {
  try {
    const { dedupe_key: key, event_source: source } = Object(JSON.parse(body)) as Partial<Envelope>;
    return typeof key === 'string' ? { key, source } : {};
  } catch {
    return {};
  }
}

/** Whether the changed values are in the body as they were given. */
function shows(body: string, changes: Changes): boolean {
  const known = new Set(leaves([JSON.parse(body)]).map(String));
  return leaves(changes.map(([, value]) => value)).every((value) => known.has(String(value)));
}

/** Not recursive: a body may be nested as deeply as it is long. */
function leaves(values: readonly unknown[]): unknown[] {
  const found: unknown[] = [];
  const open = [...values];
  while (open.length > 0) {
    const next = open.pop();
    if (typeof next === 'object' && next !== null) {
      for (const member of Object.values(next)) open.push(member);
    } else found.push(next);
  }
  return found;
}
