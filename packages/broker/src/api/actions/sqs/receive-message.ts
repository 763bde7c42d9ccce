/**
 * ReceiveMessage (§9): returns up to ten messages, each with the requested attributes. The backend does the waiting, which
 * ends when the client disconnects.
 */

import type { Delivered } from '../../../storage/backend.ts';
import type { ValueMap } from '../../shapes/shape.ts';
import type { Answer, Call, Result } from '../action.ts';
import {
  askedSystemAttributes,
  type SystemAttribute,
  selectMessageAttributes,
  selectSystemAttributes,
} from './attribute-selection.ts';
import { type QueueInput, queueOf } from './queue-url.ts';

type Input = QueueInput & {
  readonly AttributeNames?: readonly string[];
  readonly MessageSystemAttributeNames?: readonly string[];
  readonly MessageAttributeNames?: readonly string[];
  readonly MaxNumberOfMessages?: number;
  readonly VisibilityTimeout?: number;
  readonly WaitTimeSeconds?: number;
  readonly ReceiveRequestAttemptId?: string;
};

export function receiveMessage(input: Input, call: Call): Promise<Result> {
  const command = {
    type: 'receive',
    queue: queueOf(input, call.backend),
    count: input.MaxNumberOfMessages,
    visibilitySeconds: input.VisibilityTimeout,
    waitSeconds: input.WaitTimeSeconds,
    attemptId: input.ReceiveRequestAttemptId,
  } as const;
  const received = call.backend.receive(command, call, (outcome): Result | Large => {
    if (!outcome.ok) return call.respond(outcome);
    const { messages } = outcome;
    return isLarge(messages) ? { large: messages } : call.respond(answerOf(input, messages));
  });
  return received.then((result) =>
    'large' in result ? call.respondInTurns(answerOf(input, result.large)) : result,
  );
}

/** Messages that take so long to write that they are written in a turn of their own. */
interface Large {
  readonly large: readonly Delivered[];
}

const largeChars = 2 * 1024 * 1024;

function isLarge(messages: readonly Delivered[]): boolean {
  let chars = 0;
  for (const { content } of messages) {
    chars += content.body.length;
    for (const { value } of content.attributes) chars += value.length;
  }
  return chars > largeChars;
}

function answerOf(input: Input, messages: readonly Delivered[]): Answer {
  const { AttributeNames = none, MessageSystemAttributeNames = none } = input;
  const wanted: WantedAttributes = {
    system: askedSystemAttributes([...AttributeNames, ...MessageSystemAttributeNames]),
    message: input.MessageAttributeNames ?? none,
  };
  return { ok: true, output: { Messages: messages.map((each) => wordsOf(each, wanted)) } };
}

const none: readonly string[] = [];

interface WantedAttributes {
  readonly system: readonly SystemAttribute[];
  readonly message: readonly string[];
}

function wordsOf(message: Delivered, wanted: WantedAttributes): ValueMap {
  const { attributes, md5 } = selectMessageAttributes(message, wanted.message);
  return {
    MessageId: message.messageId,
    ReceiptHandle: message.receiptHandle,
    MD5OfBody: message.content.bodyMd5,
    Body: message.content.body,
    Attributes: selectSystemAttributes(message, wanted.system),
    MD5OfMessageAttributes: md5,
    MessageAttributes: attributes,
  };
}
