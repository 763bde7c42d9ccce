/**
 * Translates a publication from AWS's terms, and its ids back: what Publish and an entry of PublishBatch have in
 * common.
 */

import { sequenceNumber } from '../../../core/sequence-number.ts';
import type { PublishEntry, PublishResult } from '../../../core/topic/commands.ts';
import type { ValueMap } from '../../shapes/shape.ts';
import type { Call } from '../action.ts';

export type PublicationInput = {
  readonly Id?: string;
  readonly Message?: string;
  readonly Subject?: string;
  readonly MessageStructure?: string;
  readonly MessageAttributes?: Readonly<
    Record<
      string,
      {
        readonly DataType?: string;
        readonly StringValue?: string;
        readonly BinaryValue?: Uint8Array;
      }
    >
  >;
  readonly MessageDeduplicationId?: string;
  readonly MessageGroupId?: string;
};

export function publishEntry(input: PublicationInput, { traceHeader }: Call): PublishEntry {
  const { MessageAttributes: attributes = {} } = input;
  return {
    id: input.Id,
    message: input.Message,
    subject: input.Subject,
    structure: input.MessageStructure,
    groupId: input.MessageGroupId,
    deduplicationId: input.MessageDeduplicationId,
    attributes: Object.entries(attributes).map(([name, value]) => ({
      name,
      type: value.DataType,
      stringValue: value.StringValue,
      binaryValue: value.BinaryValue,
    })),
    traceHeader: traceHeader === '' ? undefined : traceHeader,
  };
}

export function publishOutput({ messageId, sequence }: PublishResult): ValueMap {
  return {
    MessageId: messageId,
    SequenceNumber: sequence === undefined ? undefined : sequenceNumber(sequence),
  };
}
