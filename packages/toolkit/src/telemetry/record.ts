/**
 * The records of what the toolkit saw, under the four metric names of the contract. The toolkit only passes records to a
 * function: whether they become OpenTelemetry metrics, log lines or nothing is up to the caller. Their format is
 * published as schemas/telemetry.schema.json.
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

/** What a record says about its message. */
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
