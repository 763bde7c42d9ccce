/**
 * Every refusal of topics, one row each: the SNS half of core/errors.ts. Shapes have the names of Amazon's service model,
 * texts are Amazon's own where they are on record (the rule numbers are those of docs/reference/semantics-sns.md).
 */

/** Amazon's error shapes for SNS. */
export type TopicErrorShape =
  | 'InvalidParameterException'
  | 'InvalidParameterValueException'
  | 'ValidationException'
  | 'NotFoundException'
  | 'ResourceNotFoundException'
  | 'InvalidStateException'
  | 'TopicLimitExceededException'
  | 'SubscriptionLimitExceededException'
  | 'FilterPolicyLimitExceededException'
  | 'ReplayLimitExceededException'
  | 'TagLimitExceededException'
  | 'EmptyBatchRequestException'
  | 'TooManyEntriesInBatchRequestException'
  | 'BatchEntryIdsNotDistinctException'
  | 'InvalidBatchEntryIdException'
  | 'BatchRequestTooLongException';

export const topicErrors = {
  // Parameters and ARNs of topics and subscriptions (1.6, 2.2–2.4, 5.10).
  'topic-parameter-missing': [
    'InvalidParameterException',
    'Invalid parameter: {name} Reason: no value for required parameter',
  ],
  'topic-member-missing': [
    'ValidationException',
    "1 validation error detected: Value null at '{path}' failed to satisfy constraint: Member must not be null",
  ],
  'topic-parameter-invalid': [
    'InvalidParameterException',
    'Invalid parameter: {name} Reason: {reason}',
  ],
  'topic-token-invalid': ['InvalidParameterException', 'Invalid parameter: NextToken'],
  'topic-arn-short': [
    'InvalidParameterException',
    'Invalid parameter: {name} Reason: An ARN must have at least 6 elements, not {count}',
  ],
  'topic-arn-foreign': ['InvalidParameterException', 'Invalid parameter: {name}'],
  'topic-missing': ['NotFoundException', 'Topic does not exist'],
  'subscription-missing': ['NotFoundException', 'Subscription does not exist'],
  'subscription-id-missing': ['InvalidParameterException', 'Invalid parameter: SubscriptionId'],

  // Topics (§3).
  'topic-name-invalid': ['InvalidParameterException', 'Invalid parameter: Topic Name'],
  'topic-exists': [
    'InvalidParameterException',
    'Invalid parameter: Attributes Reason: Topic already exists with different attributes',
  ],
  'topic-exists-with-tags': [
    'InvalidParameterException',
    'Invalid parameter: Tags Reason: Topic already exists with different tags',
  ],
  'topics-too-many': [
    'TopicLimitExceededException',
    'The number of topics has reached its limit of {limit}.',
  ],
  'topic-attribute-unknown': ['InvalidParameterException', 'Invalid parameter: AttributeName'],
  'topic-attribute-unknown-at-creation': [
    'InvalidParameterException',
    'Invalid parameter: Attributes Reason: Unknown attribute {attribute}',
  ],
  'topic-attribute-invalid': [
    'InvalidParameterException',
    'Invalid parameter: {attribute} Reason: {reason}',
  ],
  'topic-policy-invalid': [
    'InvalidParameterException',
    'Invalid parameter: Policy Error: {reason}',
  ],
  'topic-archive-active': [
    'InvalidStateException',
    'Invalid state: a topic with an active archive policy cannot be deleted',
  ],

  // Tags, permissions (§4).
  'tagged-resource-missing': ['ResourceNotFoundException', 'Resource does not exist'],
  'topic-tags-repeated': [
    'InvalidParameterException',
    'Invalid parameter: Duplicated keys are not allowed.',
  ],
  'topic-tags-too-many': [
    'TagLimitExceededException',
    'Could not complete request: tag quota of per resource exceeded',
  ],
  'topic-tag-invalid': [
    'InvalidParameterException',
    'Invalid parameter: Tags Reason: Tag keys have 1 to 128 characters and tag values up to 256, of letters, digits, spaces and _ . : / = + - @',
  ],
  'topic-label-exists': [
    'InvalidParameterException',
    'Invalid parameter: Statement already exists',
  ],
  'topic-action-unknown': [
    'InvalidParameterException',
    'Invalid parameter: Policy statement action out of service scope!',
  ],

  // Subscriptions (§5).
  'protocol-unknown': [
    'InvalidParameterException',
    'Invalid parameter: Amazon SNS does not support this protocol string: {protocol}',
  ],
  'protocol-not-there': [
    'InvalidParameterException',
    'Invalid parameter: Protocol Reason: OnceMQ delivers to sqs, http and https, not to {protocol}',
  ],
  'protocol-not-for-fifo': [
    'InvalidParameterException',
    'Invalid parameter: Invalid protocol type: {protocol}',
  ],
  'endpoint-not-queue': ['InvalidParameterException', 'Invalid parameter: SQS endpoint ARN'],
  'endpoint-fifo-on-standard': [
    'InvalidParameterException',
    'Invalid parameter: Invalid parameter: Endpoint Reason: FIFO SQS Queues can not be subscribed to standard SNS topics',
  ],
  'endpoint-not-url': [
    'InvalidParameterException',
    'Invalid parameter: Endpoint must match the specified protocol',
  ],
  'subscription-exists': [
    'InvalidParameterException',
    'Invalid parameter: Attributes Reason: Subscription already exists with different attributes',
  ],
  'subscriptions-too-many': [
    'SubscriptionLimitExceededException',
    'The topic has reached its limit of {limit} subscriptions.',
  ],
  'subscription-attribute-unknown': [
    'InvalidParameterException',
    'Invalid parameter: {prefix}AttributeName',
  ],
  'subscription-attribute-invalid': [
    'InvalidParameterException',
    'Invalid parameter: {prefix}{reason}',
  ],
  'filter-policies-too-many': [
    'FilterPolicyLimitExceededException',
    'The number of filter policies has reached its limit of {limit}.',
  ],
  'replays-too-many': [
    'ReplayLimitExceededException',
    'The number of running replays has reached its limit of {limit}.',
  ],
  'confirmation-unknown': ['InvalidParameterException', 'Invalid parameter: Token'],
  'confirmation-topic-invalid': ['InvalidParameterException', 'Invalid parameter: Topic'],
  'confirmation-malformed': ['InvalidParameterException', 'Invalid token'],

  // Publishing (§6, §8, §10).
  'message-empty': ['InvalidParameterException', 'Invalid parameter: Empty message'],
  'subject-invalid': ['InvalidParameterException', 'Invalid parameter: Subject'],
  'publication-too-long': ['InvalidParameterException', 'Invalid parameter: Message too long'],
  'publication-too-complex': [
    'InvalidParameterException',
    "Invalid parameter: Message Reason: Matching it with the topic's filter policies takes too many comparisons",
  ],
  'publication-too-wide': [
    'InvalidParameterException',
    'Invalid parameter: Message Reason: It is too large for {count} subscriptions',
  ],
  'publication-violates-contract': [
    'InvalidParameterException',
    'Invalid parameter: Message Reason: The message breaks the contract of its topic ({rule}). {reason}',
  ],
  'structure-unknown': ['InvalidParameterException', 'Invalid parameter: MessageStructure'],
  'structure-not-json': [
    'InvalidParameterException',
    'Invalid parameter: Message Structure - JSON message body failed to parse',
  ],
  'structure-without-default': [
    'InvalidParameterException',
    'Invalid parameter: Message Structure - No default entry in JSON message body',
  ],
  'phone-not-there': [
    'InvalidParameterException',
    'Invalid parameter: PhoneNumber Reason: OnceMQ sends no text messages',
  ],
  'endpoint-not-there': [
    'InvalidParameterException',
    'Invalid parameter: TargetArn Reason: No endpoint found for the target arn specified',
  ],
  'publication-id-on-standard': [
    'InvalidParameterException',
    'Invalid parameter: MessageDeduplicationId Reason: The request includes MessageDeduplicationId parameter that is not valid for this topic type',
  ],
  'publication-group-missing': [
    'InvalidParameterException',
    'Invalid parameter: The MessageGroupId parameter is required for FIFO topics',
  ],
  'publication-id-missing': [
    'InvalidParameterException',
    'Invalid parameter: The topic should either have ContentBasedDeduplication enabled or MessageDeduplicationId provided explicitly',
  ],
  'publication-id-invalid': [
    'InvalidParameterException',
    'Invalid parameter: {name} Reason: {name} can only include alphanumeric and punctuation characters. 1 to 128 in length',
  ],
  'publication-attribute-name-long': [
    'InvalidParameterValueException',
    'Length of message attribute name must be less than 256 bytes.',
  ],
  'publication-attribute-name-empty': [
    'InvalidParameterValueException',
    'Message attribute name must not be empty.',
  ],
  'publication-attribute-name-character': [
    'InvalidParameterValueException',
    "Invalid non-alphanumeric character '#x{code}' was found in the message attribute name. Can only include alphanumeric characters, hyphens, underscores, or dots.",
  ],
  'publication-attribute-name-start': [
    'InvalidParameterValueException',
    "Invalid message attribute name starting with character '.' was found.",
  ],
  'publication-attribute-name-end': [
    'InvalidParameterValueException',
    "Invalid message attribute name ending with character '.' was found.",
  ],
  'publication-attribute-name-dots': [
    'InvalidParameterValueException',
    "Message attribute name can not have successive '.' character.",
  ],
  'publication-attribute-name-reserved': [
    'InvalidParameterValueException',
    "The message attribute name '{name}' is reserved: it starts with AWS. or Amazon.",
  ],
  'publication-attribute-type': [
    'InvalidParameterValueException',
    "The message attribute '{name}' has an invalid message attribute type, the set of supported type prefixes is Binary, Number, and String.",
  ],
  'publication-attribute-field': [
    'InvalidParameterValueException',
    "The message attribute '{name}' with type '{type}' must use field '{field}'.",
  ],
  'publication-attribute-empty': [
    'InvalidParameterValueException',
    "The message attribute '{name}' must contain non-empty message attribute value for message attribute type '{type}'.",
  ],
  'publication-attribute-number': [
    'InvalidParameterValueException',
    "Could not cast message attribute '{name}' value to number.",
  ],

  // Publishing several (§7).
  'publications-none': [
    'EmptyBatchRequestException',
    "The batch request doesn't contain any entries.",
  ],
  'publications-too-many': [
    'TooManyEntriesInBatchRequestException',
    'The batch request contains more entries than permissible.',
  ],
  'publication-entry-repeated': [
    'BatchEntryIdsNotDistinctException',
    'Two or more batch entries in the request have the same Id.',
  ],
  'publication-entry-character': [
    'InvalidBatchEntryIdException',
    'The Id of a batch entry in the batch request contains an impermissible character: {id}',
  ],
  'publication-entry-long': [
    'InvalidBatchEntryIdException',
    'The Id of a batch entry in the batch request is too long: {id}',
  ],
  'publications-too-long': [
    'BatchRequestTooLongException',
    'The length of all the messages put together is more than the limit.',
  ],
} as const;
