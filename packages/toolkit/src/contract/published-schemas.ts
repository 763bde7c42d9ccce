/**
 * The two JSON Schemas that the package publishes. This is their only source: `npm run docs` writes them to
 * packages/toolkit/schemas for other languages, and a test checks that those files match. The code does not read the
 * files, because a program bundled into one file has none beside it.
 */

import type { JsonSchema } from './schemas.ts';

export const envelopeSchema: JsonSchema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  $id: 'urn:oncemq:schema:envelope:1',
  title: 'The envelope of an event: the whole body of its message',
  type: 'object',
  required: ['event_id', 'event_source', 'event_time', 'dedupe_key', 'payload'],
  additionalProperties: false,
  properties: {
    event_id: {
      description: 'Provenance: a UUID v7 in lower case, made once and the same in every replay.',
      type: 'string',
      pattern: '^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$',
    },
    event_source: {
      description: 'The pipeline that reports it: <namespace>.<domain>.<pipeline>.',
      type: 'string',
      maxLength: 256,
      pattern: '^[a-z0-9][a-z0-9_-]*(\\.[a-z0-9][a-z0-9_-]*){2}$',
    },
    event_time: {
      description: 'When it happened, an RFC 3339 time.',
      type: 'string',
      format: 'date-time',
    },
    dedupe_key: {
      description: 'The identity of the logical event, derived from the event alone.',
      type: 'string',
      minLength: 1,
      maxLength: 1024,
      pattern: '\\S',
    },
    payload: {
      description: 'What happened.',
      type: 'object',
    },
  },
};

export const telemetrySchema: JsonSchema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  $id: 'urn:oncemq:schema:telemetry:1',
  title: 'One thing that the toolkit saw, as it is reported',
  type: 'object',
  required: ['time', 'metric', 'value', 'target'],
  additionalProperties: false,
  properties: {
    time: {
      type: 'string',
      format: 'date-time',
    },
    metric: {
      enum: [
        'sqs_fifo.dedupe.collisions_detected',
        'sqs_fifo.producer.violations',
        'sqs_fifo.body_hash.length_bytes',
        'sqs_fifo.dedupe_window_hits',
      ],
    },
    value: {
      description: '1 for something counted, otherwise the measured number.',
      type: 'number',
    },
    target: {
      description: "The queue's URL or the topic's ARN.",
      type: 'string',
    },
    mode: {
      enum: ['observe', 'reject'],
    },
    source: {
      description: 'Where the deduplication id comes from: the sender, or the hash of the body.',
      enum: ['explicit', 'content'],
    },
    code: {
      description: "The refusal's code.",
      type: 'string',
    },
    text: {
      description: "The refusal's text.",
      type: 'string',
    },
    event_id: {
      type: 'string',
    },
    event_source: {
      type: 'string',
    },
    dedupe_key: {
      type: 'string',
    },
    body_sha256: {
      type: 'string',
      pattern: '^[0-9a-f]{64}$',
    },
  },
};
