// Writes the server's metrics into docs/telemetry/dedup-metrics.md from the one list in the code: names in OpenTelemetry
// and in Prometheus, kind, attributes, meaning. Text outside the two marks is written by hand and left alone.
//
// A test compares `withMetrics` with the page, so that the two cannot drift apart. Run as a script, this module writes
// the file.

import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { attributeTexts, type Metric, metricList } from '#broker/server/telemetry/metric-list.js';
import { prometheusName } from '#broker/server/telemetry/otel-metrics.js';

export const metricsPage = 'docs/telemetry/dedup-metrics.md';

const marks = {
  start: '<!-- This list is generated from the code by npm run docs. -->',
  end: '<!-- End of the list. -->',
};

/** The page with the current list. */
export function withMetrics(page: string): string {
  const start = page.indexOf(marks.start);
  const end = page.indexOf(marks.end);
  if (start < 0 || end < start)
    throw new Error(`${metricsPage} has lost the comments that mark the list.`);
  return `${page.slice(0, start + marks.start.length)}\n\n${listText()}\n\n${page.slice(end)}`;
}

function listText(): string {
  const metrics = Object.entries<Metric>(metricList).map(([name, metric]) => {
    const attributes = metric.attributes.map((each) => `\`${each}\``).join(', ');
    const names = `\`${name}\`<br>\`${prometheusName({ name, ...metric })}\``;
    return row([names, metric.kind, unitText(metric.unit), attributes, metric.doc]);
  });
  const attributes = Object.entries(attributeTexts).map(([name, text]) =>
    row([`\`${name}\``, text]),
  );
  const head = ['OpenTelemetry, Prometheus', 'kind', 'unit', 'attributes', 'meaning'];
  return [
    row(head),
    row(head.map(() => '---')),
    ...metrics,
    '',
    row(['attribute', 'values']),
    row(['---', '---']),
    ...attributes,
  ].join('\n');
}

function unitText(unit: Metric['unit']): string {
  const words: Readonly<Record<string, string>> = { s: 'seconds', By: 'bytes', '1': '' };
  return words[unit] ?? unit.slice(1, -1);
}

function row(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(metricsPage, withMetrics(readFileSync(metricsPage, 'utf8')));
}
