/**
 * The messages between a benchmark and the process that generates its load. A workload says what each connection
 * requests; a pace says when, and when to stop.
 */

/**
 * - `send`, `batch`: SendMessage, or SendMessageBatch of ten.
 * - `life`: SendMessage, ReceiveMessage, DeleteMessage.
 * - `drain`: ReceiveMessage of up to ten, and DeleteMessageBatch of those received.
 */
export type Workload = 'send' | 'batch' | 'life' | 'drain';

/**
 * - `full`: each connection sends the next request as soon as it is answered, for a fixed time.
 * - `count`: the same, until this many messages are sent, or deleted when draining.
 * - `rate`: requests are due at fixed times, whether or not earlier ones have been answered, for a fixed time.
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

/** Where a connection sends its requests. */
export interface LoadTarget {
  readonly port: number;
  /** With several queues, it has `queueText` in place of their numbers. */
  readonly queueUrl: string;
  /** The numbers of several queues, which get requests in turn. */
  readonly queues?: readonly number[] | undefined;
}

export interface LoadOrder {
  /** Several servers of one store get as many connections each, in turn. */
  readonly targets: readonly LoadTarget[];
  /** For a server that picks the service by the Authorization header; others get none. */
  readonly authorization?: string | undefined;
  readonly workload: Workload;
  readonly connections: number;
  readonly pace: Pace;
  /** Default 100, as in the benchmark of the engine. */
  readonly bodyBytes?: number;
  /** Default 1,000: many more than connections, so that a group is seldom blocked when its next message is requested. */
  readonly groups?: number;
}

export interface LoadCount {
  readonly seconds: number;
  readonly requests: number;
  /** Messages sent, through their whole life for `life`, or deleted for `drain`. */
  readonly messages: number;
  /** Receives that returned nothing, because other connections had a message of every group in flight. */
  readonly empty: number;
  /** All messages, including those of the warm-up. */
  readonly messagesInAll: number;
  /** The fraction of event loop turns without a response: near 0, the load itself is the bottleneck. */
  readonly free: number;
  /** For the pace `rate`: from when each request was due to its response. Otherwise undefined. */
  readonly latency?: Latency | undefined;
}

export interface Latency {
  readonly requests: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

export const batchSize = 10;
