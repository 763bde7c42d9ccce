/**
 * Ways to break the engine and the store, each a plausible mistake. `find` must occur exactly once in the compiled file
 * (under packages/broker/dist/src); test/mutants.test.ts fails if the code has changed and it no longer does.
 */

export interface Mutant {
  readonly name: string;
  readonly file: string;
  readonly find: string;
  readonly replace: string;
  /** The suite that must catch it; default: any suite of the engine or the store. */
  readonly suite?: string;
}

export const mutants: readonly Mutant[] = [
  {
    name: 'a topic forgets what no queue saw',
    file: 'core/topic/publish.js',
    find: 'topic.addToWindow(tx, sequence, kept, digests);',
    replace: 'if (topic.subscriptions.size > 0) topic.addToWindow(tx, sequence, kept, digests);',
  },
  {
    name: 'the hash of a publication is of its envelope, attributes included',
    file: 'core/topic/publish.js',
    find: 'entry.deduplicationId ?? sha256Hex(text)',
    replace: 'entry.deduplicationId ?? sha256Hex(text + JSON.stringify(attributes))',
  },
  {
    name: 'one bad entry of a batch of publications fails alone',
    file: 'core/topic/publish.js',
    find: 'if (!publication.ok)\n            return publication;',
    replace: 'if (!publication.ok)\n            continue;',
  },
  {
    name: 'the window of a topic is a millisecond too long',
    file: 'core/topic/topic.js',
    find: 'this.#windowExpiresAt() <= tx.now',
    replace: 'this.#windowExpiresAt() < tx.now',
  },
  {
    name: 'a replaying subscription also gets what is published',
    file: 'core/topic/subscription.js',
    find: 'if (!isConfirmed || this.isReplaying)',
    replace: 'if (!isConfirmed)',
  },
  {
    name: 'a subscription is not paused behind the end of its replay',
    file: 'core/topic/subscription.js',
    find: 'return replay === undefined || replay.until === undefined;',
    replace: 'return true;',
  },
  {
    name: 'a failed delivery ends the fan-out',
    file: 'core/topic/fan-out.js',
    find: 'if (!subscription.isLive)',
    replace:
      "if (tx.events.some(({ type }) => type === 'delivery-failed')) break;\n        if (!subscription.isLive)",
  },
  {
    name: 'the comparisons of filter policies have no bound',
    file: 'core/topic/filter-policy/filter-work.js',
    find: 'return this.#left < 0;',
    replace: 'return false;',
  },
  {
    name: 'the statements of a queue policy have no quota',
    file: 'core/policy/policy-quotas.js',
    find: "beyond('statements', statements.length, quotas)",
    replace: 'undefined',
  },
  {
    name: 'a batch of publications is one turn, whatever it writes',
    file: 'core/topic/fan-out-plan.js',
    find: 'return beyond < 0 ? plan.length : Math.max(beyond, 1);',
    replace: 'return plan.length;',
  },
  {
    name: 'a Deny in a policy is overlooked',
    file: 'core/policy/is-allowed.js',
    find: "fitting.every(({ effect }) => effect === 'Allow')",
    replace: "fitting.some(({ effect }) => effect === 'Allow')",
  },
  {
    name: 'a missing attribute is anything but',
    file: 'core/topic/filter-policy/condition.js',
    find: 'scalars.some(test)',
    replace: 'scalars.every(test)',
  },
  {
    name: 'a report of an earlier call counts',
    file: 'core/topic/http-delivery.js',
    find: 'if (post.attempt.attempts !== command.attempt)',
    replace: 'if (false)',
  },
  {
    name: 'a report is taken for a call of another subscription',
    file: 'core/topic/http-delivery.js',
    find: 'if (post?.subscription !== command.subscription)',
    replace: 'if (post === undefined)',
  },
  {
    name: 'one endpoint may have every call of its topic',
    file: 'core/topic/http-deliveries.js',
    find: 'const underWayOfOneMax = 50;',
    replace: 'const underWayOfOneMax = 200;',
  },
  {
    name: 'a delete forgets the deduplication ids',
    file: 'core/queue/acknowledge.js',
    find: 'queue.removeMessage(tx, row);',
    replace: 'queue.removeMessage(tx, row); queue.window.clear();',
  },
  {
    name: 'the scope messageGroup is ignored',
    file: 'core/queue/attributes.js',
    find: "scope: shown['DeduplicationScope'] === 'messageGroup' ? 'messageGroup' : 'queue',",
    replace: "scope: 'queue',",
  },
  {
    name: 'a changed scope forgets what was filed under the old one',
    file: 'core/deduplication/window.js',
    find: 'this.#enter(this.#hashOfRow(row), row);\n        }',
    replace: '}',
  },
  {
    name: 'what was loaded last is not found',
    file: 'core/deduplication/window.js',
    find: 'this.#settle();\n        const isGrouped',
    replace: 'const isGrouped',
  },
  {
    name: 'an entry that has expired stays among those of its id',
    file: 'core/deduplication/window.js',
    find: 'this.#rows.setInt(youngest, ringWord, this.#rows.int(row, ringWord));',
    replace: ';',
  },
  {
    name: 'a tick removes everything that has expired, however much',
    file: 'core/engine.js',
    find: 'let room = this.#limits.expiredPerTickMax;',
    replace: 'let room = Number.POSITIVE_INFINITY;',
  },
  {
    name: 'a full disk is never drained',
    file: 'storage/lmdb/commit/recovery.js',
    find: "return this.#isFrozen && this.#patience <= 0 ? 'drain' : undefined;",
    replace: 'return undefined;',
  },
  {
    name: 'a commit begins before the one before it has ended',
    file: 'storage/lmdb/lmdb-store.js',
    find: 'const isBusy = this.#writing !== undefined || this.#scheduled !== undefined;',
    replace: 'const isBusy = this.#scheduled !== undefined;',
  },
  {
    name: 'the window is a millisecond too long',
    file: 'core/queue/queue.js',
    find: 'oldest <= acceptedBefore',
    replace: 'oldest < acceptedBefore',
  },
  {
    name: 'a duplicate is answered with ids of its own',
    file: 'core/queue/send.js',
    find: 'const { messageId, sequence } = original;',
    replace: 'const { sequence } = original; const messageId = tx.ids.uuid();',
  },
  {
    name: 'the content hash sees the attributes',
    file: 'core/queue/send.js',
    find: 'sha256Hex(entry.body)',
    replace: 'sha256Hex(entry.body + attributes.values.map(({ value }) => value).join())',
  },
  {
    name: 'the content hash beats an explicit id',
    file: 'core/queue/send.js',
    find: 'const deduplicationId = entry.deduplicationId ?? bodyHash;',
    replace:
      'const deduplicationId = isContentBased ? sha256Hex(entry.body) : entry.deduplicationId;',
  },
  {
    name: 'a purge keeps the deduplication ids',
    file: 'core/queue/queue.js',
    find: "this.window.clear();\n        if (what === 'window')\n            return;",
    replace: "if (what === 'window') { this.window.clear(); return; }",
  },
  {
    name: 'a group is unblocked although its next message is in flight',
    file: 'core/queue/message-groups.js',
    find: 'if (this.#table.state(next) === visible)\n                this.#enter(group, next);',
    replace: 'this.#enter(group, next);',
  },
  {
    name: 'a run goes on past a message in flight',
    file: 'core/queue/message-groups.js',
    find: 'return next !== none && this.#table.state(next) === visible ? next : none;',
    replace: 'return next;',
  },
  {
    name: 'groups take turns by their row, not by their head',
    file: 'core/queue/message-groups.js',
    find: 'this.#table.availableAt(head), this.#table.stamp(head)',
    replace: '0, group',
  },
  {
    name: 'a message becomes visible a millisecond late',
    file: 'core/queue/visibility.js',
    find: 'this.#hidden.time(node) <= now',
    replace: 'this.#hidden.time(node) < now',
  },
  {
    name: 'a message lives a millisecond too long',
    file: 'core/queue/queue.js',
    find: 'this.table.sentAt(row) <= sentBefore',
    replace: 'this.table.sentAt(row) < sentBefore',
  },
  {
    name: 'a receipt is good after its timeout',
    file: 'core/queue/acknowledge.js',
    find: 'queue.table.state(row) === inFlight && ',
    replace: '',
  },
  {
    name: 'an older receipt is good on a FIFO queue',
    file: 'core/queue/acknowledge.js',
    find: 'queue.table.receipt(row) === receipt.receipt',
    replace: 'receipt.receipt > 0',
  },
  {
    name: 'a changed visibility does not end a receive attempt',
    file: 'core/queue/receive.js',
    find: 'delivery.receipt !== receipt || delivery.isChanged',
    replace: 'delivery.receipt !== receipt',
  },
  {
    name: 'a message is delivered once more before it is dead-lettered',
    file: 'core/queue/dead-letter.js',
    find: 'queue.receivedHere(row) >= deadLetter.receiveCountMax',
    replace: 'queue.receivedHere(row) > deadLetter.receiveCountMax',
  },
  {
    name: 'receives from an earlier queue count toward the next death',
    file: 'core/queue/dead-letter.js',
    find: 'queue.receivedHere(row) >= deadLetter.receiveCountMax',
    replace: 'queue.table.receiveCount(row) >= deadLetter.receiveCountMax',
  },
  {
    name: 'a dead letter keeps its deduplication id',
    file: 'core/queue/dead-letter.js',
    find: 'deduplicationId: queue.isFifo ? messageId : undefined',
    replace: 'deduplicationId: undefined',
  },
  {
    name: "a FIFO queue's new delay does not reach waiting messages",
    file: 'core/queue/visibility.js',
    find: 'const longerMs = Math.max(delayMs, this.#commonDelayMs);',
    replace: 'const longerMs = 0;',
  },
  {
    name: 'a move task ignores its rate',
    file: 'core/queue/move-task.js',
    find: 'return perSecond === undefined ? startedAt : startedAt + Math.ceil((moved * 1000) / perSecond);',
    replace: 'return startedAt;',
  },
  {
    name: 'the counter is not kept',
    file: 'core/queue/queue.js',
    find: 'if (this.#counter === this.#counterKept)',
    replace: 'if (this.#counter >= this.#counterKept)',
  },
  {
    name: 'what comes out of order stands at the end of the line',
    file: 'core/structures/time-queue.js',
    find: 'this.#tail === none || this.#isBefore(this.#tail, node)',
    replace: 'true',
  },
  {
    name: 'a growing index loses a row',
    file: 'core/structures/hash-index.js',
    find: 'let slot = this.#frontier;',
    replace: 'let slot = this.#frontier + 1;',
  },
  {
    name: 'in memory, a window entry is taken for what its message says',
    file: 'storage/memory/message-columns.js',
    find: 'page.entries[slot] = isSaidBy(page, slot, entry) ? entry.source : entry;',
    replace: 'page.entries[slot] = page.messages[slot] === inSlot ? entry.source : entry;',
  },
  {
    name: 'in memory, the texts of a window entry go with its message',
    file: 'storage/memory/message-columns.js',
    find: "if (typeof entries[slot] === 'string')",
    replace: 'if (false)',
  },
  {
    name: 'in memory, bodies of messages that are gone stay with their window entries',
    file: 'storage/memory/message-columns.js',
    find: 'texts[textAt + bodyText] = undefined;',
    replace: '{}',
  },
  {
    name: 'the tags of receipts do not depend on the queue',
    file: 'core/queue/receipt.js',
    find: 'this.#digest = KeyedDigest.withSecret(`',
    replace: "secret = ''; this.#digest = KeyedDigest.withSecret(`",
  },
  {
    name: 'an answer leaves before its changes are on the disk',
    file: 'storage/running/prepared-answers.js',
    find: 'this.#waiting.push({ value: outcome, prepare, resolve, reject });',
    replace: 'resolve(prepare(outcome));',
    suite: 'crash',
  },
  {
    name: 'window entries of an older format keep the digests they have',
    file: 'storage/lmdb/records/block.js',
    find: 'const digests = kind === windowKind',
    replace: 'const digests = kind !== messageKind',
  },
  {
    name: 'a commit does not wait for the clients just answered',
    file: 'storage/lmdb/lmdb-store.js',
    find: 'return answers.size < this.#awaited;',
    replace: 'return false;',
  },
  {
    name: 'a commit without a frame has no number',
    file: 'storage/lmdb/journal/journal.js',
    find: 'claimNumber() {\n        this.#tried += 1;',
    replace: 'claimNumber() {',
  },
  {
    name: 'a commit is answered before the journal is on disk',
    file: 'storage/lmdb/journal/journal.js',
    find: 'return file.write(start, frame.end).then(() => {',
    replace: 'void file.write(start, frame.end); return Promise.resolve().then(() => {',
    suite: 'crash',
  },
  {
    name: 'a start does not read the journal',
    file: 'storage/lmdb/journal/left-journal.js',
    find: 'layers,\n        last,',
    replace: 'layers: [],\n        last,',
  },
  {
    name: 'a torn frame is taken for a commit',
    file: 'storage/lmdb/journal/frame.js',
    find: '!== bytes.readUInt32LE(at))',
    replace: '=== -1)',
  },
  {
    name: 'the journal of another run is read',
    file: 'storage/lmdb/journal/journal-index.js',
    find: 'frame.run === run && ',
    replace: '',
  },
  {
    name: 'a frame that failed comes back',
    file: 'storage/lmdb/journal/journal-index.js',
    find: 'frame.number > other',
    replace: 'other === 0',
  },
  {
    name: 'an older record of the journal hides a newer one',
    file: 'storage/lmdb/journal/journal-index.js',
    find: 'for (let at = layers.length - 1; at >= 0; at -= 1)',
    replace: 'for (let at = 0; at < layers.length; at += 1)',
  },
  {
    name: 'a checkpoint that failed is forgotten',
    file: 'storage/lmdb/file/environment.js',
    find: '() => this.#stopJournaling()',
    replace: '() => journal.release()',
  },
  {
    name: 'a backup lacks what is only in the journal',
    file: 'storage/lmdb/file/environment.js',
    find: 'this.#left.files[index], {',
    replace: 'Buffer.alloc(0), {',
  },
  {
    name: 'a checksum is not compared',
    file: 'storage/lmdb/records/seal.js',
    find: '=== bytes.readUInt32LE(end) ?',
    replace: '>= 0 ?',
  },
  {
    name: 'a damaged commit in the journal is taken for a torn end',
    file: 'storage/lmdb/journal/journal-damage.js',
    find: 'count += 1;',
    replace: '',
  },
  {
    name: 'a queue is not read again when a commit fails',
    file: 'storage/running/local-writer.js',
    find: 'for (const changes of kept)',
    replace: 'for (const changes of [])',
  },
  {
    name: 'after a failed command, what waits for its commit is lost',
    file: 'storage/lmdb/lmdb-store.js',
    find: '[...batches, this.#gathering]',
    replace: 'batches',
  },
  {
    name: 'after a failed command, what was removed since the last commit is back',
    file: 'storage/lmdb/commit/unwritten.js',
    find: 'if (!block.hasRemoved)',
    replace: 'if (true)',
  },
  {
    name: 'a tick that failed is due again at once',
    file: 'storage/running/expiry-turns.js',
    find: 'writer.postpone(owner, now() + failedWorkMs)',
    replace: 'writer.postpone(owner, now())',
  },
  {
    name: 'running tasks are counted where they are loaded',
    file: 'core/engine.js',
    find: 'for (const { kept } of this.#queues.all())\n            if (kept.isMoving === true)',
    replace:
      "for (const { tasks } of this.#queues.all())\n            if ([...tasks.values()].some(({ status }) => status === 'RUNNING'))",
  },
  {
    name: 'a token confirms a subscription of any topic',
    file: 'core/topic/topics.js',
    find: 'confirmSubscription(this.#topics.get(read.name), command, tx)',
    replace:
      'confirmSubscription([...this.#topics.values()].find((each) => each.subscriptions.ofToken(token)), command, tx)',
  },
  {
    name: 'an unknown Effect is read as Allow',
    file: 'core/policy/policy.js',
    find: "if (effect !== 'Allow' && effect !== 'Deny')",
    replace: 'if (effect === undefined)',
  },
  {
    name: 'the last block is begun anew after a start',
    file: 'storage/lmdb/records/loading.js',
    find: 'records.goOnWith(last.block, last.bytes);',
    replace: '',
  },
  {
    name: 'removed messages come back with a start',
    file: 'storage/lmdb/records/loading.js',
    find: 'if (this.#block.isRemoved(id))',
    replace: 'if (false)',
  },
  {
    name: 'contents of a purged queue stay for ever',
    file: 'storage/lmdb/records/record-mapper.js',
    find: 'this.#abandoned.push(...batch.abandoned);',
    replace: '',
  },
  {
    name: 'ids that expired before a start are not noted as gone',
    file: 'storage/lmdb/records/record-mapper.js',
    find: 'over.length === 0 && !records.hasMovedWindow',
    replace: 'over.length === 0',
  },
  {
    name: 'contents go with the first message of their record',
    file: 'storage/lmdb/commit/block-changes.js',
    find: 'if (block.isOverAt(contentKey))',
    replace: 'if (true)',
  },
  {
    name: 'a content joins a record that the same commit removes',
    file: 'storage/lmdb/commit/batch.js',
    find: 'if (this.#pack?.id === key && this.#pack.contents === contents)',
    replace: 'if (false)',
  },
  {
    name: 'after a start, contents that share a record are not found',
    file: 'storage/lmdb/records/loading.js',
    find: 'this.#block.add(id, isFirst);',
    replace: 'this.#block.add(id, true);',
  },
  {
    name: 'another trace makes a retry look like another event',
    file: 'core/trace-context.js',
    find: 'if (!attributes.some(isTraceContext))',
    replace: 'if (attributes.length > 0)',
  },
];
