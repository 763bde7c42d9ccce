// A planted program in JavaScript, with nothing but fetch; the argument selects its key. Those with "pairs" in their name
// send one message for each line of their input.

import { readFileSync } from 'node:fs';

const keys = {
  'node-good': () => 'a',
  'node-utc-day': () => new Date().toISOString().slice(0, 10),
  'node-good-pairs': ({ shop, id }) => JSON.stringify([shop, id]),
  'node-pairs-slash': ({ shop, id }) => `${shop}/${id}`,
};
const way = process.argv[2];
const lines = readFileSync(0, 'utf8').split('\n').filter(Boolean);
const rows = way.includes('pairs') ? lines.map((line) => JSON.parse(line)) : [{}];

const { AWS_ENDPOINT_URL, QUEUE_URL } = process.env;
for (const row of rows) {
  const envelope = {
    event_id: '00000000-0000-7000-8000-000000000000',
    event_source: `kfm.planted.${way}`,
    event_time: '2025-12-04T00:00:00Z',
    dedupe_key: keys[way](row),
    payload: Object.fromEntries(Object.entries(row).sort()),
  };
  const response = await fetch(AWS_ENDPOINT_URL, {
    method: 'POST',
    headers: { 'X-Amz-Target': 'AmazonSQS.SendMessage' },
    body: JSON.stringify({
      QueueUrl: QUEUE_URL,
      MessageBody: JSON.stringify(envelope),
      MessageGroupId: 'g',
    }),
  });
  if (!response.ok) throw new Error(await response.text());
}
