/**
 * The actions of Amazon SNS (API version 2010-03-31) that are about topics, subscriptions and publishing: every parameter,
 * every member of every answer. Actions about text messages, mobile devices and e-mail are not supported.
 *
 * SNS uses only AWS Query. Its lists and maps are not flattened: `Tags.member.1.Key`, `Attributes.entry.1.key`.
 */

import {
  type ActionShape,
  actions,
  blob,
  boolean,
  entryMap,
  type Member,
  type Members,
  memberList,
  string,
  structure,
  type Type,
} from './shape.ts';

const topicArn: Member = { type: string, isRequired: true, doc: "The topic's ARN." };
const subscriptionArn: Member = { type: string, isRequired: true, doc: "The subscription's ARN." };
const resourceArn: Member = { type: string, isRequired: true, doc: "The topic's ARN." };
const nextToken: Member = { type: string, doc: "The last page's NextToken." };
const attributeMap: Type = entryMap(string);

const tags: Member = {
  type: memberList(
    structure({
      Key: { type: string, isRequired: true, doc: 'Up to 128 characters.' },
      Value: { type: string, isRequired: true, doc: 'Up to 256 characters.' },
    }),
  ),
  doc: 'Up to 50 on a topic.',
};

const messageAttributes: Type = entryMap(
  structure({
    DataType: {
      type: string,
      isRequired: true,
      doc: 'String, String.Array, Number or Binary, and a label.',
    },
    StringValue: { type: string, doc: 'The value of a String or Number.' },
    BinaryValue: { type: blob, doc: 'The value of a Binary.' },
  }),
  'Name',
  'Value',
);

const publication: Members = {
  Message: { type: string, isRequired: true, doc: 'The message, up to 256 KiB with attributes.' },
  Subject: { type: string, doc: 'Up to 100 printable characters; part of the envelope.' },
  MessageStructure: {
    type: string,
    doc: '`json`: the message is an object with a default text and texts for protocols.',
  },
  MessageAttributes: {
    type: messageAttributes,
    doc: 'For filter policies and receivers. Deduplication ignores them.',
  },
  MessageDeduplicationId: {
    type: string,
    doc: 'FIFO only; takes precedence over the hash of the message.',
  },
  MessageGroupId: { type: string, doc: 'Required on FIFO; passed on by standard topics.' },
};

const published: Members = {
  MessageId: { type: string, doc: "A duplicate's is that of its original." },
  SequenceNumber: { type: string, doc: 'FIFO only: 20 digits, rising over the whole topic.' },
};

const entryId: Member = {
  type: string,
  isRequired: true,
  doc: 'Identifies the entry in the answer; unique within the request.',
};

const subscriptions: Member = {
  type: memberList(
    structure({
      SubscriptionArn: { type: string, doc: 'PendingConfirmation until it is confirmed.' },
      Owner: { type: string, doc: 'The account.' },
      Protocol: { type: string, doc: 'sqs, http or https.' },
      Endpoint: { type: string, doc: 'ARN or URL.' },
      TopicArn: { type: string, doc: "The topic's ARN." },
    }),
  ),
  doc: 'At most 100 a page.',
};

export const snsActions: Readonly<Record<string, ActionShape>> = actions({
  AddPermission: {
    doc: "Adds a statement to the topic's policy.",
    differs: 'The policy is stored and returned, not enforced.',
    input: {
      TopicArn: topicArn,
      Label: { type: string, isRequired: true, doc: 'Names the statement.' },
      AWSAccountId: { type: memberList(string), isRequired: true, doc: 'Accounts.' },
      ActionName: { type: memberList(string), isRequired: true, doc: 'Action names.' },
    },
    output: undefined,
  },
  ConfirmSubscription: {
    doc: 'Confirms an HTTP endpoint with the token that was posted to it.',
    input: {
      TopicArn: topicArn,
      Token: { type: string, isRequired: true, doc: 'From the request for confirmation.' },
      AuthenticateOnUnsubscribe: {
        type: string,
        doc: '`true`: only a signed request may unsubscribe, where signatures are checked.',
      },
    },
    output: { SubscriptionArn: { type: string, doc: 'The same each time.' } },
  },
  CreateTopic: {
    doc: 'Creates a topic, or finds the one with this name and these attributes and tags.',
    input: {
      Name: { type: string, isRequired: true, doc: 'Ends in .fifo on a FIFO topic.' },
      Attributes: { type: attributeMap, doc: 'As in SetTopicAttributes, and FifoTopic.' },
      Tags: tags,
      DataProtectionPolicy: { type: string, doc: 'Stored and returned.' },
    },
    output: { TopicArn: { type: string, doc: "The topic's ARN." } },
  },
  DeleteTopic: {
    doc: 'Deletes a topic with its subscriptions. It is no error if there is no such topic.',
    differs: 'Subscriptions are gone at once.',
    input: { TopicArn: topicArn },
    output: undefined,
  },
  GetDataProtectionPolicy: {
    doc: 'Returns the policy that PutDataProtectionPolicy stored.',
    input: { ResourceArn: resourceArn },
    output: { DataProtectionPolicy: { type: string, doc: 'JSON.' } },
  },
  GetSubscriptionAttributes: {
    doc: 'All attributes of a subscription.',
    input: { SubscriptionArn: subscriptionArn },
    output: { Attributes: { type: attributeMap, doc: 'By name.' } },
  },
  GetTopicAttributes: {
    doc: 'All attributes of a topic.',
    input: { TopicArn: topicArn },
    output: { Attributes: { type: attributeMap, doc: 'By name.' } },
  },
  ListSubscriptions: {
    doc: 'The subscriptions of all topics.',
    input: { NextToken: nextToken },
    output: { Subscriptions: subscriptions, NextToken: nextToken },
  },
  ListSubscriptionsByTopic: {
    doc: 'The subscriptions of one topic.',
    input: { TopicArn: topicArn, NextToken: nextToken },
    output: { Subscriptions: subscriptions, NextToken: nextToken },
  },
  ListTagsForResource: {
    doc: 'The tags of a topic.',
    input: { ResourceArn: resourceArn },
    output: { Tags: tags },
  },
  ListTopics: {
    doc: 'All topics, 100 a page.',
    input: { NextToken: nextToken },
    output: {
      Topics: {
        type: memberList(structure({ TopicArn: { type: string, doc: "A topic's ARN." } })),
        doc: 'Sorted by name.',
      },
      NextToken: nextToken,
    },
  },
  Publish: {
    doc: 'Sends a message to every subscriber of a topic.',
    differs:
      'When the call is answered, the queues have the message, all of them or none. Text messages (SMS) are not sent.',
    input: {
      TopicArn: { type: string, doc: "The topic's ARN." },
      TargetArn: { type: string, doc: 'Instead of TopicArn.' },
      PhoneNumber: { type: string, doc: 'Not supported.' },
      ...publication,
    },
    output: published,
  },
  PublishBatch: {
    doc: 'Publishes up to ten messages; an invalid one fails the whole request.',
    input: {
      TopicArn: topicArn,
      PublishBatchRequestEntries: {
        type: memberList(structure({ Id: entryId, ...publication })),
        isRequired: true,
        doc: '1 to 10.',
      },
    },
    output: {
      Successful: {
        type: memberList(structure({ Id: entryId, ...published })),
        doc: 'In the order of the request.',
      },
      Failed: {
        type: memberList(
          structure({
            Id: entryId,
            Code: { type: string, doc: 'Its error code.' },
            Message: { type: string, doc: 'Its error text.' },
            SenderFault: { type: boolean, doc: 'Whether the request was at fault.' },
          }),
        ),
        doc: 'Empty, unless the topic changed while a large batch was being published.',
      },
    },
  },
  PutDataProtectionPolicy: {
    doc: 'Stores a data protection policy.',
    differs: 'It has no effect.',
    input: {
      ResourceArn: resourceArn,
      DataProtectionPolicy: { type: string, isRequired: true, doc: 'JSON.' },
    },
    output: undefined,
  },
  RemovePermission: {
    doc: "Removes a statement from the topic's policy.",
    input: { TopicArn: topicArn, Label: { type: string, isRequired: true, doc: 'Its name.' } },
    output: undefined,
  },
  SetSubscriptionAttributes: {
    doc: 'Sets one attribute of a subscription; an empty value removes it.',
    differs: 'A filter policy takes effect at once.',
    input: {
      SubscriptionArn: subscriptionArn,
      AttributeName: {
        type: string,
        isRequired: true,
        doc: 'DeliveryPolicy, FilterPolicy, FilterPolicyScope, RawMessageDelivery, RedrivePolicy, ReplayPolicy or SubscriptionRoleArn.',
      },
      AttributeValue: { type: string, doc: 'Its value.' },
    },
    output: undefined,
  },
  SetTopicAttributes: {
    doc: 'Sets one attribute of a topic; an empty value removes it.',
    input: {
      TopicArn: topicArn,
      AttributeName: { type: string, isRequired: true, doc: 'Any except FifoTopic.' },
      AttributeValue: { type: string, doc: 'Its value.' },
    },
    output: undefined,
  },
  Subscribe: {
    doc: 'Subscribes a queue or an HTTP endpoint to a topic.',
    differs: 'The protocols sqs, http and https are supported; the others are refused.',
    input: {
      TopicArn: topicArn,
      Protocol: {
        type: string,
        isRequired: true,
        doc: 'sqs; on standard topics also http, https.',
      },
      Endpoint: { type: string, doc: "The queue's ARN, or a URL." },
      Attributes: { type: attributeMap, doc: 'As in SetSubscriptionAttributes.' },
      ReturnSubscriptionArn: {
        type: boolean,
        doc: 'Return the ARN even before the subscription is confirmed.',
      },
    },
    output: { SubscriptionArn: { type: string, doc: '`pending confirmation`, or the ARN.' } },
  },
  TagResource: {
    doc: 'Adds tags to a topic, or overwrites those with the same keys.',
    input: { ResourceArn: resourceArn, Tags: { ...tags, isRequired: true } },
    output: {},
  },
  Unsubscribe: {
    doc: 'Ends a subscription. It is no error if there is no such subscription.',
    differs: 'No confirmation is posted to an HTTP endpoint.',
    input: { SubscriptionArn: subscriptionArn },
    output: undefined,
  },
  UntagResource: {
    doc: 'Removes tags from a topic.',
    input: {
      ResourceArn: resourceArn,
      TagKeys: { type: memberList(string), isRequired: true, doc: 'Keys.' },
    },
    output: {},
  },
});
