/**
 * The public entry of `@oncemq/toolkit`: what producers and consumers share, on OnceMQ and on AWS. Everything that makes
 * an event unique is in the body, because a content hash covers nothing else; the toolkit builds, checks, stores, sends
 * and receives such bodies. It never imports the broker.
 */

export {
  type ComplianceCheck,
  type ComplianceSubject,
  checkProducer,
  complianceChecks,
} from './compliance/checks.ts';
export { type CheckResult, type Finding, finding, findingTexts } from './compliance/findings.ts';
export {
  judgeRuns,
  type ObservedDuplicate,
  type ObservedMessage,
  type ObservedRun,
  type ObservedRuns,
} from './compliance/judge-runs.ts';
export { type QueueUnderTest, queueUnderTest } from './compliance/queue-under-test.ts';
export { type ConsumeOptions, consume } from './consumer/consume.ts';
export {
  type Every,
  type Heartbeat,
  type HeartbeatOptions,
  type Held,
  startHeartbeat,
} from './consumer/heartbeat.ts';
export {
  BusyError,
  type Handler,
  type HandlerContext,
  type IdempotentHandler,
  type IdempotentOptions,
  idempotent,
} from './consumer/idempotent.ts';
export type {
  LambdaAnswer,
  LambdaEvent,
  LambdaRecord,
  SqsMessage,
} from './consumer/received.ts';
export { canonicalText, sha256 } from './contract/canonical.ts';
export { checkEnvelope, type Envelope, readEnvelope } from './contract/envelope.ts';
export { type KeyPart, key } from './contract/keys.ts';
export {
  checkMessage,
  deduplicationIdOf,
  type MessageParts,
  type MessageRules,
} from './contract/message.ts';
export { envelopeSchema, telemetrySchema } from './contract/published-schemas.ts';
export {
  ContractError,
  type Refusal,
  type RefusalCode,
  refusalTexts,
} from './contract/refusals.ts';
export {
  compileSchema,
  type JsonSchema,
  schemaReason,
} from './contract/schemas.ts';
export { traceContextNames } from './contract/trace-context.ts';
export type { Connection, Pool, Queryable } from './database.ts';
export { findBypasses, type SourceFile, sourceForm } from './gate/find-bypasses.ts';
export {
  type DedupeGuard,
  dedupeGuard,
  type GuardOptions,
} from './guard/dedupe-guard.ts';
export { type FileInbox, type FileInboxOptions, openFileInbox } from './inbox/file-inbox.ts';
export { type Inbox, InboxFullError, type InboxOptions, type InboxOutcome } from './inbox/inbox.ts';
export { type MemoryInboxOptions, memoryInbox } from './inbox/memory-inbox.ts';
export {
  type PostgresInbox,
  type PostgresInboxOptions,
  postgresInbox,
} from './inbox/postgres-inbox.ts';
export { type FileOutbox, type FileOutboxOptions, openFileOutbox } from './outbox/file-outbox.ts';
export type { KeptMessage, Outbox, TimeRange } from './outbox/outbox.ts';
export {
  type PostgresOutbox,
  type PostgresOutboxOptions,
  postgresOutbox,
} from './outbox/postgres-outbox.ts';
export { createRelay, type Relay, type Relayed, type RelayOptions } from './outbox/relay.ts';
export {
  type AnyProducer,
  type CheckedEvent,
  defineProducer,
  isProducer,
  type Producer,
  type ProducerOptions,
} from './producer/define-producer.ts';
export { type Destination, type ProducerMessage, SendError, type Sent } from './producer/send.ts';
export {
  type OpenTelemetryApi,
  type OpenTelemetryOptions,
  openTelemetry,
} from './telemetry/open-telemetry.ts';
export type { Metric, Report, TelemetryRecord } from './telemetry/record.ts';
export type { NotedSpan, Telemetry, Traceable } from './telemetry/telemetry.ts';
