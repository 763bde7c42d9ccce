/**
 * What the parts of the page know of each other: a view is one page, loaded and painted again and again while it is shown;
 * the app is what a view may ask for.
 */

import type { ClockKind, Timed } from './answers.ts';
import type { Child } from './dom.ts';

export interface View {
  readonly title: string;
  /** Which events make it load again at once, as the query of `/_oncemq/events`; without, it asks now and then. */
  readonly events?: string;
  load(): Promise<void>;
  render(): Child;
}

export interface App {
  /** The server's time, as far as it is known. */
  now(): number;
  /** Undefined until the server has said it. */
  clock(): ClockKind | undefined;
  /** Takes the time from an answer. */
  learn(answer: Timed): void;
  repaint(): void;
  /** Loads the view again, soon. */
  refresh(): void;
  /** Says what was done, to eyes and to screen readers. */
  tell(text: string): void;
}
