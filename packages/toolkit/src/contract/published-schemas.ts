/**
 * The JSON Schemas that the package publishes. This is their only source: `npm run docs` writes them to
 * packages/toolkit/schemas for other languages, and a test checks that those files match. The code does not read the
 * files, because a program bundled into one file has none beside it.
 */

import type { JsonSchema } from './schemas.ts';

const members = {
  event_id: {
    description:
      'Provenance: a UUID, made once and the same in every replay. Version 7 in lower case is recommended.',
    type: 'string',
    pattern: '^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$',
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
    pattern: '^\\d{4}-\\d{2}-\\d{2}[Tt]\\d{2}:\\d{2}:\\d{2}(\\.\\d+)?([Zz]|[+-]\\d{2}:\\d{2})$',
  },
  dedupe_key: {
    description: 'The identity of the logical event, derived from the event alone.',
    type: 'string',
    minLength: 1,
    maxLength: 1024,
    pattern: '\\S',
  },
};

export const envelopeSchema: JsonSchema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  $id: 'urn:oncemq:schema:envelope:1',
  title: 'The envelope of an event: the whole body of its message',
  type: 'object',
  required: ['event_id', 'event_source', 'event_time', 'dedupe_key', 'payload'],
  additionalProperties: false,
  properties: {
    ...members,
    payload: {
      description: 'What happened.',
      type: 'object',
    },
  },
};

/** A flat body: the key at its top, and whatever else tells about the event. Members of the envelope keep their meaning. */
export const keyedSchema: JsonSchema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  $id: 'urn:oncemq:schema:keyed:1',
  title: 'A keyed body: an object with the dedupe_key at its top',
  type: 'object',
  required: ['dedupe_key'],
  properties: members,
};

const name = { type: 'string', pattern: '^[\\w.*?-]{1,256}$' };
const words = {
  type: 'array',
  maxItems: 1_000,
  items: { type: 'string', pattern: '[A-Za-z0-9]', maxLength: 256 },
};
const breaking = { type: 'string', pattern: '\\S', maxLength: 1_000 };
const binding = {
  contract: {
    description: 'The form of the bodies, if it is not the one of the whole file.',
    enum: ['envelope', 'keyed'],
  },
  schema: {
    description: 'Instead of the form: a JSON Schema, or the path of a file that contains one.',
    type: ['object', 'string'],
  },
  mode: {
    description: 'observe reports messages that break the contract; reject refuses them.',
    enum: ['observe', 'reject'],
    default: 'observe',
  },
};

export const contractSchema: JsonSchema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  $id: 'urn:oncemq:schema:contract:1',
  title: 'oncemq.contract.json: the message contract of a repository or a server',
  type: 'object',
  additionalProperties: false,
  properties: {
    $schema: { description: 'For editors.', type: 'string' },
    namespace: {
      description: 'The first part of every event_source: lower-case letters, digits, - and _.',
      type: 'string',
      pattern: '^[a-z0-9][a-z0-9_-]*$',
      default: 'kfm',
    },
    form: {
      description:
        'envelope: bodies are envelopes. keyed: any object with a dedupe_key at its top is valid.',
      enum: ['envelope', 'keyed'],
      default: 'envelope',
    },
    strict: {
      description: 'Refuses an event_id that is not a lower-case UUID of version 7.',
      type: 'boolean',
      default: false,
    },
    breaking: {
      description:
        'Why producer modules now make other messages of the same samples. It must be new in the change that needs it.',
      ...breaking,
    },
    critical: {
      description: 'Further names of attributes whose value must also be in the body.',
      ...words,
    },
    harmless: {
      description: 'Further names of attributes that never distinguish events.',
      ...words,
    },
    queues: {
      description: 'Which queues the contract binds; the first entry that matches applies.',
      type: 'array',
      maxItems: 1_000,
      items: {
        type: 'object',
        required: ['queue'],
        additionalProperties: false,
        properties: {
          queue: { description: 'A queue name, or a pattern with * and ?.', ...name },
          ...binding,
        },
      },
    },
    topics: {
      description: 'Which topics the contract binds; the first entry that matches applies.',
      type: 'array',
      maxItems: 1_000,
      items: {
        type: 'object',
        required: ['topic'],
        additionalProperties: false,
        properties: {
          topic: { description: 'A topic name, or a pattern with * and ?.', ...name },
          ...binding,
        },
      },
    },
    producers: {
      description:
        'Programs in any language that send, to be run by oncemq verify and oncemq gate.',
      type: 'array',
      maxItems: 1_000,
      items: {
        type: 'object',
        required: ['name', 'command', 'paths'],
        additionalProperties: false,
        properties: {
          name: {
            description: 'Names it in reports.',
            type: 'string',
            minLength: 1,
            maxLength: 256,
          },
          command: {
            description: 'A shell command, run in the folder of this file.',
            type: 'string',
            minLength: 1,
            maxLength: 4_096,
          },
          queue: {
            description: 'The FIFO queue that it sends to.',
            type: 'string',
            pattern: '^[\\w-]{1,75}\\.fifo$',
          },
          topic: {
            description: 'The FIFO topic that it publishes to.',
            type: 'string',
            pattern: '^[\\w-]{1,251}\\.fifo$',
          },
          input: {
            description: 'The file that is its standard input, relative to this one.',
            type: 'string',
            minLength: 1,
          },
          paths: {
            description: 'Patterns of the files that it is made of, relative to this one.',
            type: 'array',
            minItems: 1,
            maxItems: 1_000,
            items: { type: 'string', minLength: 1 },
          },
          breaking: {
            description:
              'Why it now sends other messages for the same input. It must be new in the change that needs it.',
            ...breaking,
          },
        },
      },
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
