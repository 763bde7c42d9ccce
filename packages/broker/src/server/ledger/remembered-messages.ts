/**
 * Remembers the envelope ids and the group of each current message: delivery and delete events only name the message, and
 * the ledger adds the rest to their records. The memory is bounded and for convenience: messages that are too old, or were
 * sent before the start, get no such fields, and `oncemq trace` joins their records by message id.
 */

import { BoundedMap } from '../bounded-map.ts';
import type { AboutMessage, LedgerFields } from './record.ts';

/** About 30 MB of ids when it is full. */
const messagesMax = 100_000;

const nothing: AboutMessage = {};

export class RememberedMessages {
  readonly #byId: BoundedMap<AboutMessage> = new BoundedMap(messagesMax);

  about(messageId: string): AboutMessage {
    return this.#byId.get(messageId) ?? nothing;
  }

  /** Updates the memory from a record. */
  note(fields: LedgerFields): void {
    const { event, message_id: id } = fields;
    if (id === undefined) return;
    if (event === 'accepted') {
      const { event_id, event_source, dedupe_key, group } = fields;
      this.#set(id, { event_id, event_source, dedupe_key, group });
    } else if (event === 'moved') {
      this.#set(fields.new_message_id as string, this.#byId.take(id) ?? nothing);
    } else if (event === 'deleted' || event === 'expired') {
      this.#byId.take(id);
    }
  }

  #set(id: string, about: AboutMessage): void {
    if (about.event_id === undefined && about.group === undefined) return;
    this.#byId.set(id, about);
  }
}
