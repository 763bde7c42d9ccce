// Runs a short part of the tests on the other Node.js majors: what touches undocumented parts of Node (the shared reading
// buffer, the plain HTTP reader) or depends on its version (clients, native modules, SQLite in Node.js).
//
//   npm run test:node-majors        server, http, outboxes of the relay, and the SDKs for JavaScript and Go, on each
//   npm run test:node-majors -- WORD…  test files with these words in their path instead; options go to npm test

import { fetchNode, otherVersions, programOf, testOn } from './other-nodes.ts';

/** Of the tests in sdk, those of the AWS CLI and boto3 are left out: most of their time goes into starting Python. */
const shortPart: readonly string[] = [
  ...['server', 'http', 'relay-stores'],
  ...[
    'aws-sdk',
    'sns-v3',
    'v3-long-polls',
    'sqs-consumer',
    'kept-queues',
    'signed-requests',
    'go.test',
  ],
];

const args = process.argv.slice(2);
const hasWords = args.some((arg) => !arg.startsWith('-'));

for (const version of otherVersions) {
  const complaint = await fetchNode(version);
  if (complaint === undefined) {
    console.log(`\nNode.js ${version}`);
    const status = testOn(programOf(version), hasWords ? args : [...shortPart, ...args]);
    if (status !== 0) process.exitCode = 1;
  } else {
    console.error(`Node.js ${version} is not available: ${complaint}`);
    process.exitCode = 1;
  }
}
