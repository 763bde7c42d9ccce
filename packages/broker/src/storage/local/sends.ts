/**
 * The messages of one queue and the entries of its deduplication window, in memory, by sequence. A send makes one of each, and
 * they say nearly the same; so the two share a slot, and what they say is kept once, as texts and numbers in arrays that
 * neighbours share. Objects are made whenever one is asked for. Memory mode holds every message it is sent, and as objects of
 * objects they would be what garbage collection spends most of its time on.
 *
 * What does not fit into a slot stays an object: a message with attributes, with a trace header, or with a past in another
 * queue; an entry that does not say what the message of its sequence says.
 *
 * Sequences come from a counter, so nearly all slots are found without touching a hash table. A page of them is dropped with the
 * last thing in it, and is small, since one message that stays behind keeps its page.
 */

import type {
  DeduplicationSource,
  KeptMessage,
  KeptWindowEntry,
  MessageContent,
} from '../../core/changes.ts';

export interface ResolvedMessage extends KeptMessage {
  readonly content: MessageContent;
}

const pageSize = 32;

/** Texts of a slot. */
const bodyText = 0;
const md5Text = 1;
const deduplicationText = 2;
const groupText = 3;
const senderText = 4;
const slotTexts = 5;

/** Numbers of a slot. */
const sentAtNumber = 0;
const delayNumber = 1;
const slotNumbers = 2;

/** In place of a message whose slot has it. */
const inSlot: unique symbol = Symbol('in slot');

class Page {
  readonly number: number;
  readonly messages: (ResolvedMessage | typeof inSlot | undefined)[] = filled(pageSize, undefined);
  /** In place of an entry whose slot has it: its source. */
  readonly entries: (KeptWindowEntry | DeduplicationSource | undefined)[] = filled(
    pageSize,
    undefined,
  );
  readonly texts: (string | undefined)[] = filled(pageSize * slotTexts, undefined);
  // Not whole, so that the array begins with the representation that it needs.
  readonly numbers: number[] = filled(pageSize * slotNumbers, 0.5);
  /** Messages and entries. */
  size = 0;

  constructor(number: number) {
    this.number = number;
  }
}

function filled<V>(length: number, value: V): V[] {
  return new Array<V>(length).fill(value);
}

const noAttributes: MessageContent['attributes'] = [];

export class Sends {
  readonly #pages: Map<number, Page> = new Map();
  /** The page used last: the next access is most often there too. */
  #page: Page | undefined;

  message(sequence: number): ResolvedMessage | undefined {
    const page = this.#find(pageOf(sequence));
    return page === undefined ? undefined : messageIn(page, slotOf(sequence));
  }

  entry(sequence: number): KeptWindowEntry | undefined {
    const page = this.#find(pageOf(sequence));
    return page === undefined ? undefined : entryIn(page, slotOf(sequence));
  }

  setMessage(sequence: number, message: ResolvedMessage | null): void {
    if (message === null) {
      this.#remove(sequence, 'messages');
      return;
    }
    const page = this.#findOrAdd(pageOf(sequence));
    const slot = slotOf(sequence);
    if (page.messages[slot] === undefined) page.size += 1;
    // The slot is about to say something else.
    page.entries[slot] = entryIn(page, slot);
    if (!isPlain(message)) {
      page.messages[slot] = message;
      return;
    }
    page.messages[slot] = inSlot;
    put(page, slot, message);
  }

  setEntry(sequence: number, entry: KeptWindowEntry | null): void {
    if (entry === null) {
      this.#remove(sequence, 'entries');
      return;
    }
    const page = this.#findOrAdd(pageOf(sequence));
    const slot = slotOf(sequence);
    if (page.entries[slot] === undefined) page.size += 1;
    page.entries[slot] = isSaidBy(page, slot, entry) ? entry.source : entry;
  }

  clearEntries(): void {
    for (const [sequence] of [...this.entries()]) this.#remove(sequence, 'entries');
  }

  clear(): void {
    this.#pages.clear();
    this.#page = undefined;
  }

  /** In order of the sequences. */
  messages(): Generator<[number, ResolvedMessage]> {
    return this.#all(messageIn);
  }

  entries(): Generator<[number, KeptWindowEntry]> {
    return this.#all(entryIn);
  }

  *#all<V>(valueIn: (page: Page, slot: number) => V | undefined): Generator<[number, V]> {
    for (const number of [...this.#pages.keys()].sort((a, b) => a - b)) {
      const page = this.#pages.get(number) as Page;
      for (let slot = 0; slot < pageSize; slot += 1) {
        const value = valueIn(page, slot);
        if (value !== undefined) yield [number * pageSize + slot, value];
      }
    }
  }

  #remove(sequence: number, what: 'messages' | 'entries'): void {
    const page = this.#find(pageOf(sequence));
    const slot = slotOf(sequence);
    if (page === undefined || page[what][slot] === undefined) return;
    page[what][slot] = undefined;
    page.size -= 1;
    if (page.messages[slot] !== inSlot) {
      page.texts[slot * slotTexts + bodyText] = undefined;
      if (typeof page.entries[slot] !== 'string') {
        page.texts.fill(undefined, slot * slotTexts, (slot + 1) * slotTexts);
      }
    }
    if (page.size > 0) return;
    this.#pages.delete(page.number);
    this.#page = undefined;
  }

  #find(number: number): Page | undefined {
    if (this.#page?.number === number) return this.#page;
    const page = this.#pages.get(number);
    if (page !== undefined) this.#page = page;
    return page;
  }

  #findOrAdd(number: number): Page {
    const found = this.#find(number);
    if (found !== undefined) return found;
    const page = new Page(number);
    this.#pages.set(number, page);
    this.#page = page;
    return page;
  }
}

function pageOf(sequence: number): number {
  return Math.floor(sequence / pageSize);
}

function slotOf(sequence: number): number {
  return sequence % pageSize;
}

function isPlain(message: ResolvedMessage): boolean {
  const { content } = message;
  return (
    content.attributes.length === 0 &&
    content.traceHeader === undefined &&
    content.groupId === undefined &&
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
  const numberAt = slot * slotNumbers;
  numbers[numberAt + sentAtNumber] = sentAt;
  numbers[numberAt + delayNumber] = delayMs;
}

function isSaidBy(
  { messages, texts, numbers }: Page,
  slot: number,
  entry: KeptWindowEntry,
): boolean {
  return (
    messages[slot] === inSlot &&
    entry.attributesMd5 === '' &&
    entry.bodyHash === undefined &&
    entry.bodyMd5 === texts[slot * slotTexts + md5Text] &&
    entry.deduplicationId === texts[slot * slotTexts + deduplicationText] &&
    entry.groupId === texts[slot * slotTexts + groupText] &&
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
      groupId: undefined,
      deduplicationId: texts[textAt + deduplicationText],
    },
  };
}

function entryIn(page: Page, slot: number): KeptWindowEntry | undefined {
  const entry = page.entries[slot];
  if (typeof entry !== 'string') return entry;
  const { texts, numbers } = page;
  return {
    deduplicationId: texts[slot * slotTexts + deduplicationText] as string,
    groupId: texts[slot * slotTexts + groupText] as string,
    acceptedAt: numbers[slot * slotNumbers + sentAtNumber] as number,
    source: entry,
    bodyMd5: texts[slot * slotTexts + md5Text] as string,
    attributesMd5: '',
    bodyHash: undefined,
  };
}
