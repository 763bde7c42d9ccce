/**
 * Generates the hostile requests of a seed, sends them, and judges the answers. Kinds take turns in a fixed round, so that
 * each is tried as often as its table says; the content of a request is random, from the seed and its number alone.
 */

import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { Chance } from '../support/chance.ts';
import { answerFault, leakFault, statusFault } from './answer-checks.ts';
import { type Broken, brokenKinds } from './broken-http.ts';
import { KeptConnection, tryBroken } from './connection.ts';
import type { Hostile, Refusal, Source } from './hostile.ts';
import { topicArnOf, topicNamesOf } from './hostile-topics.ts';
import type { HttpAnswer } from './http-answer.ts';
import { type Targets, wrongTypes } from './inputs.ts';
import type { ServerProcess } from './server-process.ts';
import { bytesOf, formRequest, jsonRequest, type WholeRequest } from './whole-request.ts';
import { rareKinds, wholeKinds } from './whole-requests.ts';

/** As many as the issue asks for; every wrong type of every member is among them. */
export const requests = 20_000;
const workers = 12;
/**
 * How often one of the rare kinds comes, which take megabytes each. The first requests are all rare ones, so that memory
 * use has peaked before measuring begins.
 */
const rareEvery = 1_000;
const rareFirst = 18;
/** Hostile requests that happen to be valid change queues and messages, so there are new queues after this many. */
const requestsPerQueue = 500;
/** How many faults are reported together: one cause often has many symptoms. */
const faultsMax = 12;

type Case = (Hostile | Broken) & { readonly kind: string };

export class Attack {
  readonly #server: ServerProcess;
  readonly #seed: number;
  readonly #again: string;
  readonly #table: readonly Kind[];
  readonly #held: Socket[] = [];
  readonly #counts = new Map<string, number>();
  readonly #faults: string[] = [];
  #turnedAway = 0;

  constructor(server: ServerProcess, seed: number, again: string) {
    this.#server = server;
    this.#seed = seed;
    this.#again = again;
    this.#table = kinds();
    const perRound = this.#table.filter(({ name }) => name === 'wrong type').length;
    const rounds = Math.floor(requests / this.#table.length);
    assert.ok(perRound * rounds >= wrongTypes.length, 'every wrong type is tried');
  }

  /** The number of answers by status. */
  get summary(): string {
    return [...this.#counts]
      .sort(([one], [other]) => one.localeCompare(other))
      .map(([what, count]) => `${what} ×${count}`)
      .join(', ');
  }

  /** The number of requests that a server which checks signatures did not look at. */
  get turnedAway(): number {
    return this.#turnedAway;
  }

  async run(from: number, to: number): Promise<void> {
    let next = from;
    const work = async (): Promise<void> => {
      const connection = new KeptConnection(this.#server);
      for (let number = next++; number < to; number = next++) {
        if (this.#faults.length >= faultsMax) break;
        if (number % requestsPerQueue === 0 || number === from) await this.#createQueues(number);
        await this.#attempt(number, connection);
      }
      connection.close();
    };
    await Promise.all(Array.from({ length: workers }, work));
    for (const socket of this.#held.splice(0)) socket.destroy();
    this.#throwFaults();
  }

  async one(number: number): Promise<void> {
    const connection = new KeptConnection(this.#server);
    await this.#createQueues(number);
    const made = this.#make(number);
    console.log(`request ${number}, ${made.kind}:\n${textOf(made)}`);
    try {
      await this.#attempt(number, connection, (answer) => console.log(`\n${answer}`));
    } finally {
      connection.close();
    }
    this.#throwFaults();
  }

  /** Deletes every topic, and every queue but the good clients'. */
  async cleanUp(): Promise<void> {
    const connection = new KeptConnection(this.#server);
    for (let urls = await queueUrls(connection); urls.length > 0; ) {
      for (const QueueUrl of urls) {
        await connection.ask(jsonRequest('DeleteQueue', JSON.stringify({ QueueUrl })));
      }
      urls = await queueUrls(connection);
    }
    for (let arns = await topicArns(connection); arns.length > 0; ) {
      for (const arn of arns) await deleteTopic(connection, arn);
      arns = await topicArns(connection);
    }
    connection.close();
  }

  async #createQueues(number: number): Promise<void> {
    const { standard, fifo } = targetsOf(number);
    const connection = new KeptConnection(this.#server);
    const dead = { QueueName: `dead-${standard}` };
    const fifoQueue = { QueueName: fifo, Attributes: { FifoQueue: 'true' } };
    for (const input of [{ QueueName: standard }, dead, fifoQueue]) {
      await connection.ask(jsonRequest('CreateQueue', JSON.stringify(input)));
    }
    for (const name of topicNamesOf(targetsOf(number))) {
      const isFifo = name.endsWith('.fifo');
      const pair = 'Attributes.entry.1.key=FifoTopic&Attributes.entry.1.value=true';
      await connection.ask(
        formRequest(`Action=CreateTopic&Name=${name}${isFifo ? `&${pair}` : ''}`),
      );
      const endpoint = `arn:aws:sqs:us-east-1:000000000000:${name}`;
      const target = `TopicArn=${topicArnOf(name)}&Protocol=sqs&Endpoint=${endpoint}`;
      await connection.ask(formRequest(`Action=Subscribe&${target}`));
    }
    connection.close();
  }

  #make(number: number): Case {
    const source: Source = {
      chance: new Chance(this.#seed, number),
      targets: targetsOf(number),
      turn: 0,
    };
    if (number < rareFirst || number % rareEvery === 0) {
      const rank = number < rareFirst ? number : number / rareEvery;
      const [kind, make] = rareKinds[rank % rareKinds.length] as Rare;
      return { kind, ...make({ ...source, turn: Math.floor(rank / rareKinds.length) }) };
    }
    const { name, make, slot, slots } = this.#table[number % this.#table.length] as Kind;
    const turn = Math.floor(number / this.#table.length) * slots + slot;
    return { kind: name, ...make({ ...source, turn }) };
  }

  async #attempt(
    number: number,
    connection: KeptConnection,
    tell: (answer: string) => void = () => {},
  ): Promise<void> {
    const made = this.#make(number);
    const fail = (problem: string, answer = ''): void => {
      const again = `${this.#again} --path ${number}`;
      this.#faults.push(
        `request ${number}, ${made.kind}: ${problem}\n${again}\n${textOf(made)}\n${answer}`,
      );
    };
    const orFail = (error: unknown): void => fail(String(error));
    if ('request' in made) {
      for (const request of wholesOf(made)) {
        const answer = await connection.ask(request).catch(orFail);
        if (answer === undefined) return;
        this.#count(String(answer.status));
        const text = `${answer.status} ${answer.body.toString('utf8').slice(0, 2_000)}`;
        tell(text);
        const problem = answerFault(request, answer, this.#refusalOf(made, request, answer));
        if (problem !== undefined) fail(problem, text);
      }
      return;
    }
    const exchange = await tryBroken(this.#server.port, made).catch(orFail);
    if (exchange === undefined) return;
    const { answers, held } = exchange;
    if (held !== undefined) this.#held.push(held);
    if (answers.length === 0) this.#count('cut off');
    for (const { status, body } of answers) {
      this.#count(String(status));
      tell(`${status} ${body}`);
      const problem = statusFault(status, 'any') ?? leakFault(body);
      if (problem !== undefined) fail(problem, body.toString('utf8'));
    }
    const accepted = answers.filter(({ status }) => status === 200).length;
    if (accepted > made.wholes) fail(`${accepted} were accepted`);
  }

  /** Some hostile requests cannot be signed: their headers or paths are understood in more than one way. */
  #refusalOf(made: Hostile, request: WholeRequest, { status }: HttpAnswer): Refusal {
    if (request !== made.request) return 'any';
    const isTurnedAway = this.#server.isGuarded && (status === 401 || status === 403);
    if (isTurnedAway) this.#turnedAway += 1;
    return isTurnedAway ? 'any' : made.refusal;
  }

  #throwFaults(): void {
    if (this.#faults.length === 0) return;
    const up = this.#server.isUp ? 'still up' : 'down';
    const faults = this.#faults.join('\n\n');
    throw new Error(`${faults}\n\nThe server is ${up}. Its log:\n${this.#server.log}`);
  }

  #count(what: string): void {
    this.#counts.set(what, (this.#counts.get(what) ?? 0) + 1);
  }
}

interface Kind {
  readonly name: string;
  readonly make: (source: Source) => Hostile | Broken;
  /** Which of the kind's places in a round this is, and how many places it has. */
  readonly slot: number;
  readonly slots: number;
}

type Rare = (typeof rareKinds)[number];

/** A topic that archives messages cannot be deleted, so this stops archiving first. */
async function deleteTopic(connection: KeptConnection, arn: string): Promise<void> {
  const attribute = 'AttributeName=ArchivePolicy&AttributeValue={}';
  await connection.ask(formRequest(`Action=SetTopicAttributes&TopicArn=${arn}&${attribute}`));
  await connection.ask(formRequest(`Action=DeleteTopic&TopicArn=${arn}`));
}

/** Without the good clients' own. */
async function queueUrls(connection: KeptConnection): Promise<string[]> {
  const { body } = await connection.ask(jsonRequest('ListQueues', '{}'));
  const { QueueUrls: urls = [] } = JSON.parse(body.toString()) as { QueueUrls?: string[] };
  return urls.filter((url) => !/\/good(\.fifo)?$/.test(url));
}

/** The first page is enough: the rest is listed again once these are deleted. */
async function topicArns(connection: KeptConnection): Promise<string[]> {
  const { body } = await connection.ask(formRequest('Action=ListTopics'));
  return [...body.toString().matchAll(/<TopicArn>([^<]+)<\/TopicArn>/g)].map(([, arn = '']) => arn);
}

function kinds(): Kind[] {
  return [...wholeKinds, ...brokenKinds].flatMap(([name, slots, make]) =>
    Array.from({ length: slots }, (_, slot) => ({ name, make, slot, slots })),
  );
}

function targetsOf(number: number): Targets {
  const block = Math.floor(number / requestsPerQueue);
  return { standard: `fuzz-${block}`, fifo: `fuzz-${block}.fifo`, unique: `request-${number}` };
}

function wholesOf({ before = [], request }: Hostile): readonly WholeRequest[] {
  return [...before, request];
}

/** The requests' bytes, for people. */
function textOf(made: Case): string {
  const all = 'request' in made ? wholesOf(made).map(bytesOf) : [Buffer.concat(made.pieces)];
  return all.map(shown).join('\n');
}

/** Controls and bytes beyond ASCII as escapes. */
function shown(bytes: Buffer): string {
  const text = bytes.toString('latin1', 0, 3_000).replace(/[^\n -~]/g, (character) => {
    return character === '\r' ? '' : `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`;
  });
  return bytes.length > 3_000 ? `${text}… (${bytes.length} bytes)` : text;
}
