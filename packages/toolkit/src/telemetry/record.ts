/**
 * What the toolkit saw, one record each, under the four metric names of the contract. The toolkit only hands records to
 * a function: whether they become OpenTelemetry, log lines or nothing is the caller's business. The form is published as
 * schemas/telemetry.schema.json.
 */

import type { Envelope } from '../contract/envelope.ts';
import type { Refusal } from '../contract/refusals.ts';

export type Metric =
  | 'sqs_fifo.dedupe.collisions_detected'
  | 'sqs_fifo.producer.violations'
  | 'sqs_fifo.body_hash.length_bytes'
  | 'sqs_fifo.dedupe_window_hits';

export interface TelemetryRecord {
  readonly time: string;
  readonly metric: Metric;
  /** 1 for something counted, else the measured number. */
  readonly value: number;
  /** The queue's URL or the topic's ARN. */
  readonly target: string;
  readonly mode?: 'observe' | 'reject';
  /** Where the deduplication id comes from: given, or the hash of the body. */
  readonly source?: 'explicit' | 'content';
  readonly code?: string;
  readonly text?: string;
  readonly event_id?: string;
  readonly event_source?: string;
  readonly dedupe_key?: string;
  readonly body_sha256?: string;
}

export type Report = (record: TelemetryRecord) => void;

/** What a record says of the message that it is about. */
export function aboutEnvelope({
  event_id,
  event_source,
  dedupe_key,
}: Envelope): Pick<TelemetryRecord, 'event_id' | 'event_source' | 'dedupe_key'> {
  return { event_id, event_source, dedupe_key };
}

export function aboutRefusal({ code, text }: Refusal): Pick<TelemetryRecord, 'code' | 'text'> {
  return { code, text };
}
