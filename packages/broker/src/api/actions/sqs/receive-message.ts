/**
 * ReceiveMessage (§9): returns up to ten messages, each with the requested attributes. The backend does the waiting, which
 * ends when the client disconnects.
 */

import type { Delivered } from '../../../storage/backend.ts';
import type { ValueMap } from '../../shapes/shape.ts';
import type { Call, Result } from '../action.ts';
import {
  askedSystemAttributes,
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
    const chars = charsOf(messages);
    if (chars > largeChars) return { large: messages, chars };
    return call.respond({ ok: true, output: { Messages: messages.map(wordsFor(input)) } });
  });
  return received.then((result) =>
    'large' in result
      ? call.respondInTurns(eachOf(result.large, wordsFor(input)), result.chars)
      : result,
  );
}

/** Messages that take so long to write that each is written in a turn of its own. */
interface Large {
  readonly large: readonly Delivered[];
  readonly chars: number;
}

const largeChars = 2 * 1024 * 1024;

function charsOf(messages: readonly Delivered[]): number {
  let chars = 0;
  for (const { content } of messages) {
    chars += content.body.length;
    for (const { value } of content.attributes) chars += value.length;
  }
  return chars;
}

function* eachOf(
  messages: readonly Delivered[],
  words: (message: Delivered) => ValueMap,
): Generator<ValueMap> {
  for (const message of messages) yield words(message);
}

const none: readonly string[] = [];

function wordsFor(input: Input): (message: Delivered) => ValueMap {
  const { AttributeNames = none, MessageSystemAttributeNames = none } = input;
  const asked = askedSystemAttributes([...AttributeNames, ...MessageSystemAttributeNames]);
  const askedNames = input.MessageAttributeNames ?? none;
  return (message) => {
    const { attributes, md5 } = selectMessageAttributes(message, askedNames);
    return {
      MessageId: message.messageId,
      ReceiptHandle: message.receiptHandle,
      MD5OfBody: message.content.bodyMd5,
      Body: message.content.body,
      Attributes: selectSystemAttributes(message, asked),
      MD5OfMessageAttributes: md5,
      MessageAttributes: attributes,
    };
  };
}
