/**
 * An AWS client as these tests see it, whatever its language: it takes an action's name and input, and returns the output
 * or throws a `CallError`. All AWS clients use the same names, so one list of tests (everyday-life.ts) runs with each of
 * them. The types are those of the newest client.
 */

import type * as sdk from '@aws-sdk/client-sqs';

export type ActionName =
  | 'AddPermission'
  | 'CancelMessageMoveTask'
  | 'ChangeMessageVisibility'
  | 'ChangeMessageVisibilityBatch'
  | 'CreateQueue'
  | 'DeleteMessage'
  | 'DeleteMessageBatch'
  | 'DeleteQueue'
  | 'GetQueueAttributes'
  | 'GetQueueUrl'
  | 'ListDeadLetterSourceQueues'
  | 'ListMessageMoveTasks'
  | 'ListQueues'
  | 'ListQueueTags'
  | 'PurgeQueue'
  | 'ReceiveMessage'
  | 'RemovePermission'
  | 'SendMessage'
  | 'SendMessageBatch'
  | 'SetQueueAttributes'
  | 'StartMessageMoveTask'
  | 'TagQueue'
  | 'UntagQueue';

type Command<A extends ActionName> = InstanceType<(typeof sdk)[`${A}Command`]>;

export type Input<A extends ActionName> = Command<A>['input'];
export type Output<A extends ActionName> = Omit<
  Awaited<ReturnType<ReturnType<Command<A>['resolveMiddleware']>>>['output'],
  '$metadata'
>;

export interface WireClient {
  call<A extends ActionName>(action: A, input: Input<A>): Promise<Output<A>>;
  /** Clients older than an action do not have it. */
  has(action: ActionName): boolean;
  close(): void;
}

/** A kind of client that can be opened for any server. */
export interface ClientKind {
  /** The wire form it speaks. */
  readonly wire: Wire;
  open(endpoint: string): WireClient;
  /** Whether its server keeps everything in a directory; default: in memory. */
  readonly isKept?: boolean;
}

export type Wire = 'json' | 'query';

/** What a client made of an error answer. */
export class CallError extends Error {
  override readonly name: string = 'CallError';
  readonly code: string;
  readonly status: number | undefined;

  constructor(code: string, status: number | undefined, message: string) {
    super(message);
    this.code = code;
    this.status = status;
  }
}

/** The region and the keys of every client; the server ignores both. */
export const region = 'us-east-1';
export const credentials = { accessKeyId: 'test', secretAccessKey: 'test' };
