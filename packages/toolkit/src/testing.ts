/**
 * `@oncemq/toolkit/testing`: the promises of the inbox and the outbox as checks, for stores of your own. Each check opens a
 * new, empty store and throws if it breaks its promise; any test framework can run them:
 *
 *   for (const { name, run } of inboxChecks(openMine)) test(name, run);
 *
 * The toolkit's own stores pass the same checks.
 */

export { type InboxUnderTest, inboxChecks } from './testing/inbox-checks.ts';
export { type OutboxUnderTest, outboxChecks } from './testing/outbox-checks.ts';
export type { StoreCheck } from './testing/store-check.ts';
