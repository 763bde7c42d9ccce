/**
 * What the load is told and what it answers: the words between a benchmark and the process that makes its load. A
 * workload says what each connection asks for, a pace when it asks and when it is enough.
 */

/**
 * - `send`, `batch`: SendMessage, or SendMessageBatch of ten.
 * - `life`: SendMessage, ReceiveMessage, DeleteMessage.
 * - `drain`: ReceiveMessage of up to ten, and DeleteMessageBatch of what came.
 */
export type Workload = 'send' | 'batch' | 'life' | 'drain';

/**
 * - `full`: each connection asks again as soon as it is answered, for a time.
 * - `count`: the same, until so many messages are sent, or deleted when draining.
 * - `rate`: requests are due at fixed times, whether or not earlier ones are answered, for a time.
 */
export type Pace =
  | { readonly kind: 'full'; readonly warmUpMs: number; readonly measureMs: number }
  | { readonly kind: 'count'; readonly messages: number }
  | {
      readonly kind: 'rate';
      readonly perSecond: number;
      readonly warmUpMs: number;
      readonly measureMs: number;
    };

export interface LoadOrder {
  readonly port: number;
  readonly queueUrl: string;
  /** For a server that finds the service by the Authorization header; others are sent none. */
  readonly authorization?: string | undefined;
  readonly workload: Workload;
  readonly connections: number;
  readonly pace: Pace;
  /** Default 100, as in the benchmark of the engine. */
  readonly bodyBytes?: number;
  /** Default 1,000: many more than connections, so that a group is seldom held when its next message is asked for. */
  readonly groups?: number;
}

export interface LoadCount {
  readonly seconds: number;
  readonly requests: number;
  /** Sent, in their whole life, or deleted when draining. */
  readonly messages: number;
  /** Receives that found nothing, since every message's group was held by another connection. */
  readonly empty: number;
  /** From the first to the last, those of the warm-up too. */
  readonly messagesInAll: number;
  /** Which part of the load's turns found no answer to read: near 0, it is the load that is measured. */
  readonly free: number;
  /** With the pace `rate`, from when each request was due to its answer; otherwise undefined. */
  readonly latency?: Latency | undefined;
}

export interface Latency {
  readonly requests: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

export const batchSize = 10;
