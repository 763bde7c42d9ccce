/**
 * A value, or a promise of one. Memory and LMDB return values; a database returns promises. Code above both continues with
 * `andThen`, which calls back at once for a value, so it costs neither a promise nor a turn of the event loop.
 */

export type NowOrLater<T> = T | Promise<T>;

/** Calls `next` with the value: at once if it is there. What `next` throws is thrown, or rejects the promise. */
export function andThen<T, U>(value: NowOrLater<T>, next: (value: T) => Promise<U>): Promise<U>;
export function andThen<T, U>(
  value: NowOrLater<T>,
  next: (value: T) => NowOrLater<U>,
): NowOrLater<U>;
export function andThen<T, U>(
  value: NowOrLater<T>,
  next: (value: T) => NowOrLater<U>,
): NowOrLater<U> {
  return value instanceof Promise ? value.then(next) : next(value);
}

/** All values in order: at once if all are there. */
export function allOf<T>(values: readonly NowOrLater<T>[]): NowOrLater<readonly T[]> {
  return values.some((value) => value instanceof Promise)
    ? Promise.all(values)
    : (values as readonly T[]);
}

/** Visits items in order until a visit returns false. */
export function visitEach<T>(
  items: readonly T[],
  visit: (item: T) => NowOrLater<boolean>,
  from = 0,
): NowOrLater<void> {
  for (let index = from; index < items.length; index += 1) {
    const goesOn = visit(items[index] as T);
    if (goesOn instanceof Promise) {
      return goesOn.then((yes) => (yes ? visitEach(items, visit, index + 1) : undefined));
    }
    if (!goesOn) return undefined;
  }
  return undefined;
}
