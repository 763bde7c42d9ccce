/**
 * The HTTP benchmark as a picture: for each row one bar a system, with its median in numbers and its spread as a line.
 * Plain SVG on a light ground, so that any browser and any page shows it.
 */

import type { Row } from './http.ts';
import type { SystemName } from './http-systems.ts';

const colours: Readonly<Record<SystemName, string>> = {
  floor: '#b8bec7',
  oncemq: '#2563eb',
  fauxqs: '#d98a3d',
};
const labels: Readonly<Record<SystemName, string>> = {
  floor: 'floor: bare node:http, same bytes',
  oncemq: 'OnceMQ, memory mode',
  fauxqs: 'fauxqs',
};

const heading = 'Requests a second over HTTP (bar: median of the rounds, line: lowest to highest)';

const width = 880;
const left = 220;
const right = 190;
const barHeight = 18;
const rowGap = 22;
const top = 84;

export function drawPicture(rows: readonly Row[], machine: string): string {
  const systems = Object.keys(colours) as SystemName[];
  const rowHeight = systems.length * barHeight + rowGap;
  const height = top + rows.length * rowHeight + 16;
  const most = Math.max(...rows.flatMap((row) => systems.map((name) => row.systems[name].max)));
  const x = (value: number): number => left + (value / most) * (width - left - right);
  const legend = systems.map((name, index) => {
    const at = 16 + index * 250;
    return `<rect x="${at}" y="46" width="12" height="12" fill="${colours[name]}"/>${text(at + 18, 57, labels[name])}`;
  });
  const bars = rows.flatMap((row, index) => {
    const y = top + index * rowHeight;
    const title = text(16, y + 24, row.title, 'font-weight="600"');
    const under = text(16, y + 42, `${row.connections} connections`, 'fill="#667085"');
    return [title, under, ...systems.map((name, at) => bar(row, name, y + at * barHeight, x))];
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="system-ui, sans-serif" font-size="13" fill="#1d2939" role="img" aria-labelledby="title">
<title id="title">${heading}</title>
<rect width="${width}" height="${height}" fill="#ffffff"/>
${text(16, 28, heading, 'font-size="16" font-weight="600"')}
${legend.join('\n')}
${text(16, 76, machine, 'fill="#667085" font-size="11"')}
${bars.join('\n')}
</svg>
`;
}

function bar(row: Row, name: SystemName, y: number, x: (value: number) => number): string {
  const { median, min, max } = row.systems[name];
  const middle = y + barHeight / 2;
  const ratio =
    name === 'oncemq'
      ? `  ${row.toFloor.toFixed(2)} of floor, ${row.toFauxqs.toFixed(1)}× fauxqs`
      : '';
  return [
    `<rect x="${left}" y="${y + 1}" width="${(x(median) - left).toFixed(1)}" height="${barHeight - 2}" fill="${colours[name]}"/>`,
    `<line x1="${x(min).toFixed(1)}" x2="${x(max).toFixed(1)}" y1="${middle}" y2="${middle}" stroke="#1d2939"/>`,
    text(
      Math.round(x(max)) + 6,
      middle + 4,
      Math.round(median).toLocaleString('en') + ratio,
      'font-size="11"',
    ),
  ].join('');
}

function text(x: number, y: number, content: string, more = ''): string {
  const escaped = content.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  return `<text x="${x}" y="${y}" ${more}>${escaped}</text>`;
}
