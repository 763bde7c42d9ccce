/**
 * A contract as programs hold it: what `oncemq.contract.json` says, read by contract-file.ts, or the defaults. One object
 * is passed to producers, the guard, consumers and the server, so that they agree; an option in code wins over it.
 *
 * Programs pass it explicitly, `contract: loadContract()`: a library that looked for a file by itself would behave
 * differently in another working directory, and a bundled program has no such file. The commands look for it.
 */

import type { NameLists } from './attribute-names.ts';
import type { Envelope } from './envelope.ts';
import type { MessageParts, MessageRules } from './message.ts';
import type { Refusal } from './refusals.ts';

/** envelope: the body is the envelope. keyed: any object with a `dedupe_key` at its top, which includes envelopes. */
export type BodyForm = 'envelope' | 'keyed';

export type Mode = 'observe' | 'reject';

export interface Contract extends NameLists {
  /** First part of every event_source. */
  readonly namespace: string;
  readonly form: BodyForm;
  /** Refuses what otherwise is only noted: an event_id that is not a lower-case UUID of version 7. */
  readonly strict: boolean;
  /** Why producer modules now make other messages of the same samples than they did before. */
  readonly breaking?: string;
  readonly queues: readonly Binding[];
  readonly topics: readonly Binding[];
  readonly producers: readonly RegisteredProducer[];
}

/** Queues or topics, by name, and what holds for their messages. */
export interface Binding {
  matches(name: string): boolean;
  readonly mode: Mode;
  /** Undefined if only a schema describes the bodies. */
  readonly form?: BodyForm | undefined;
  /** Options given in `rules` win over the contract's. */
  judge(message: MessageParts, rules?: MessageRules): Judged;
}

/** What is wrong with a message, or what was read; nothing is read from bodies that only a schema describes. */
export type Judged = Refusal | { readonly ok: true; readonly envelope?: Envelope };

/** A program that sends, in any language, so that it can be run and judged. */
export interface RegisteredProducer {
  readonly name: string;
  /** A shell command, run in the folder of the contract file. */
  readonly command: string;
  /** The FIFO queue or the FIFO topic that it sends to. */
  readonly queue?: string;
  readonly topic?: string;
  /** The file it gets as standard input, relative to the contract file. */
  readonly input?: string;
  /** Patterns of the files that it is made of, relative to the contract file: a change of one makes it run. */
  readonly paths: readonly string[];
  /** Why it now sends other messages for the same input than it did before. */
  readonly breaking?: string;
}

export const defaultContract: Contract = {
  namespace: 'kfm',
  form: 'envelope',
  strict: false,
  critical: [],
  harmless: [],
  queues: [],
  topics: [],
  producers: [],
};

/** The rules about bodies that code can set itself. */
export interface ContractOptions {
  /** What `loadContract` returns; default: the default contract. */
  readonly contract?: Contract | undefined;
  /** First part of every event_source; default: the contract's. */
  readonly namespace?: string | undefined;
}

/** The contract that holds for a program: its options, then its contract, then the defaults. */
export function contractOf({ contract = defaultContract, namespace }: ContractOptions): Contract {
  return namespace === undefined ? contract : { ...contract, namespace };
}

/** The first binding that covers the name. */
export function bindingOf(bindings: readonly Binding[], name: string): Binding | undefined {
  return bindings.find((binding) => binding.matches(name));
}
