/**
 * The differences between two texts, line by line, and within two corresponding lines from the first to the last
 * differing character. Bounded: if too many lines differ, only common lines at the start and at the end are recognized.
 */

/** A piece of a line; `isDifferent` if the other text does not have it. */
export interface Piece {
  readonly text: string;
  readonly isDifferent: boolean;
}

/** A line of one text; undefined where only the other one has a line. */
export type Line = readonly Piece[] | undefined;

/** Cells of the table for the longest common subsequence. */
const cellsMax = 1_000_000;

/** The lines of both texts as rows, with corresponding lines side by side. */
export function compareTexts(
  left: string,
  right: string,
): readonly { readonly left: Line; readonly right: Line }[] {
  const a = left.split('\n');
  const b = right.split('\n');
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start += 1;
  let end = 0;
  while (
    end < a.length - start &&
    end < b.length - start &&
    a[a.length - 1 - end] === b[b.length - 1 - end]
  ) {
    end += 1;
  }
  const middle = pairs(a.slice(start, a.length - end), b.slice(start, b.length - end));
  const same = (line: string): { left: Line; right: Line } => ({
    left: whole(line),
    right: whole(line),
  });
  return [...a.slice(0, start).map(same), ...middle, ...(end === 0 ? [] : a.slice(-end).map(same))];
}

type Row = { left: Line; right: Line };

function pairs(a: readonly string[], b: readonly string[]): Row[] {
  if (a.length * b.length > cellsMax) return changed(a, b);
  const lengths = commonLengths(a, b);
  const rows: Row[] = [];
  let onlyA: string[] = [];
  let onlyB: string[] = [];
  const flush = (): void => {
    rows.push(...changed(onlyA, onlyB));
    onlyA = [];
    onlyB = [];
  };
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    const left = a[i];
    const right = b[j];
    if (left !== undefined && left === right) {
      flush();
      rows.push({ left: whole(left), right: whole(left) });
      i += 1;
      j += 1;
    } else if (
      right === undefined ||
      (left !== undefined && at(lengths, i + 1, j) >= at(lengths, i, j + 1))
    ) {
      onlyA.push(left as string);
      i += 1;
    } else {
      onlyB.push(right);
      j += 1;
    }
  }
  flush();
  return rows;
}

/** The length of the longest common subsequence of the remaining lines, by where they begin in each text. */
function commonLengths(a: readonly string[], b: readonly string[]): readonly Uint32Array[] {
  const lengths = Array.from({ length: a.length + 1 }, () => new Uint32Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      const longest =
        a[i] === b[j]
          ? at(lengths, i + 1, j + 1) + 1
          : Math.max(at(lengths, i + 1, j), at(lengths, i, j + 1));
      (lengths[i] as Uint32Array)[j] = longest;
    }
  }
  return lengths;
}

function at(lengths: readonly Uint32Array[], i: number, j: number): number {
  return lengths[i]?.[j] ?? 0;
}

/** Pairs the lines of both texts by position. */
function changed(a: readonly string[], b: readonly string[]): Row[] {
  return Array.from({ length: Math.max(a.length, b.length) }, (_, index) => {
    const left = a[index];
    const right = b[index];
    if (left === undefined || right === undefined) {
      return { left: alone(left), right: alone(right) };
    }
    return withinLine(left, right);
  });
}

function withinLine(left: string, right: string): Row {
  let start = 0;
  while (start < left.length && start < right.length && left[start] === right[start]) start += 1;
  let end = 0;
  while (
    end < left.length - start &&
    end < right.length - start &&
    left[left.length - 1 - end] === right[right.length - 1 - end]
  ) {
    end += 1;
  }
  const cut = (text: string): Piece[] =>
    [
      { text: text.slice(0, start), isDifferent: false },
      { text: text.slice(start, text.length - end), isDifferent: true },
      { text: text.slice(text.length - end), isDifferent: false },
    ].filter((piece) => piece.text !== '');
  return { left: cut(left), right: cut(right) };
}

function whole(text: string): Line {
  return [{ text, isDifferent: false }];
}

function alone(text: string | undefined): Line {
  return text === undefined ? undefined : [{ text, isDifferent: true }];
}
