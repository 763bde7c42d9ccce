/**
 * The messages of one queue and the entries of its deduplication window, in memory, by sequence. A send creates one of each
 * with nearly the same data, so the two share a slot, and the data is stored once, in arrays of texts and numbers that
 * neighboring sequences share. Objects are created only when one is asked for. Memory mode holds every message, and as
 * nested objects they would dominate the time of garbage collection.
 *
 * What does not fit into a slot stays an object: a message with attributes, a trace header or a history in another queue, and
 * an entry that differs from the message in its slot.
 */

import type {
  DeduplicationSource,
  KeptMessage,
  KeptWindowEntry,
  MessageContent,
} from '../../core/changes.ts';
import {
  filled,
  pageSize,
  type SequencePage,
  SequencePages,
  slotOf,
} from '../../core/structures/sequence-pages.ts';

export interface ResolvedMessage extends KeptMessage {
  readonly content: MessageContent;
}

/** Texts of a slot. */
const bodyText = 0;
const md5Text = 1;
const deduplicationText = 2;
const groupText = 3;
const senderText = 4;
const fairGroupText = 5;
const slotTexts = 6;

/** Numbers of a slot. */
const sentAtNumber = 0;
const delayNumber = 1;
const slotNumbers = 2;

/** Stands for a message that is stored in its slot. */
const inSlot: unique symbol = Symbol('in slot');

class Page implements SequencePage {
  readonly number: number;
  /** Messages and entries. */
  size = 0;
  readonly messages: (ResolvedMessage | typeof inSlot | undefined)[] = filled(pageSize, undefined);
  /** For an entry that is stored in its slot: its source. */
  readonly entries: (KeptWindowEntry | DeduplicationSource | undefined)[] = filled(
    pageSize,
    undefined,
  );
  readonly texts: (string | undefined)[] = filled(pageSize * slotTexts, undefined);
  // A fraction, so that V8 stores the array as doubles from the beginning.
  readonly numbers: number[] = filled(pageSize * slotNumbers, 0.5);

  constructor(number: number) {
    this.number = number;
  }
}

const noAttributes: MessageContent['attributes'] = [];

export class MessageColumns {
  readonly #pages: SequencePages<Page> = new SequencePages((number) => new Page(number));

  message(sequence: number): ResolvedMessage | undefined {
    const page = this.#pages.find(sequence);
    return page && messageIn(page, slotOf(sequence));
  }

  entry(sequence: number): KeptWindowEntry | undefined {
    const page = this.#pages.find(sequence);
    return page && entryIn(page, slotOf(sequence));
  }

  setMessage(sequence: number, message: ResolvedMessage | null): void {
    if (message === null) {
      this.#remove(sequence, 'messages');
      return;
    }
    const page = this.#pages.findOrAdd(sequence);
    const slot = slotOf(sequence);
    if (page.messages[slot] === undefined) page.size += 1;
    // An entry that is already there stays what it was, whatever the slot says from now on.
    page.entries[slot] = entryIn(page, slot);
    if (isPlain(message)) {
      page.messages[slot] = inSlot;
      put(page, slot, message);
    } else {
      page.messages[slot] = message;
    }
  }

  setEntry(sequence: number, entry: KeptWindowEntry | null): void {
    if (entry === null) {
      this.#remove(sequence, 'entries');
      return;
    }
    const page = this.#pages.findOrAdd(sequence);
    const slot = slotOf(sequence);
    if (page.entries[slot] === undefined) page.size += 1;
    page.entries[slot] = isSaidBy(page, slot, entry) ? entry.source : entry;
  }

  clearEntries(): void {
    for (const page of this.#pages.all()) {
      let removed = 0;
      for (let slot = 0; slot < pageSize; slot += 1) {
        if (page.entries[slot] === undefined) continue;
        page.entries[slot] = undefined;
        tidy(page, slot);
        removed += 1;
      }
      this.#pages.release(page, removed);
    }
  }

  clear(): void {
    this.#pages.clear();
  }

  /** In order of the sequences. */
  messages(): Generator<[number, ResolvedMessage]> {
    return this.#pages.values(messageIn);
  }

  entries(): Generator<[number, KeptWindowEntry]> {
    return this.#pages.values(entryIn);
  }

  #remove(sequence: number, what: 'messages' | 'entries'): void {
    const page = this.#pages.find(sequence);
    const slot = slotOf(sequence);
    if (page === undefined || page[what][slot] === undefined) return;
    page[what][slot] = undefined;
    tidy(page, slot);
    this.#pages.release(page, 1);
  }
}

function isPlain(message: ResolvedMessage): boolean {
  const { content } = message;
  return (
    content.attributes.length === 0 &&
    content.traceHeader === undefined &&
    message.messageId === undefined &&
    message.deduplicationId === undefined &&
    message.deadLetterSource === undefined &&
    message.receivedElsewhere === undefined
  );
}

function put(
  { texts, numbers }: Page,
  slot: number,
  { sentAt, delayMs, groupId, content }: ResolvedMessage,
): void {
  const textAt = slot * slotTexts;
  texts[textAt + bodyText] = content.body;
  texts[textAt + md5Text] = content.bodyMd5;
  texts[textAt + deduplicationText] = content.deduplicationId;
  texts[textAt + groupText] = groupId;
  texts[textAt + senderText] = content.senderId;
  texts[textAt + fairGroupText] = content.groupId;
  numbers[slot * slotNumbers + sentAtNumber] = sentAt;
  numbers[slot * slotNumbers + delayNumber] = delayMs;
}

/** Drops the texts that nothing in the slot needs any more: the body goes with the message, the others with the entry. */
function tidy({ messages, entries, texts }: Page, slot: number): void {
  if (messages[slot] === inSlot) return;
  const textAt = slot * slotTexts;
  if (typeof entries[slot] === 'string') texts[textAt + bodyText] = undefined;
  else texts.fill(undefined, textAt, textAt + slotTexts);
}

function isSaidBy(
  { messages, texts, numbers }: Page,
  slot: number,
  entry: KeptWindowEntry,
): boolean {
  const textAt = slot * slotTexts;
  return (
    messages[slot] === inSlot &&
    entry.attributesMd5 === '' &&
    entry.bodyHash === undefined &&
    entry.bodyMd5 === texts[textAt + md5Text] &&
    entry.deduplicationId === texts[textAt + deduplicationText] &&
    entry.groupId === texts[textAt + groupText] &&
    entry.acceptedAt === numbers[slot * slotNumbers + sentAtNumber]
  );
}

function messageIn(page: Page, slot: number): ResolvedMessage | undefined {
  const message = page.messages[slot];
  if (message !== inSlot) return message;
  const { texts, numbers } = page;
  const textAt = slot * slotTexts;
  return {
    sentAt: numbers[slot * slotNumbers + sentAtNumber] as number,
    delayMs: numbers[slot * slotNumbers + delayNumber] as number,
    groupId: texts[textAt + groupText],
    content: {
      body: texts[textAt + bodyText] as string,
      bodyMd5: texts[textAt + md5Text] as string,
      attributes: noAttributes,
      attributesMd5: '',
      traceHeader: undefined,
      senderId: texts[textAt + senderText],
      groupId: texts[textAt + fairGroupText],
      deduplicationId: texts[textAt + deduplicationText],
    },
  };
}

function entryIn(page: Page, slot: number): KeptWindowEntry | undefined {
  const entry = page.entries[slot];
  if (typeof entry !== 'string') return entry;
  const { texts, numbers } = page;
  const textAt = slot * slotTexts;
  return {
    deduplicationId: texts[textAt + deduplicationText] as string,
    groupId: texts[textAt + groupText] as string,
    acceptedAt: numbers[slot * slotNumbers + sentAtNumber] as number,
    source: entry,
    bodyMd5: texts[textAt + md5Text] as string,
    attributesMd5: '',
    bodyHash: undefined,
  };
}
