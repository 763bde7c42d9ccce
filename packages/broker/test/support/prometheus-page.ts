/**
 * A server's `/metrics` as a scraper reads it: every line is parsed by the grammar of Prometheus' text format 0.0.4, and
 * anything that does not match fails the test. Families are checked against their types: a counter ends in `_total` and is
 * not negative, a histogram's buckets only grow and end with its count.
 */

import assert from 'node:assert/strict';

export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const metricName = '[a-zA-Z_:][a-zA-Z0-9_:]*';
const label = '([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\\\\n]|\\\\["\\\\n])*)"';
const sampleForm = new RegExp(`^(${metricName})(?:\\{(${label}(?:,${label})*)?\\})? (\\S+)$`);
const commentForm = new RegExp(`^# (HELP|TYPE) (${metricName}) (.+)$`);

export class PrometheusPage {
  readonly text: string;
  readonly samples: Sample[] = [];
  /** By family: counter, gauge or histogram. */
  readonly types: Map<string, string> = new Map();

  constructor(text: string) {
    this.text = text;
    assert.ok(text.endsWith('\n'));
    let family = '';
    for (const line of text.slice(0, -1).split('\n')) {
      const comment = commentForm.exec(line);
      if (comment !== null) {
        const [, word, name = '', rest = ''] = comment;
        if (word === 'HELP') assert.ok(!this.types.has(name), `${name} is told of twice`);
        else this.types.set(name, rest);
        family = name;
        continue;
      }
      this.samples.push(this.#sample(line, family));
    }
    for (const [name, type] of this.types) if (type === 'histogram') this.#checkBuckets(name);
  }

  static async of(server: { readonly url: string }): Promise<PrometheusPage> {
    const response = await fetch(`${server.url}/metrics`);
    assert.equal(response.status, 200);
    const type = response.headers.get('content-type');
    assert.equal(type, 'text/plain; version=0.0.4; charset=utf-8');
    return new PrometheusPage(await response.text());
  }

  /** The one series with this name and these labels; undefined if there is none. */
  value(name: string, labels: Readonly<Record<string, string>> = {}): number | undefined {
    const found = this.all(name).filter((sample) => isSame(sample.labels, labels));
    assert.ok(found.length < 2, `${name} is there twice`);
    return found[0]?.value;
  }

  all(name: string): Sample[] {
    return this.samples.filter((sample) => sample.name === name);
  }

  #sample(line: string, family: string): Sample {
    const found = sampleForm.exec(line);
    assert.ok(found !== null, `not in the text format: ${JSON.stringify(line)}`);
    const name = found[1] as string;
    const value = Number(found.at(-1));
    assert.ok(Number.isFinite(value), line);
    const type = this.types.get(family);
    if (type === 'histogram') {
      assert.match(name.slice(family.length), /^_(bucket|sum|count)$/, line);
    } else {
      assert.equal(name, family, line);
    }
    if (type === 'counter') assert.ok(name.endsWith('_total') && value >= 0, line);
    const labels = [...(found[2] ?? '').matchAll(new RegExp(label, 'g'))];
    return { name, value, labels: Object.fromEntries(labels.map(([, key, text]) => [key, text])) };
  }

  #checkBuckets(family: string): void {
    for (const { labels, value: count } of this.all(`${family}_count`)) {
      const buckets = this.all(`${family}_bucket`).filter(({ labels: { le: _, ...others } }) =>
        isSame(others, labels),
      );
      const counts = buckets.map(({ value }) => value);
      const sorted = counts.toSorted((a, b) => a - b);
      assert.deepEqual(counts, sorted, `${family}: buckets shrink`);
      assert.equal(buckets.at(-1)?.labels['le'], '+Inf');
      assert.equal(counts.at(-1), count);
    }
  }
}

function isSame(
  labels: Readonly<Record<string, string>>,
  others: Readonly<Record<string, string>>,
): boolean {
  const entries = Object.entries(labels);
  const isEqual = entries.every(([name, value]) => others[name] === value);
  return isEqual && entries.length === Object.keys(others).length;
}
