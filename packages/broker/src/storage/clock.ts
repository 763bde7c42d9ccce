/**
 * Time, as storage is given it. The engine takes each command's time as an argument, and this is where it comes from;
 * the clocks themselves are made in server/.
 */

export interface Clock {
  /** Real time; real time that can be moved ahead; or time that stands still until it is moved. */
  readonly kind: 'real' | 'virtual' | 'manual';
  /** Epoch milliseconds; never goes back, whatever the machine's clock does. */
  now(): number;
  /** Time goes on from here if it has not come as far: what is kept may be from later than the machine's clock says. */
  notBefore(time: number): void;
  /** Sets the time ahead; a bug on a real clock. */
  moveTo(time: number): void;
}
