/**
 * The time source of storage. The engine takes the time of each command as an argument, and storage reads it here. The
 * clocks themselves are made in server/.
 */

export interface Clock {
  /** Real time; real time that can be moved ahead; or time that stands still until it is moved. */
  readonly kind: 'real' | 'virtual' | 'manual';
  /** Epoch milliseconds; never goes back, whatever the machine's clock does. */
  now(): number;
  /** Moves the clock to this time if it is behind: what is kept may be later than the machine's clock says. */
  notBefore(time: number): void;
  /** Moves the time ahead; calling it on a real clock is a bug. */
  moveTo(time: number): void;
}
