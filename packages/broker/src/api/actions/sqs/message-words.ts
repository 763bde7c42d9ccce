/**
 * Translates a message from AWS's terms, and the result of sending it back: what SendMessage and an entry of
 * SendMessageBatch have in common.
 *
 * The trace header of the request replaces a missing AWSTraceHeader (7.5). Its MD5 is not returned then, because the
 * client sent no system attributes to compare it with.
 */

import type { AttributeInput, SendEntry, SendResult } from '../../../core/commands.ts';
import { sequenceNumber } from '../../../core/sequence-number.ts';
import type { ValueMap } from '../../shapes/shape.ts';

export type AttributeWords = {
  readonly StringValue?: string;
  readonly BinaryValue?: Uint8Array;
  readonly StringListValues?: readonly string[];
  readonly BinaryListValues?: readonly Uint8Array[];
  readonly DataType?: string;
};

export type AttributeWordsByName = Readonly<Record<string, AttributeWords>>;

export type MessageInput = {
  readonly Id?: string;
  readonly MessageBody?: string;
  readonly DelaySeconds?: number;
  readonly MessageAttributes?: AttributeWordsByName;
  readonly MessageSystemAttributes?: AttributeWordsByName;
  readonly MessageDeduplicationId?: string;
  readonly MessageGroupId?: string;
};

const traceName = 'AWSTraceHeader';

/** The last two parameters come from the call and are the same for all entries of a batch. */
export function sendEntry(
  input: MessageInput,
  senderId: string,
  traceHeader: string | undefined,
): SendEntry {
  const { MessageAttributes, MessageSystemAttributes } = input;
  return {
    id: input.Id,
    body: input.MessageBody,
    delaySeconds: input.DelaySeconds,
    groupId: input.MessageGroupId,
    deduplicationId: input.MessageDeduplicationId,
    attributes: MessageAttributes === undefined ? undefined : attributeInputs(MessageAttributes),
    systemAttributes: systemAttributes(MessageSystemAttributes, traceHeader),
    senderId,
  };
}

/** Includes the Id of a batch entry; a single call has none, and its shape leaves it out. */
export function sendOutput(input: MessageInput, result: SendResult): ValueMap {
  const { messageId, bodyMd5, attributesMd5, systemAttributesMd5, sequence } = result;
  const hasTrace = hasTraceHeader(input.MessageSystemAttributes);
  return {
    Id: input.Id,
    MessageId: messageId,
    MD5OfMessageBody: bodyMd5,
    MD5OfMessageAttributes: attributesMd5 === '' ? undefined : attributesMd5,
    MD5OfMessageSystemAttributes: hasTrace ? systemAttributesMd5 : undefined,
    SequenceNumber: sequence === undefined ? undefined : sequenceNumber(sequence),
  };
}

function systemAttributes(
  given: AttributeWordsByName | undefined,
  traceHeader: string | undefined,
): readonly AttributeInput[] | undefined {
  const inputs = given === undefined ? undefined : attributeInputs(given);
  if (traceHeader === undefined || traceHeader === '' || hasTraceHeader(given)) return inputs;
  return [...(inputs ?? []), { name: traceName, type: 'String', stringValue: traceHeader }];
}

function hasTraceHeader(given: AttributeWordsByName | undefined): boolean {
  return given !== undefined && Object.hasOwn(given, traceName);
}

function attributeInputs(given: AttributeWordsByName): readonly AttributeInput[] {
  return Object.entries(given).map(([name, attribute]) => {
    const { DataType, StringValue, BinaryValue, StringListValues, BinaryListValues } = attribute;
    return {
      name,
      type: DataType,
      stringValue: StringValue,
      binaryValue: BinaryValue,
      hasListValues: isFilled(StringListValues) || isFilled(BinaryListValues),
    };
  });
}

function isFilled(list: readonly unknown[] | undefined): boolean {
  return list !== undefined && list.length > 0;
}
