/**
 * The 23 actions of Amazon SQS (API version 2012-11-05): every parameter, every member of every answer.
 *
 * The reference shows which members are required. The action decides what happens if one is missing, since Amazon answers
 * differently for different ones (a missing QueueUrl is a queue that does not exist, rule 1.6).
 */

import {
  type ActionShape,
  actions,
  blob,
  boolean,
  integer,
  list,
  long,
  type Member,
  type Members,
  map,
  plainString,
  string,
  structure,
  type Type,
} from './shape.ts';

const queueUrl: Member = {
  type: string,
  isRequired: true,
  doc: "The queue's URL; only its last two path segments count, and a bare queue name is accepted too.",
};

const attributeMap: Type = map(string, 'Name', 'Value');
const tagMap: Type = map(string, 'Key', 'Value');

const attributeValue: Members = {
  StringValue: { type: string, doc: 'The value of a String or Number.' },
  BinaryValue: { type: blob, doc: 'The value of a Binary.' },
  DataType: { type: string, isRequired: true, doc: 'String, Number or Binary, and a label.' },
};

const receivedAttributes: Type = map(structure(attributeValue), 'Name', 'Value');

const sentAttributes: Type = map(
  structure({
    ...attributeValue,
    StringListValues: {
      type: list(string),
      query: 'StringListValue',
      doc: 'Not supported, as on AWS.',
    },
    BinaryListValues: {
      type: list(blob),
      query: 'BinaryListValue',
      doc: 'Not supported, as on AWS.',
    },
  }),
  'Name',
  'Value',
);

const sendInput: Members = {
  MessageBody: { type: string, isRequired: true, doc: 'The message, 1 byte to 1 MiB of text.' },
  DelaySeconds: { type: integer, doc: '0 to 900; standard queues only (0 is accepted on FIFO).' },
  MessageAttributes: {
    type: sentAttributes,
    query: 'MessageAttribute',
    doc: 'At most 10. Deduplication ignores them.',
  },
  MessageSystemAttributes: {
    type: sentAttributes,
    query: 'MessageSystemAttribute',
    doc: 'Only AWSTraceHeader.',
  },
  MessageDeduplicationId: {
    type: string,
    doc: 'FIFO only; takes precedence over the hash of the body.',
  },
  MessageGroupId: { type: string, doc: 'Required on FIFO; kept and returned on standard queues.' },
};

const sendOutput: Members = {
  MessageId: { type: plainString, doc: "The message's id; a duplicate's is that of its original." },
  MD5OfMessageBody: { type: plainString, doc: 'Lets the client check what arrived.' },
  MD5OfMessageAttributes: { type: plainString, doc: 'Absent if there are no attributes.' },
  MD5OfMessageSystemAttributes: {
    type: plainString,
    doc: 'Absent if there are no system attributes.',
  },
  SequenceNumber: { type: plainString, doc: 'FIFO only: 20 digits, rising over the whole queue.' },
};

const entryId: Member = {
  type: string,
  isRequired: true,
  doc: 'Identifies the entry in the answer; unique within the request.',
};

/** In an answer, core has checked that it consists of letters, digits, `-` and `_`. */
const answeredId: Member = { ...entryId, type: plainString };

const failed: Member = {
  type: list(
    structure({
      Id: answeredId,
      SenderFault: { type: boolean, doc: 'Whether the request was at fault.' },
      Code: { type: string, doc: 'The same code as for a single call.' },
      Message: { type: string, doc: 'What is wrong with the entry.' },
    }),
  ),
  query: 'BatchResultErrorEntry',
  doc: 'The entries that were refused; the others went through.',
};

const receiptHandle: Member = {
  type: string,
  isRequired: true,
  doc: 'From the receive of the message.',
};

const visibilityTimeout: Member = {
  type: integer,
  isRequired: true,
  doc: '0 to 43200 seconds from now.',
};

const maxResults: Member = { type: integer, doc: 'Page size, 1 to 1000.' };
const nextToken: Member = { type: string, doc: "The last page's NextToken." };

const message: Members = {
  MessageId: { type: plainString, doc: "The message's id." },
  ReceiptHandle: {
    type: plainString,
    doc: 'For deleting the message and changing its visibility.',
  },
  MD5OfBody: { type: plainString, doc: 'MD5 of the body.' },
  Body: { type: string, doc: 'The body as sent.' },
  Attributes: {
    type: attributeMap,
    query: 'Attribute',
    doc: 'The system attributes asked for.',
  },
  MD5OfMessageAttributes: { type: plainString, doc: 'Over the attributes returned.' },
  MessageAttributes: {
    type: receivedAttributes,
    query: 'MessageAttribute',
    doc: 'The message attributes asked for.',
  },
};

const queueUrls: Member = { type: list(string), query: 'QueueUrl', doc: 'Absent if none matches.' };

export const sqsActions: Readonly<Record<string, ActionShape>> = actions({
  AddPermission: {
    doc: "Adds a statement to the queue's policy.",
    input: {
      QueueUrl: queueUrl,
      Label: { type: string, isRequired: true, doc: 'Names the statement.' },
      AWSAccountIds: {
        type: list(string),
        query: 'AWSAccountId',
        isRequired: true,
        doc: 'Accounts of 12 digits.',
      },
      Actions: {
        type: list(string),
        query: 'ActionName',
        isRequired: true,
        doc: 'At most 7 action names, or `*`.',
      },
    },
    output: undefined,
    differs: 'The policy is stored and returned, not enforced.',
  },
  CancelMessageMoveTask: {
    doc: 'Stops a redrive; what was moved stays moved.',
    input: {
      TaskHandle: { type: string, isRequired: true, doc: 'From StartMessageMoveTask.' },
    },
    output: {
      ApproximateNumberOfMessagesMoved: { type: long, doc: 'Moved so far; exact here.' },
    },
    differs: 'Takes effect at once: a task is never seen in the state CANCELLING.',
  },
  ChangeMessageVisibility: {
    doc: 'Sets when a received message becomes visible again.',
    input: {
      QueueUrl: queueUrl,
      ReceiptHandle: receiptHandle,
      VisibilityTimeout: visibilityTimeout,
    },
    output: undefined,
  },
  ChangeMessageVisibilityBatch: {
    doc: 'ChangeMessageVisibility for up to 10 messages.',
    input: {
      QueueUrl: queueUrl,
      Entries: {
        type: list(
          structure({
            Id: entryId,
            ReceiptHandle: receiptHandle,
            VisibilityTimeout: visibilityTimeout,
          }),
        ),
        query: 'ChangeMessageVisibilityBatchRequestEntry',
        isRequired: true,
        doc: '1 to 10 entries.',
      },
    },
    output: {
      Successful: {
        type: list(structure({ Id: answeredId })),
        query: 'ChangeMessageVisibilityBatchResultEntry',
        doc: 'The entries that went through.',
      },
      Failed: failed,
    },
  },
  CreateQueue: {
    doc: 'Creates a queue, or finds the one with this name and these attributes.',
    input: {
      QueueName: { type: string, isRequired: true, doc: '1 to 80 characters; .fifo for FIFO.' },
      Attributes: {
        type: attributeMap,
        query: 'Attribute',
        doc: 'Attributes that differ from their defaults.',
      },
      tags: { type: tagMap, query: 'Tag', doc: 'Up to 50.' },
    },
    output: { QueueUrl: { type: string, doc: "The queue's URL, on the host that was asked." } },
    differs:
      'OnceMQ has two additional attributes for FIFO queues: DeduplicationIntervalSeconds (1 to 1209600, default 300) and Profile (aws or yandex).',
  },
  DeleteMessage: {
    doc: 'Deletes a received message.',
    input: { QueueUrl: queueUrl, ReceiptHandle: receiptHandle },
    output: undefined,
  },
  DeleteMessageBatch: {
    doc: 'DeleteMessage for up to 10 messages.',
    input: {
      QueueUrl: queueUrl,
      Entries: {
        type: list(structure({ Id: entryId, ReceiptHandle: receiptHandle })),
        query: 'DeleteMessageBatchRequestEntry',
        isRequired: true,
        doc: '1 to 10 entries.',
      },
    },
    output: {
      Successful: {
        type: list(structure({ Id: answeredId })),
        query: 'DeleteMessageBatchResultEntry',
        doc: 'The entries that went through.',
      },
      Failed: failed,
    },
  },
  DeleteQueue: {
    doc: 'Deletes the queue and everything in it.',
    input: { QueueUrl: queueUrl },
    output: undefined,
    differs: 'Takes effect at once; on AWS it may take a minute.',
  },
  GetQueueAttributes: {
    doc: "Reads the queue's attributes and counters.",
    input: {
      QueueUrl: queueUrl,
      AttributeNames: {
        type: list(string),
        query: 'AttributeName',
        doc: 'The names asked for, or `All`.',
      },
    },
    output: {
      Attributes: { type: attributeMap, query: 'Attribute', doc: 'Those that have a value.' },
    },
    differs: 'Counters are exact.',
  },
  GetQueueUrl: {
    doc: "Finds a queue's URL by its name.",
    input: {
      QueueName: { type: string, isRequired: true, doc: "The queue's name." },
      QueueOwnerAWSAccountId: { type: string, doc: 'Accepted; there is one account.' },
    },
    output: { QueueUrl: { type: string, doc: "The queue's URL, on the host that was asked." } },
  },
  ListDeadLetterSourceQueues: {
    doc: 'Lists the queues whose RedrivePolicy names this one.',
    input: { QueueUrl: queueUrl, NextToken: nextToken, MaxResults: maxResults },
    output: {
      queueUrls,
      NextToken: { type: string, doc: 'Given when a page size was asked for and more follow.' },
    },
  },
  ListMessageMoveTasks: {
    doc: 'Lists the latest redrives of a dead-letter queue, newest first.',
    input: {
      SourceArn: { type: string, isRequired: true, doc: 'ARN of the dead-letter queue.' },
      MaxResults: { type: integer, doc: '1 to 10; default 1.' },
    },
    output: {
      Results: {
        type: list(
          structure({
            TaskHandle: { type: string, doc: 'Only while RUNNING.' },
            Status: { type: string, doc: 'RUNNING, COMPLETED, CANCELLED or FAILED.' },
            SourceArn: { type: string, doc: 'ARN of the dead-letter queue.' },
            DestinationArn: { type: string, doc: 'If one was given.' },
            MaxNumberOfMessagesPerSecond: { type: integer, doc: 'If one was given.' },
            ApproximateNumberOfMessagesMoved: { type: long, doc: 'Exact here.' },
            ApproximateNumberOfMessagesToMove: { type: long, doc: 'Counted at the start.' },
            FailureReason: { type: string, doc: 'Only if FAILED.' },
            StartedTimestamp: { type: long, doc: 'Epoch milliseconds.' },
          }),
        ),
        query: 'ListMessageMoveTasksResultEntry',
        doc: 'The tasks.',
      },
    },
  },
  ListQueues: {
    doc: 'Lists queues by name.',
    input: {
      QueueNamePrefix: { type: string, doc: 'Only names that start with it.' },
      NextToken: nextToken,
      MaxResults: maxResults,
    },
    output: {
      QueueUrls: queueUrls,
      NextToken: { type: string, doc: 'Given when a page size was asked for and more follow.' },
    },
  },
  ListQueueTags: {
    doc: "Reads the queue's tags.",
    input: { QueueUrl: queueUrl },
    output: { Tags: { type: tagMap, query: 'Tag', doc: 'Absent if there are none.' } },
  },
  PurgeQueue: {
    doc: 'Removes every message, and on FIFO queues every remembered deduplication id.',
    input: { QueueUrl: queueUrl },
    output: undefined,
    differs: 'Takes effect at once; on AWS it may take a minute.',
  },
  ReceiveMessage: {
    doc: 'Returns up to 10 messages and hides them for the visibility timeout.',
    input: {
      QueueUrl: queueUrl,
      AttributeNames: {
        type: list(string),
        query: 'AttributeName',
        doc: 'System attributes to return, or `All` (the older name).',
      },
      MessageSystemAttributeNames: {
        type: list(string),
        query: 'MessageSystemAttributeName',
        doc: 'System attributes to return, or `All`.',
      },
      MessageAttributeNames: {
        type: list(string),
        query: 'MessageAttributeName',
        doc: 'Names, `All`, `*`, `.*` or `prefix.*`.',
      },
      MaxNumberOfMessages: { type: integer, doc: '1 to 10; default 1.' },
      VisibilityTimeout: { type: integer, doc: "0 to 43200 seconds; the default is the queue's." },
      WaitTimeSeconds: { type: integer, doc: "0 to 20; the default is the queue's." },
      ReceiveRequestAttemptId: {
        type: string,
        doc: 'FIFO: the same id within 5 minutes returns the same messages and handles again.',
      },
    },
    output: {
      Messages: {
        type: list(structure(message)),
        query: 'Message',
        doc: 'Absent if there are none.',
      },
    },
  },
  RemovePermission: {
    doc: "Removes a statement from the queue's policy.",
    input: {
      QueueUrl: queueUrl,
      Label: { type: string, isRequired: true, doc: 'Names the statement.' },
    },
    output: undefined,
  },
  SendMessage: {
    doc: 'Sends a message. A duplicate succeeds and changes nothing.',
    input: { QueueUrl: queueUrl, ...sendInput },
    output: sendOutput,
    differs: "A duplicate's answer has the header x-oncemq-duplicate-of with its original's id.",
  },
  SendMessageBatch: {
    doc: 'SendMessage for up to 10 messages, in order.',
    input: {
      QueueUrl: queueUrl,
      Entries: {
        type: list(structure({ Id: entryId, ...sendInput })),
        query: 'SendMessageBatchRequestEntry',
        isRequired: true,
        doc: '1 to 10 entries.',
      },
    },
    output: {
      Successful: {
        type: list(structure({ Id: answeredId, ...sendOutput })),
        query: 'SendMessageBatchResultEntry',
        doc: 'The entries that went through, in order.',
      },
      Failed: failed,
    },
    differs: 'As SendMessage; the header lists the originals of all duplicates in the batch.',
  },
  SetQueueAttributes: {
    doc: "Changes the queue's attributes, all or none.",
    input: {
      QueueUrl: queueUrl,
      Attributes: {
        type: attributeMap,
        query: 'Attribute',
        isRequired: true,
        doc: 'The new values.',
      },
    },
    output: undefined,
    differs: 'Takes effect at once; on AWS it may take a minute.',
  },
  StartMessageMoveTask: {
    doc: 'Redrives a dead-letter queue.',
    input: {
      SourceArn: { type: string, isRequired: true, doc: 'ARN of the dead-letter queue.' },
      DestinationArn: { type: string, doc: 'Default: back to where each message came from.' },
      MaxNumberOfMessagesPerSecond: {
        type: integer,
        doc: '1 to 500; by default as fast as possible.',
      },
    },
    output: { TaskHandle: { type: string, doc: 'For CancelMessageMoveTask.' } },
  },
  TagQueue: {
    doc: 'Adds or overwrites tags.',
    input: {
      QueueUrl: queueUrl,
      Tags: { type: tagMap, query: 'Tag', isRequired: true, doc: 'Up to 50.' },
    },
    output: undefined,
  },
  UntagQueue: {
    doc: 'Removes tags.',
    input: {
      QueueUrl: queueUrl,
      TagKeys: { type: list(string), query: 'TagKey', isRequired: true, doc: 'Their keys.' },
    },
    output: undefined,
  },
});
