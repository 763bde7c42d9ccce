/**
 * The report as SARIF 2.1.0, which code scanning services read: one rule for each code that was found, one result for each
 * finding. A finding without a file has no location.
 */

import { createHash } from 'node:crypto';
import type { Finding } from '@oncemq/toolkit';
import type { Verified } from './report.ts';

const schema = 'https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/schemas/sarif-schema-2.1.0.json';

export function sarifReport(all: readonly Verified[]): string {
  const found = all.flatMap(({ subject, file, checks }) =>
    checks.flatMap(({ check, findings }) =>
      findings.map((each, index) => ({ subject, file, check, each, index })),
    ),
  );
  const codes = [...new Map(found.map(({ each }) => [each.code, each.docs]))];
  const rules = codes.map(([id, docs]) => ({
    id,
    shortDescription: { text: id.replaceAll('-', ' ') },
    help: { text: `See ${docs}.` },
    defaultConfiguration: { level: 'error' },
  }));
  const results = found.map(({ subject, file, check, each, index }) => ({
    ruleId: each.code,
    ruleIndex: codes.findIndex(([id]) => id === each.code),
    level: 'error',
    message: { text: `${subject}, ${check}: ${each.text}` },
    ...(file === undefined ? {} : { locations: [{ physicalLocation: locationOf(file, each) }] }),
    // Without the line, so that a finding that moves stays the same one.
    partialFingerprints: {
      'oncemq/v1': createHash('sha256')
        .update(JSON.stringify([subject, file, check, each.code, index]))
        .digest('hex'),
    },
  }));
  const driver = { name: 'oncemq', rules };
  return JSON.stringify(
    { $schema: schema, version: '2.1.0', runs: [{ tool: { driver }, results }] },
    undefined,
    2,
  );
}

function locationOf(file: string, { line = 1 }: Finding): object {
  const uri = file.split('/').map(encodeURIComponent).join('/');
  return {
    artifactLocation: { uri, uriBaseId: '%SRCROOT%' },
    region: { startLine: line },
  };
}
