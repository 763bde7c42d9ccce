/**
 * How far a command is that takes its time: a bar in a terminal, one line a second elsewhere.
 */

export interface ProgressOutput {
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
  write(text: string): unknown;
}

export interface Step {
  /** What is being done: copying, verifying. */
  readonly stage: string;
  readonly done: number;
  readonly total: number;
}

const lineMs = 1_000;
const barMs = 100;
const columnsDefault = 80;
const barWidthMax = 40;

export class Progress {
  readonly #output: ProgressOutput;
  readonly #now: () => number;
  #stage = '';
  /** When the stage began, and how much was done then. */
  #since = { at: 0, done: 0 };
  #toldAt = Number.NEGATIVE_INFINITY;
  #isLineOpen = false;

  /** `now` is in milliseconds. */
  constructor(output: ProgressOutput, now: () => number = () => performance.now()) {
    this.#output = output;
    this.#now = now;
  }

  tell({ stage, done, total }: Step): void {
    const now = this.#now();
    if (stage !== this.#stage) {
      this.end();
      this.#stage = stage;
      this.#since = { at: now, done };
      this.#toldAt = this.#output.isTTY === true ? Number.NEGATIVE_INFINITY : now;
    }
    const isBar = this.#output.isTTY === true;
    const isLast = done === total;
    if (now - this.#toldAt < (isBar ? barMs : lineMs) && !(isBar && isLast)) return;
    this.#toldAt = now;
    const text = this.#text({ stage, done, total }, now);
    if (isBar) this.#draw(done / Math.max(total, 1), text);
    else this.#output.write(`${text}\n`);
  }

  /** Ends the bar, so that other text can follow. */
  end(): void {
    if (this.#isLineOpen) this.#output.write('\n');
    this.#isLineOpen = false;
  }

  #text({ stage, done, total }: Step, now: number): string {
    const part = total === 0 ? 100 : Math.floor((100 * done) / total);
    const count = `${done.toLocaleString('en-US')} of ${total.toLocaleString('en-US')}`;
    const perMs = (done - this.#since.done) / (now - this.#since.at);
    const left = (total - done) / perMs / 1000;
    const rest = done < total && Number.isFinite(left) ? `, ${Math.ceil(left)} s left` : '';
    return `${stage} ${part} % (${count}${rest})`;
  }

  #draw(part: number, text: string): void {
    const room = (this.#output.columns ?? columnsDefault) - text.length - 4;
    const width = Math.max(0, Math.min(barWidthMax, room));
    const filled = Math.round(width * part);
    const bar = width === 0 ? '' : `[${'#'.repeat(filled)}${'.'.repeat(width - filled)}] `;
    // Clears what a longer text has left.
    this.#output.write(`\r${bar}${text}\u001B[K`);
    this.#isLineOpen = true;
  }
}
