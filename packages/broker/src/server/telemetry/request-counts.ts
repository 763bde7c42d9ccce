/**
 * Counts requests by action and result, and measures how long they took. All unknown actions are counted under one name,
 * so that a caller cannot create series by inventing names.
 */

import type { RequestObserver } from '../../api/handler.ts';
import { type Fault, shapeOf } from '../../api/protocol/error-codes.ts';
import type { NamedAction } from '../../api/protocol/wire-form.ts';
import { Histogram } from './histogram.ts';

export class ActionCounts {
  readonly service: string;
  readonly action: string;
  carriedOut = 0;
  /** By the code of the error. */
  readonly failed: Map<string, number> = new Map();
  readonly seconds: Histogram = new Histogram('oncemq.request.duration');

  constructor({ service, name }: { readonly service: string; readonly name: string }) {
    this.service = service;
    this.action = name;
  }
}

const noAction = { service: 'unknown', name: 'unknown' } as const;

export class RequestCounts implements RequestObserver {
  readonly #byAction: Map<NamedAction | undefined, ActionCounts> = new Map();

  answered(action: NamedAction | undefined, problem: Fault | undefined, ms: number): void {
    let counts = this.#byAction.get(action);
    if (counts === undefined) {
      counts = new ActionCounts(action ?? noAction);
      this.#byAction.set(action, counts);
    }
    counts.seconds.record(ms / 1000);
    if (problem === undefined) {
      counts.carriedOut += 1;
    } else {
      const code = shapeOf(problem);
      counts.failed.set(code, (counts.failed.get(code) ?? 0) + 1);
    }
  }

  all(): Iterable<ActionCounts> {
    return this.#byAction.values();
  }
}
