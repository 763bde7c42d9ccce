// The coverage that Node's test runner counted, as text: a line for each source file that is not covered wholly, the least
// covered first, with the lines that no test reached, and a line for all of them. What is covered by nothing at all is not in
// it: a file that no process of the tests has loaded.

export interface Coverage {
  readonly workingDirectory: string;
  readonly files: readonly FileCoverage[];
  readonly totals: Counts;
}

interface Counts {
  readonly coveredLinePercent: number;
  readonly coveredBranchPercent: number;
  readonly coveredFunctionPercent: number;
}

interface FileCoverage extends Counts {
  readonly path: string;
  readonly lines: readonly { readonly line: number; readonly count: number }[];
}

export function coverageTable({ workingDirectory, files, totals }: Coverage): string {
  const incomplete = files
    .filter(({ coveredLinePercent }) => coveredLinePercent < 100)
    .sort((a, b) => a.coveredLinePercent - b.coveredLinePercent);
  return [
    ' lines branches functions',
    ...incomplete.map((file) => {
      const path = file.path.replace(`${workingDirectory}/`, '');
      return `${percents(file)}  ${path}: ${unreached(file.lines)}`;
    }),
    `${percents(totals)}  all ${files.length} files; ${files.length - incomplete.length} of them have every line covered`,
  ].join('\n');
}

function percents(counts: Counts): string {
  return [
    counts.coveredLinePercent.toFixed(1).padStart(6),
    counts.coveredBranchPercent.toFixed(1).padStart(8),
    counts.coveredFunctionPercent.toFixed(1).padStart(9),
  ].join(' ');
}

/** "3-5, 9": the lines with a count of 0. */
function unreached(lines: FileCoverage['lines']): string {
  const ranges: [number, number][] = [];
  for (const { line } of lines.filter(({ count }) => count === 0)) {
    const last = ranges.at(-1);
    if (last?.[1] === line - 1) last[1] = line;
    else ranges.push([line, line]);
  }
  return ranges.map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`)).join(', ');
}
