/**
 * The public entry of `@oncemq/toolkit`: what producers and consumers share, on OnceMQ and on AWS. Everything that makes
 * an event unique is in the body, because a content hash covers nothing else; the toolkit builds, checks, stores, sends
 * and receives such bodies. It never imports the broker.
 */

export { type BuiltSample, buildSamples, builtDifference } from './compliance/built-samples.ts';
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
  sentDifference,
} from './compliance/judge-runs.ts';
export { ambiguousProgramKeys, type SendEvents } from './compliance/program-escaping.ts';
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
export {
  type Binding,
  type BodyForm,
  bindingOf,
  type Contract,
  type ContractOptions,
  contractOf,
  defaultContract,
  type Judged,
  type Mode,
  type RegisteredProducer,
} from './contract/contract.ts';
export {
  ContractFileError,
  contractFileName,
  findContract,
  loadContract,
  readContract,
} from './contract/contract-file.ts';
export {
  checkEnvelope,
  type Envelope,
  type Note,
  type ReadEnvelope,
  readEnvelope,
} from './contract/envelope.ts';
export { derivedEventId } from './contract/event-id.ts';
export { type KeyPart, key } from './contract/keys.ts';
export {
  checkMessage,
  deduplicationIdOf,
  type MessageParts,
  type MessageRules,
} from './contract/message.ts';
export type { StandardSchema } from './contract/payload-schema.ts';
export {
  contractSchema,
  envelopeSchema,
  keyedSchema,
  telemetrySchema,
} from './contract/published-schemas.ts';
export {
  ContractError,
  type Refusal,
  type RefusalCode,
  refusalTexts,
} from './contract/refusals.ts';
export { type EventKey, keyReused, scopedKey } from './contract/reused-key.ts';
export { epochMsOf, isRfc3339 } from './contract/rfc3339.ts';
export {
  compileSchema,
  type JsonSchema,
  schemaReason,
} from './contract/schemas.ts';
export { traceContextNames } from './contract/trace-context.ts';
export type { Connection, Pool, Queryable } from './database.ts';
export {
  type DedupeGuard,
  dedupeGuard,
  type GuardOptions,
} from './guard/dedupe-guard.ts';
export {
  type DynamodbInbox,
  type DynamodbInboxOptions,
  type DynamodbTransaction,
  dynamodbInbox,
} from './inbox/dynamodb-inbox.ts';
export { type FileInbox, type FileInboxOptions, openFileInbox } from './inbox/file-inbox.ts';
export {
  type Inbox,
  type InboxEvent,
  InboxFullError,
  type InboxOptions,
  type InboxOutcome,
} from './inbox/inbox.ts';
export { type MemoryInboxOptions, memoryInbox } from './inbox/memory-inbox.ts';
export {
  type PostgresInbox,
  type PostgresInboxOptions,
  postgresInbox,
} from './inbox/postgres-inbox.ts';
export {
  type RedisInboxOptions,
  type RedisTransaction,
  type RunCommand,
  redisInbox,
} from './inbox/redis-inbox.ts';
export { type SqliteInbox, type SqliteInboxOptions, sqliteInbox } from './inbox/sqlite-inbox.ts';
export {
  type DynamodbOutbox,
  type DynamodbOutboxOptions,
  dynamodbOutbox,
} from './outbox/dynamodb-outbox.ts';
export { type FileOutbox, type FileOutboxOptions, openFileOutbox } from './outbox/file-outbox.ts';
export type {
  Backlog,
  KeptMessage,
  Outbox,
  ParkedMessage,
  TimeRange,
  Verdict,
} from './outbox/outbox.ts';
export {
  type PostgresOutbox,
  type PostgresOutboxOptions,
  postgresOutbox,
} from './outbox/postgres-outbox.ts';
export {
  type RedisOutbox,
  type RedisOutboxOptions,
  redisOutbox,
} from './outbox/redis-outbox.ts';
export { createRelay, type Relay, type Relayed, type RelayOptions } from './outbox/relay.ts';
export type { RelayStatus, RunOptions } from './outbox/relay-loop.ts';
export {
  type SqliteOutbox,
  type SqliteOutboxOptions,
  sqliteOutbox,
} from './outbox/sqlite-outbox.ts';
export {
  type AnyProducer,
  type CheckedEvent,
  defineProducer,
  isProducer,
  type Producer,
  type ProducerOptions,
} from './producer/define-producer.ts';
export {
  type Destination,
  type ProducerMessage,
  type QueueDestination,
  SendError,
  type Sent,
  type TopicDestination,
} from './producer/send.ts';
export type { RunSql, SqlValue } from './sqlite.ts';
export {
  type OpenTelemetryApi,
  type OpenTelemetryOptions,
  openTelemetry,
} from './telemetry/open-telemetry.ts';
export type { Metric, Report, TelemetryRecord } from './telemetry/record.ts';
export type { NotedSpan, Telemetry, Traceable } from './telemetry/telemetry.ts';
