/**
 * What `absorb` throws when changes do not fit: the queue or topic is not in the state in which they were made. That is no
 * damage to what is kept; whoever absorbs drops the queue or topic and loads it anew.
 */

export class Drifted extends Error {
  override readonly name: string = 'Drifted';
  /** The queue or topic (`ownerOf`). */
  readonly owner: string;

  constructor(owner: string, reason: string) {
    super(`${owner} has drifted: ${reason}`);
    this.owner = owner;
  }
}
