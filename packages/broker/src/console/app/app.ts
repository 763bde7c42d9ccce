/**
 * The interfaces between the parts of the page: a view is one page, loaded and painted repeatedly while it is shown; the
 * app is what a view can use.
 */

import type { Child } from '../components/dom.ts';
import type { ClockKind, Timed } from './answers.ts';

export interface View {
  readonly title: string;
  /** The events that trigger a reload, as the query of `/_oncemq/events`; without it, the view is only polled. */
  readonly events?: string;
  load(): Promise<void>;
  render(): Child;
}

export interface App {
  /** The best estimate of the server's time. */
  now(): number;
  /** Undefined until the server has reported it. */
  clock(): ClockKind | undefined;
  /** Takes the time from a response. */
  learn(answer: Timed): void;
  repaint(): void;
  /** Reloads the view soon. */
  refresh(): void;
  /** Announces what was done, on screen and to screen readers. */
  tell(text: string): void;
}
