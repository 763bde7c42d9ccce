/**
 * Which event each living message tells of: events of deliveries and deletes name the message alone, and the ledger says
 * the rest beside it. A bounded memory, for convenience: what is too old, or was sent before the start, is left out of
 * those records, and `oncemq trace` joins them by the message id.
 */

import { Latest } from '../latest.ts';
import type { AboutMessage, LedgerFields } from './record.ts';

/** About 30 MB of ids when it is full. */
const messagesMax = 100_000;

const nothing: AboutMessage = {};

export class RememberedMessages {
  readonly #byId: Latest<AboutMessage> = new Latest(messagesMax);

  about(messageId: string): AboutMessage {
    return this.#byId.get(messageId) ?? nothing;
  }

  /** Takes note of what a record says. */
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
