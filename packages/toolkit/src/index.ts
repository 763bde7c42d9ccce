// The public entry of `@oncemq/toolkit`: what producers and consumers share, on OnceMQ and on AWS.
//
// So far it holds the contract's envelope only. Content-based deduplication hashes the body and
// nothing else, so everything that makes an event unique stands in the body, in exactly this form.
// The toolkit never imports the broker.

/** One event as it is sent: the whole message body, before canonical serialisation (RFC 8785). */
export interface Envelope<Payload = unknown> {
  /** Provenance: a UUID v7, made once when the event is first written down, kept in every replay. */
  readonly event_id: string;
  /** Who says so: `<namespace>.<domain>.<pipeline>`, where the namespace is `kfm` by default. */
  readonly event_source: string;
  /** When it happened, as an RFC 3339 time. */
  readonly event_time: string;
  /** The logical event's identity, derived from the event alone: not from the time or the attempt. */
  readonly dedupe_key: string;
  /** What happened. */
  readonly payload: Payload;
}
