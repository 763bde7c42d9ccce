/**
 * What the scan knows of the libraries that send: which modules they are, and what in them is a command, a client or a
 * method that sends.
 */

export const sendCommands: readonly string[] = [
  'SendMessageCommand',
  'SendMessageBatchCommand',
  'PublishCommand',
  'PublishBatchCommand',
];
export const sendMethods: readonly string[] = [
  'sendMessage',
  'sendMessageBatch',
  'publish',
  'publishBatch',
];
/** `client.makeRequest('sendMessage', …)` of version 2. */
export const requestMethods: readonly string[] = ['makeRequest', 'makeUnauthenticatedRequest'];

/** Members of a send's input, by which one is recognized where the client is not known. */
export const inputMembers: readonly string[] = [
  'QueueUrl',
  'TopicArn',
  'TargetArn',
  'MessageGroupId',
  'PublishBatchRequestEntries',
];
export const entryMembers: readonly string[] = ['Entries', 'PublishBatchRequestEntries'];

/**
 * A text that is a request written by hand (the target header of AWS JSON, or the action of a query), or a command of the AWS CLI
 * that a program starts.
 */
export const rawRequest: RegExp =
  /\bAmazonSQS\.SendMessage|\bAction=(?:SendMessage|Publish)(?:Batch)?\b|\bsqs\s+send-message(?:-batch)?\b|\bsns\s+publish(?:-batch)?\b|^send-message(?:-batch)?$/;
/** The value of `Action` in a query that is written by hand. */
export const queryActions: readonly string[] = [
  'SendMessage',
  'SendMessageBatch',
  'Publish',
  'PublishBatch',
];

/** Calls of the same clients that send nothing: what they mention says nothing about sends. */
export const otherCalls: RegExp =
  /^(?:receive|delete|change|get|list|create|set|purge|tag|untag|subscribe|unsubscribe)[A-Za-z]*$/i;

/** Constructs of AWS CDK that make a service send. */
export const infrastructure: RegExp =
  /^(?:SqsQueue|SqsDestination|SqsTarget|SqsSendMessage|SnsPublish)$/;

/** Members that tell a service how to send: EventBridge, its pipes and schedules, in AWS's SDK and in Pulumi. */
export const targetMembers: RegExp = /^(?:[sS]qs(?:Queue)?Parameters|sqsTarget)$/;

export type SdkModule = 'sdk' | 'sdk-client' | 'sqs-producer' | 'toolkit';

/** undefined for every other module. */
export function sdkModule(specifier: string): SdkModule | undefined {
  if (/(?:^|[:/])@aws-sdk\/client-(?:sqs|sns)(?=$|[/@])/.test(specifier)) return 'sdk';
  if (/^aws-sdk\/clients\/(?:sqs|sns)(?:\.js)?$/.test(specifier)) return 'sdk-client';
  if (/^aws-sdk(?:\/|$)/.test(specifier)) return 'sdk';
  if (specifier === 'sqs-producer') return 'sqs-producer';
  return specifier === '@oncemq/toolkit' ? 'toolkit' : undefined;
}
