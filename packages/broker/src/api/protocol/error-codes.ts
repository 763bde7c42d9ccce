/**
 * How each error looks on both wires: the `__type` of AWS JSON, the code of AWS Query (also used in batch entries and the
 * header `x-amzn-query-error`), the HTTP status, and whose fault it is (§2.10, §4). Core's refusals have their texts in
 * core; the protocol's own errors are defined here in the same form.
 *
 * Only the codes that rule 4.1 names have the prefix `AWS.SimpleQueueService.`.
 */

import {
  type ErrorCode,
  type ErrorDetail,
  type ErrorShape,
  errors,
  errorText,
  filledText,
} from '../../core/errors.ts';
import type { TopicErrorShape } from '../../core/topic/errors.ts';

type ProtocolShape =
  | 'UnknownOperation'
  | 'NoOperation'
  | 'Serialization'
  | 'RequestEntityTooLarge'
  | 'AccessDenied'
  | 'MissingAuthenticationToken'
  | 'IncompleteSignature'
  | 'UnrecognizedClient'
  | 'InvalidSignature'
  | 'InternalFailure'
  | 'ServiceUnavailable';

export type WireShape = ErrorShape | ProtocolShape;

export interface WireError {
  /** `__type` in AWS JSON. */
  readonly type: string;
  /** The code in AWS Query. */
  readonly code: string;
  readonly status: number;
  readonly fault: 'Sender' | 'Receiver';
}

function modeled(shape: string, code: string, status = 400): WireError {
  return { type: `com.amazonaws.sqs#${shape}`, code, status, fault: 'Sender' };
}

function generic(shape: string, code: string, status = 400): WireError {
  const fault = status < 500 ? 'Sender' : 'Receiver';
  return { type: `com.amazon.coral.service#${shape}`, code, status, fault };
}

/** SNS has no JSON form, so clients see only the short code (SNS 1.5). */
function ofTopics(shape: string, code: string, status = 400): WireError {
  return { type: `com.amazonaws.sns#${shape}`, code, status, fault: 'Sender' };
}

const prefix = 'AWS.SimpleQueueService';

function topicWireErrors(): Record<TopicErrorShape, WireError> {
  const table: Record<TopicErrorShape, readonly [code: string, status?: number]> = {
    InvalidParameterException: ['InvalidParameter'],
    InvalidParameterValueException: ['ParameterValueInvalid'],
    ValidationException: ['ValidationError'],
    NotFoundException: ['NotFound', 404],
    ResourceNotFoundException: ['ResourceNotFound', 404],
    InvalidStateException: ['InvalidState'],
    TopicLimitExceededException: ['TopicLimitExceeded', 403],
    SubscriptionLimitExceededException: ['SubscriptionLimitExceeded', 403],
    FilterPolicyLimitExceededException: ['FilterPolicyLimitExceeded', 403],
    ReplayLimitExceededException: ['ReplayLimitExceeded', 403],
    TagLimitExceededException: ['TagLimitExceeded'],
    EmptyBatchRequestException: ['EmptyBatchRequest'],
    TooManyEntriesInBatchRequestException: ['TooManyEntriesInBatchRequest'],
    BatchEntryIdsNotDistinctException: ['BatchEntryIdsNotDistinct'],
    InvalidBatchEntryIdException: ['InvalidBatchEntryId'],
    BatchRequestTooLongException: ['BatchRequestTooLong'],
  };
  const rows = Object.entries(table).map(([shape, [code, status]]) => [
    shape,
    ofTopics(shape, code, status),
  ]);
  return Object.fromEntries(rows) as Record<TopicErrorShape, WireError>;
}

export const wireErrors: Readonly<Record<WireShape, WireError>> = {
  QueueDoesNotExist: modeled('QueueDoesNotExist', `${prefix}.NonExistentQueue`),
  QueueNameExists: modeled('QueueNameExists', 'QueueAlreadyExists'),
  QueueDeletedRecently: modeled('QueueDeletedRecently', `${prefix}.QueueDeletedRecently`),
  InvalidAttributeName: modeled('InvalidAttributeName', 'InvalidAttributeName'),
  InvalidAttributeValue: modeled('InvalidAttributeValue', 'InvalidAttributeValue'),
  InvalidParameterValue: generic('InvalidParameterValueException', 'InvalidParameterValue'),
  MissingParameter: generic('MissingRequiredParameterException', 'MissingParameter'),
  InvalidMessageContents: modeled('InvalidMessageContents', 'InvalidMessageContents'),
  UnsupportedOperation: modeled('UnsupportedOperation', `${prefix}.UnsupportedOperation`),
  ReceiptHandleIsInvalid: modeled('ReceiptHandleIsInvalid', 'ReceiptHandleIsInvalid', 404),
  PurgeQueueInProgress: modeled('PurgeQueueInProgress', `${prefix}.PurgeQueueInProgress`, 403),
  OverLimit: modeled('OverLimit', 'OverLimit', 403),
  ResourceNotFound: modeled('ResourceNotFoundException', 'ResourceNotFoundException', 404),
  EmptyBatchRequest: modeled('EmptyBatchRequest', `${prefix}.EmptyBatchRequest`),
  TooManyEntriesInBatchRequest: modeled(
    'TooManyEntriesInBatchRequest',
    `${prefix}.TooManyEntriesInBatchRequest`,
  ),
  BatchEntryIdsNotDistinct: modeled(
    'BatchEntryIdsNotDistinct',
    `${prefix}.BatchEntryIdsNotDistinct`,
  ),
  InvalidBatchEntryId: modeled('InvalidBatchEntryId', `${prefix}.InvalidBatchEntryId`),
  BatchRequestTooLong: modeled('BatchRequestTooLong', `${prefix}.BatchRequestTooLong`),

  ...topicWireErrors(),

  UnknownOperation: generic('UnknownOperationException', 'InvalidAction'),
  NoOperation: generic('UnknownOperationException', 'InvalidAction', 404),
  Serialization: generic('SerializationException', 'MalformedInput'),
  RequestEntityTooLarge: generic('RequestEntityTooLargeException', 'RequestEntityTooLarge', 413),
  AccessDenied: generic('AccessDeniedException', 'AccessDenied', 403),
  MissingAuthenticationToken: generic(
    'MissingAuthenticationTokenException',
    'MissingAuthenticationToken',
    403,
  ),
  IncompleteSignature: generic('IncompleteSignatureException', 'IncompleteSignature'),
  UnrecognizedClient: generic('UnrecognizedClientException', 'InvalidClientTokenId', 403),
  InvalidSignature: generic('InvalidSignatureException', 'SignatureDoesNotMatch', 403),
  InternalFailure: generic('InternalFailure', 'InternalFailure', 500),
  ServiceUnavailable: generic('ServiceUnavailableException', 'ServiceUnavailable', 503),
};

/** The protocol's own errors, in the form of core's: shape and text, where `{word}` stands for the detail of that name. */
export const protocolErrors = {
  'action-invalid': ['UnknownOperation', 'The action {action} is not valid for this endpoint.'],
  'target-missing': [
    'UnknownOperation',
    'The request must name its action in the header X-Amz-Target: AmazonSQS.<Action>.',
  ],
  'action-missing': ['NoOperation', 'The request must contain the parameter Action.'],
  'input-malformed': ['Serialization', '{reason}'],
  'next-token-invalid': [
    'InvalidParameterValue',
    'Value {value} for parameter NextToken is invalid. Reason: It is not a token from this server.',
  ],
  'body-too-large': ['RequestEntityTooLarge', 'The request is larger than {limit} bytes.'],
  // Signatures (2.11). For a request without one, SQS and SNS have different errors.
  'access-denied': ['AccessDenied', 'Access to the resource {resource} is denied.'],
  'signature-missing': ['MissingAuthenticationToken', 'Request is missing Authentication Token'],
  'signature-incomplete': ['IncompleteSignature', '{reason}'],
  'access-key-unknown': [
    'UnrecognizedClient',
    'The security token included in the request is invalid.',
  ],
  'signature-mismatch': [
    'InvalidSignature',
    'The request signature we calculated does not match the signature you provided. Check your AWS Secret Access Key and signing method. Consult the service documentation for details.',
  ],
  'signature-expired': [
    'InvalidSignature',
    'Signature expired: {signedAt} is now earlier than {earliest} ({now} - {minutes} min.)',
  ],
  'signature-early': [
    'InvalidSignature',
    'Signature not yet current: {signedAt} is still later than {latest} ({now} + {minutes} min.)',
  ],
  'header-unsigned': [
    'InvalidSignature',
    "{header} must be a 'SignedHeader' in the AWS Authorization.",
  ],
  'scope-terminator': [
    'InvalidSignature',
    "Credential should be scoped with a valid terminator: 'aws4_request', not '{terminator}'.",
  ],
  'scope-service': [
    'InvalidSignature',
    "Credential should be scoped to correct service: '{service}'.",
  ],
  'scope-region': [
    'InvalidSignature',
    "Credential should be scoped to a valid region, not '{region}'.",
  ],
  'scope-date': [
    'InvalidSignature',
    "Date in Credential scope does not match YYYYMMDD from ISO-8601 version of date from HTTP: '{date}' != '{day}', from '{signedAt}'.",
  ],
  'internal-failure': [
    'InternalFailure',
    'The request was not carried out, because of a failure inside the server.',
  ],
  'service-unavailable': ['ServiceUnavailable', 'The request was not carried out: {reason}'],
} as const;

export type ProtocolCode = keyof typeof protocolErrors;

/** Why a request, or one entry of a batch, was refused: core's refusals and the protocol's own errors. */
export interface Fault {
  readonly ok: false;
  readonly code: ErrorCode | ProtocolCode;
  readonly detail: ErrorDetail;
  /** Set if the error is written as SNS does; absent for SQS. */
  readonly service?: 'sns';
}

export function fault(code: ProtocolCode, detail: ErrorDetail = {}): Fault {
  return { ok: false, code, detail };
}

export function malformed(reason: string): Fault {
  return fault('input-malformed', { reason });
}

/** The name of an error in any wire form: the shape, as listed in docs/reference/errors.md. */
export function shapeOf({ code }: Fault): keyof typeof wireErrors {
  return isProtocolCode(code) ? protocolErrors[code][0] : errors[code][0];
}

export function wireErrorOf(problem: Fault): WireError {
  const { code, service } = problem;
  const row = wireErrors[shapeOf(problem)];
  return service === 'sns' && code === 'internal-failure' ? { ...row, code: 'InternalError' } : row;
}

/** The text in AWS JSON and in batch entries. */
export function faultText({ ok, code, detail }: Fault): string {
  if (!isProtocolCode(code)) return errorText({ ok, code, detail });
  return filledText(protocolErrors[code][1], detail);
}

/** The text in AWS Query, which differs in one case (3.10). */
export function queryFaultText(fault: Fault): string {
  return fault.code === 'queue-missing'
    ? 'The specified queue does not exist for this wsdl version.'
    : faultText(fault);
}

function isProtocolCode(code: ErrorCode | ProtocolCode): code is ProtocolCode {
  return Object.hasOwn(protocolErrors, code);
}
