/**
 * Every refusal, one row each: which of Amazon's error shapes it is and the text it carries. A refusal is a value,
 * so one path serves a single call and a batch entry. Texts are Amazon's own where they are on record (the rule
 * numbers are those of docs/reference/semantics.md).
 *
 * The shapes' query codes, HTTP statuses and wire forms are not core's: `api/protocol` has them.
 */

import { type TopicErrorShape, topicErrors } from './topic/errors.ts';

/** Amazon's error shapes, by the name that its service model gives them. */
export type ErrorShape = QueueErrorShape | TopicErrorShape;

type QueueErrorShape =
  | 'QueueDoesNotExist'
  | 'QueueNameExists'
  | 'QueueDeletedRecently'
  | 'InvalidAttributeName'
  | 'InvalidAttributeValue'
  | 'InvalidParameterValue'
  | 'MissingParameter'
  | 'InvalidMessageContents'
  | 'UnsupportedOperation'
  | 'ReceiptHandleIsInvalid'
  | 'PurgeQueueInProgress'
  | 'OverLimit'
  | 'ResourceNotFound'
  | 'EmptyBatchRequest'
  | 'TooManyEntriesInBatchRequest'
  | 'BatchEntryIdsNotDistinct'
  | 'InvalidBatchEntryId'
  | 'BatchRequestTooLong';

/** For each code its shape and its text, in which `{word}` stands for the detail of that name. */
const queueErrors = {
  // Queues: names and life (5.2–5.6).
  'queue-missing': ['QueueDoesNotExist', 'The specified queue does not exist.'],
  'queue-exists': [
    'QueueNameExists',
    'A queue already exists with the same name and a different value for attribute {attribute}',
  ],
  'queue-deleted-recently': [
    'QueueDeletedRecently',
    'You must wait {seconds} seconds after deleting a queue before you can create another with the same name.',
  ],
  'queue-name-missing': [
    'InvalidParameterValue',
    'Value for parameter QueueName is invalid. Reason: Must specify a queue name.',
  ],
  'queue-name-empty': ['InvalidParameterValue', 'Queue name cannot be empty'],
  'queue-name-invalid': [
    'InvalidParameterValue',
    'Can only include alphanumeric characters, hyphens, or underscores. 1 to 80 in length',
  ],
  'queue-name-not-fifo': [
    'InvalidParameterValue',
    'The name of a FIFO queue can only include alphanumeric characters, hyphens, or underscores, must end with .fifo suffix and be 1 to 80 in length.',
  ],
  'purge-in-progress': [
    'PurgeQueueInProgress',
    'Only one PurgeQueue operation on {queue} is allowed every {seconds} seconds.',
  ],

  // Attributes (§6).
  'attribute-unknown': ['InvalidAttributeName', 'Unknown Attribute {attribute}.'],
  'attribute-fifo-only': [
    'InvalidAttributeName',
    'You can specify the {attribute} only when FifoQueue is set to true.',
  ],
  'attribute-value-invalid': [
    'InvalidAttributeValue',
    'Invalid value for the parameter {attribute}.',
  ],
  'queue-type-fixed': [
    'InvalidAttributeValue',
    'Invalid value for the parameter FifoQueue. Reason: Modifying queue type is not supported.',
  ],
  'throughput-needs-group-scope': [
    'InvalidAttributeValue',
    'Invalid value for the parameter FifoThroughputLimit. Reason: The perMessageGroupId value is allowed only when the value for DeduplicationScope is messageGroup.',
  ],
  'encryption-twice': [
    'InvalidAttributeName',
    'You can use one type of server-side encryption (SSE) at one time. You can either enable KMS SSE or SQS SSE.',
  ],

  // Policies (6.8).
  'policy-bytes': ['OverLimit', 'Submitted policy is over max allowed size.'],
  'policy-statements': [
    'OverLimit',
    '{count} statements were found in the submitted policy, max allowed is {limit}',
  ],
  'policy-actions': [
    'OverLimit',
    '{count} actions were found in a statement from the submitted policy, max allowed is {limit}',
  ],
  'policy-principals': [
    'OverLimit',
    '{count} principals were found in a statement from the submitted policy, max allowed is {limit}',
  ],
  'policy-conditions': [
    'OverLimit',
    '{count} conditions were found in a statement from the submitted policy, max allowed is {limit}',
  ],

  // Dead-letter policies (12.1–12.3).
  'redrive-policy-not-json': [
    'InvalidParameterValue',
    'Invalid value for the parameter RedrivePolicy. Reason: Redrive policy is not a valid JSON map.',
  ],
  'redrive-count-missing': [
    'InvalidParameterValue',
    'Value {value} for parameter RedrivePolicy is invalid. Reason: Redrive policy does not contain mandatory attribute: maxReceiveCount.',
  ],
  'redrive-target-missing': [
    'InvalidParameterValue',
    'Value {value} for parameter RedrivePolicy is invalid. Reason: Redrive policy does not contain mandatory attribute: deadLetterTargetArn.',
  ],
  'redrive-count-invalid': [
    'InvalidParameterValue',
    'Value {value} for parameter RedrivePolicy is invalid. Reason: Invalid value for maxReceiveCount: {count}, valid values are from 1 to 1000 both inclusive.',
  ],
  'redrive-members-unknown': [
    'InvalidParameterValue',
    'Value {value} for parameter RedrivePolicy is invalid. Reason: Only following attributes are supported: [maxReceiveCount, deadLetterTargetArn].',
  ],
  'redrive-target-invalid': [
    'InvalidParameterValue',
    'Value {value} for parameter RedrivePolicy is invalid. Reason: Invalid value for deadLetterTargetArn.',
  ],
  'redrive-target-unknown': [
    'InvalidParameterValue',
    'Value {value} for parameter RedrivePolicy is invalid. Reason: Dead letter target does not exist.',
  ],
  'redrive-target-type': [
    'InvalidParameterValue',
    'Value {value} for parameter RedrivePolicy is invalid. Reason: Dead-letter queue must be same type of queue as the source..',
  ],
  'redrive-target-denied': [
    'InvalidParameterValue',
    'Value {value} for parameter RedrivePolicy is invalid. Reason: Queue {target} does not allow this queue to use it as a dead-letter queue.',
  ],
  'redrive-allow-not-json': [
    'InvalidParameterValue',
    "Invalid value for the parameter RedriveAllowPolicy. Reason: Amazon SQS can't create the redrive allow policy, as it is not a valid JSON map.",
  ],
  'redrive-allow-permission': [
    'InvalidParameterValue',
    'Value {value} for parameter RedriveAllowPolicy is invalid. Reason: redrivePermission must be one of allowAll, denyAll, byQueue.',
  ],
  'redrive-allow-sources': [
    'InvalidParameterValue',
    'Value {value} for parameter RedriveAllowPolicy is invalid. Reason: sourceQueueArns must list 1 to 10 queue ARNs, and only with redrivePermission byQueue.',
  ],

  // Tags, permissions, pages (5.7, 5.12–5.14).
  'tags-too-many': ['InvalidParameterValue', 'Too many tags added for queue {queue}.'],
  'tag-invalid': [
    'InvalidParameterValue',
    'Value {value} for parameter {name} is invalid. Reason: Tag keys have 1 to 128 characters and tag values up to 256, of letters, digits, spaces and _ . : / = + - @',
  ],
  'label-exists': [
    'InvalidParameterValue',
    'Value {value} for parameter Label is invalid. Reason: Already exists.',
  ],
  'label-unknown': [
    'InvalidParameterValue',
    "Value {value} for parameter Label is invalid. Reason: can't find label.",
  ],
  'label-invalid': [
    'InvalidParameterValue',
    'Value {value} for parameter Label is invalid. Reason: Can only include alphanumeric characters, hyphens, or underscores. 1 to 80 in length',
  ],
  'actions-too-many': ['OverLimit', '{count} Actions were found, maximum allowed is 7.'],
  'principals-too-many': ['OverLimit', '{count} Principals were found, maximum allowed is 50.'],
  'statements-too-many': ['OverLimit', '{count} Statements were found, maximum allowed is 20.'],
  'action-owner-only': [
    'InvalidParameterValue',
    'Value SQS:{value} for parameter ActionName is invalid. Reason: Only the queue owner is allowed to invoke this action.',
  ],
  'action-unknown': [
    'InvalidParameterValue',
    'Value SQS:{value} for parameter ActionName is invalid. Reason: Please refer to the appropriate WSDL for a list of valid actions.',
  ],
  'account-invalid': [
    'InvalidParameterValue',
    'Value {value} for parameter PrincipalId is invalid. Reason: Unable to verify.',
  ],
  'page-size-invalid': [
    'InvalidParameterValue',
    'Value {value} for parameter MaxResults is invalid. Reason: Must be between 1 and 1000, if provided.',
  ],
  'parameter-missing': ['MissingParameter', 'The request must contain the parameter {name}.'],

  // Sending (§7, §8).
  'body-characters': [
    'InvalidMessageContents',
    'The message contains characters outside the allowed set: #x9 | #xA | #xD | #x20 to #xD7FF | #xE000 to #xFFFD | #x10000 to #x10FFFF.',
  ],
  'message-too-long': [
    'InvalidParameterValue',
    'One or more parameters are invalid. Reason: Message must be shorter than {limit} bytes.',
  ],
  'message-too-long-in-batch': [
    'InvalidParameterValue',
    'One or more parameters cannot be validated. Reason: Message must be shorter than {limit} bytes.',
  ],
  'attributes-too-many': [
    'InvalidParameterValue',
    'Number of message attributes [{count}] exceeds the allowed maximum [10].',
  ],
  'attribute-name-invalid': [
    'InvalidParameterValue',
    "The message (user) attribute name '{name}' is invalid. Names have 1 to 256 letters, digits, hyphens, underscores and periods, no period at either end and none doubled, and do not start with AWS. or Amazon.",
  ],
  'attribute-type-missing': [
    'InvalidParameterValue',
    "The message (user) attribute '{name}' must contain a non-empty message attribute type.",
  ],
  'attribute-type-invalid': [
    'InvalidParameterValue',
    "The type of message (user) attribute '{name}' is invalid. You must use only the following supported type prefixes: Binary, Number, String.",
  ],
  'attribute-value-empty': [
    'InvalidParameterValue',
    "Message (user) attribute '{name}' must contain a non-empty value of type '{type}'.",
  ],
  'attribute-value-characters': [
    'InvalidParameterValue',
    "The value of message (user) attribute '{name}' contains characters outside the allowed set.",
  ],
  'attribute-value-not-number': [
    'InvalidParameterValue',
    "Can't cast the value of message (user) attribute '{name}' to a number.",
  ],
  'attribute-value-list': [
    'UnsupportedOperation',
    'Message attribute list values in SendMessage operation are not supported.',
  ],
  'contract-violated': [
    'InvalidParameterValue',
    'Value for parameter MessageBody is invalid. Reason: The message breaks the contract of its queue ({rule}). {reason}',
  ],
  'system-attribute-invalid': [
    'InvalidParameterValue',
    "Message system attribute name '{name}' is invalid. Only AWSTraceHeader of type String can be sent.",
  ],
  'id-invalid': [
    'InvalidParameterValue',
    'Value {value} for parameter {name} is invalid. Reason: {name} can only include alphanumeric and punctuation characters. 1 to 128 in length.',
  ],
  'delay-invalid': [
    'InvalidParameterValue',
    'Value {value} for parameter DelaySeconds is invalid. Reason: DelaySeconds must be >= 0 and <= 900.',
  ],
  'delay-on-fifo': [
    'InvalidParameterValue',
    'Value {value} for parameter DelaySeconds is invalid. Reason: The request include parameter that is not valid for this queue type.',
  ],
  'deduplication-id-on-standard': [
    'InvalidParameterValue',
    'The request include parameter that is not valid for this queue type',
  ],
  'group-id-missing-in-batch': [
    'InvalidParameterValue',
    'The request must contain the parameter MessageGroupId.',
  ],
  'deduplication-id-missing': [
    'InvalidParameterValue',
    'The queue should either have ContentBasedDeduplication enabled or MessageDeduplicationId provided explicitly',
  ],

  // Batches (8.6).
  'batch-empty': ['EmptyBatchRequest', 'There should be at least one {entry} in the request.'],
  'batch-too-many': [
    'TooManyEntriesInBatchRequest',
    'Maximum number of entries per request are 10. You have sent {count}.',
  ],
  'batch-id-invalid': [
    'InvalidBatchEntryId',
    'A batch entry id can only contain alphanumeric characters, hyphens and underscores. It can be at most 80 letters long.',
  ],
  'batch-id-repeated': ['BatchEntryIdsNotDistinct', 'Id {id} repeated.'],
  'batch-too-long': [
    'BatchRequestTooLong',
    'Batch requests cannot be longer than 1048576 bytes. You have sent {size} bytes.',
  ],

  // Receiving, visibility, deletion (§9–§11).
  'receive-count-invalid': [
    'InvalidParameterValue',
    'Value {value} for parameter MaxNumberOfMessages is invalid. Reason: Must be between 1 and 10, if provided.',
  ],
  'wait-invalid': [
    'InvalidParameterValue',
    'Value {value} for parameter WaitTimeSeconds is invalid. Reason: Must be >= 0 and <= 20, if provided.',
  ],
  'receive-visibility-invalid': [
    'InvalidParameterValue',
    'Value {value} for parameter VisibilityTimeout is invalid. Reason: Must be >= 0 and <= 43200, if provided.',
  ],
  'attempt-id-on-standard': [
    'InvalidParameterValue',
    'Value {value} for parameter ReceiveRequestAttemptId is invalid. Reason: The request include parameter that is not valid for this queue type.',
  ],
  'in-flight-too-many': [
    'OverLimit',
    'Too many messages in flight: the queue has {limit} messages received and not deleted.',
  ],
  'receipt-invalid': [
    'ReceiptHandleIsInvalid',
    'The input receipt handle "{value}" is not a valid receipt handle.',
  ],
  'receipt-expired': [
    'InvalidParameterValue',
    'Value {value} for parameter ReceiptHandle is invalid. Reason: The receipt handle has expired.',
  ],
  'visibility-invalid': [
    'InvalidParameterValue',
    'Value {value} for parameter VisibilityTimeout is invalid. Reason: Must be between 0 and 43200.',
  ],
  'visibility-total': [
    'InvalidParameterValue',
    'Value {value} for parameter VisibilityTimeout is invalid. Reason: Total VisibilityTimeout for the message is beyond the limit [43200 seconds].',
  ],
  'visibility-unavailable': [
    'InvalidParameterValue',
    'Value {value} for parameter ReceiptHandle is invalid. Reason: Message does not exist or is not available for visibility timeout change.',
  ],
  'visibility-unavailable-in-batch': [
    'ReceiptHandleIsInvalid',
    'Message does not exist or is not available for visibility timeout change',
  ],

  // Message move tasks (§13).
  'move-arn-invalid': [
    'InvalidParameterValue',
    'You must use this format to specify the {name}: arn:<partition>:<service>:<region>:<account-id>:<resource-id>',
  ],
  'move-source-unknown': [
    'ResourceNotFound',
    "The resource that you specified for the SourceArn parameter doesn't exist.",
  ],
  'move-source-not-dead-letter': [
    'InvalidParameterValue',
    'Source queue must be configured as a Dead Letter Queue.',
  ],
  'move-destination-unknown': [
    'ResourceNotFound',
    "The resource that you specified for the DestinationArn parameter doesn't exist.",
  ],
  'move-to-itself': [
    'InvalidParameterValue',
    'Source queue arn and destination queue arn cannot be the same.',
  ],
  'move-type-differs': [
    'InvalidParameterValue',
    'The source queue and destination queue must be of the same queue type.',
  ],
  'move-rate-invalid': [
    'InvalidParameterValue',
    "Value for parameter MaxNumberOfMessagesPerSecond is invalid. Reason: You must enter a number that's between 1 and 500.",
  ],
  'move-already-running': [
    'InvalidParameterValue',
    'There is already a task running. Only one active task is allowed for a source queue arn at a given time.',
  ],
  'move-tasks-too-many': [
    'OverLimit',
    'There are {count} active message movement tasks, maximum allowed is 100.',
  ],
  'move-page-invalid': [
    'InvalidParameterValue',
    "Value for parameter MaxResults is invalid. Reason: You must enter a number that's between 1 and 10.",
  ],
  'task-handle-invalid': ['InvalidParameterValue', 'Value for parameter TaskHandle is invalid.'],
  'task-unknown': ['ResourceNotFound', 'Task does not exist.'],
  'task-not-active': ['InvalidParameterValue', 'Only active tasks can be cancelled.'],
} as const;

/** All of them: those of queues above, those of topics in their own file. */
export const errors: typeof queueErrors & typeof topicErrors = { ...queueErrors, ...topicErrors };

export type ErrorCode = keyof typeof errors;

export type ErrorDetail = Readonly<Record<string, string | number>>;

/** A command, or one entry of a batch, that was turned down and changed nothing. */
export interface Refusal {
  readonly ok: false;
  readonly code: ErrorCode;
  readonly detail: ErrorDetail;
}

const noDetail: ErrorDetail = {};

export function refuse(code: ErrorCode, detail: ErrorDetail = noDetail): Refusal {
  return { ok: false, code, detail };
}

/** Which of Amazon's shapes a refusal takes. */
export function errorShape(code: ErrorCode): ErrorShape {
  return errors[code][0];
}

/** The text that a client sees. */
export function errorText(refusal: Refusal): string {
  return filledText(errors[refusal.code][1], refusal.detail);
}

/** How many characters an error's text repeats of its details, which may be megabytes that a client sent. */
export const detailCharsMax = 1024;

/** Puts details into the text of a row. One that the row asks for and is missing is a bug, and shows as such. */
export function filledText(text: string, detail: ErrorDetail): string {
  let left = detailCharsMax;
  return text.replace(/\{(\w+)\}/g, (_, word: string) => {
    const value = String(detail[word] ?? `{${word}?}`);
    const shown = value.length <= left ? value : `${wholeCharacters(value.slice(0, left))}…`;
    left = Math.max(0, left - value.length);
    return shown;
  });
}

/** Without the first half of a character at the end, whose second half was cut off. */
function wholeCharacters(text: string): string {
  return /[\uD800-\uDBFF]$/.test(text) ? text.slice(0, -1) : text;
}
