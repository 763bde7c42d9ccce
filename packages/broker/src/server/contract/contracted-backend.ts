/**
 * A backend that enforces contracts: before the engine sees a send, its messages are checked against the contract of their
 * queue, and each gets its violation attached. The engine decides what follows (refuse or report) in its own order of
 * checks, so that a missing queue or an oversized batch is reported first.
 */

import type { CommandOf, Outcome, SendEntry } from '../../core/commands.ts';
import type { Backend, PlainCommand } from '../../storage/backend.ts';
import type { Contract } from './contract-file.ts';

export function contractedBackend(backend: Backend, contract: Contract): Backend {
  const run = (command: PlainCommand, prepare?: (outcome: Outcome) => unknown): Promise<unknown> =>
    backend.run(command.type === 'send' ? judged(command, contract) : command, prepare);
  return new Proxy(backend, {
    get: (target, name) => {
      if (name === 'run') return run;
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

function judged(command: CommandOf<'send'>, contract: Contract): CommandOf<'send'> {
  const { queue } = command;
  return {
    ...command,
    entries: command.entries.map((entry) => judgedEntry(queue, entry, contract)),
  };
}

function judgedEntry(queue: string, entry: SendEntry, contract: Contract): SendEntry {
  const { body, attributes = [], deduplicationId } = entry;
  // The engine refuses a message without a body anyway.
  if (body === undefined || body === '') return entry;
  const texts = attributes.map(({ name, stringValue, binaryValue }) => [
    name,
    stringValue ?? Buffer.from(binaryValue ?? '').toString('base64'),
  ]);
  const message = { body, deduplicationId, attributes: Object.fromEntries(texts) };
  const violation = contract.judge(queue, message);
  return violation === undefined ? entry : { ...entry, violation };
}
