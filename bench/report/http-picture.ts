/**
 * The HTTP benchmark as a chart: for each row one bar per system, with the median as a number and the spread as a line.
 * Plain SVG on a light background, so that any browser and any page can show it.
 */

import { type SystemName, systemNames, systems } from '../servers/systems.ts';
import type { Rates, Row } from './http-rows.ts';
import { whole } from './statistics.ts';

const colors: Readonly<Record<SystemName, string>> = {
  floor: '#b8bec7',
  oncemq: '#1d4ed8',
  'oncemq-memory': '#7ea6f5',
  fauxqs: '#d98a3d',
  elasticmq: '#7c5cbf',
  moto: '#5b9a68',
};

const heading = 'Requests a second over HTTP (bar: median of the rounds, line: lowest to highest)';

const width = 880;
const left = 220;
const right = 190;
const barHeight = 18;
const rowGap = 22;
const legendWidth = 280;
const legendColumns = 3;
const legendHeight = 20;

export function drawPicture(rows: readonly Row[], machine: string): string {
  const names = systemNames.filter((name) => rows.some((row) => row.systems[name] !== undefined));
  const machineAt = 56 + Math.ceil(names.length / legendColumns) * legendHeight;
  const top = machineAt + 12;
  const rowHeight = names.length * barHeight + rowGap;
  const height = top + rows.length * rowHeight + 16;
  const most = Math.max(
    ...rows.flatMap((row) => Object.values(row.systems).map(({ rate }) => rate.max)),
  );
  const x = (value: number): number => left + (value / most) * (width - left - right);
  const legend = names.map((name, index) => {
    const at = 16 + (index % legendColumns) * legendWidth;
    const y = 46 + Math.floor(index / legendColumns) * legendHeight;
    return `<rect x="${at}" y="${y}" width="12" height="12" fill="${colors[name]}"/>${text(at + 18, y + 11, systems[name].label)}`;
  });
  const bars = rows.flatMap((row, index) => {
    const y = top + index * rowHeight;
    const title = text(16, y + 24, row.title, 'font-weight="600"');
    const under = text(16, y + 42, `${row.connections} connections`, 'fill="#667085"');
    const each = names.map((name, at) => {
      const rates = row.systems[name];
      return rates === undefined ? '' : bar(rates, name, y + at * barHeight, x);
    });
    return [title, under, ...each];
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="system-ui, sans-serif" font-size="13" fill="#1d2939" role="img" aria-labelledby="title">
<title id="title">${heading}</title>
<rect width="${width}" height="${height}" fill="#ffffff"/>
${text(16, 28, heading, 'font-size="16" font-weight="600"')}
${legend.join('\n')}
${text(16, machineAt, machine, 'fill="#667085" font-size="11"')}
${bars.join('\n')}
</svg>
`;
}

function bar(rates: Rates, name: SystemName, y: number, x: (value: number) => number): string {
  const { median, min, max } = rates.rate;
  const middle = y + barHeight / 2;
  return [
    `<rect x="${left}" y="${y + 1}" width="${(x(median) - left).toFixed(1)}" height="${barHeight - 2}" fill="${colors[name]}"/>`,
    `<line x1="${x(min).toFixed(1)}" x2="${x(max).toFixed(1)}" y1="${middle}" y2="${middle}" stroke="#1d2939"/>`,
    text(
      Math.round(x(max)) + 6,
      middle + 4,
      whole(median) + ratiosText(rates, name),
      'font-size="11"',
    ),
  ].join('');
}

/** For OnceMQ only: the others are what it is compared with. */
function ratiosText({ toFloor, toFauxqs }: Rates, name: SystemName): string {
  if (!name.startsWith('oncemq')) return '';
  const parts = [
    ...(toFloor === undefined ? [] : [`${toFloor.median.toFixed(2)} of floor`]),
    ...(toFauxqs === undefined ? [] : [`${toFauxqs.median.toFixed(1)}× fauxqs`]),
  ];
  return `  ${parts.join(', ')}`;
}

function text(x: number, y: number, content: string, more = ''): string {
  const escaped = content.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  return `<text x="${x}" y="${y}" ${more}>${escaped}</text>`;
}
