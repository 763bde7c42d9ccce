// A planted program in JavaScript, with nothing but fetch; the argument selects its key.

const keys = {
  'node-good': () => 'a',
  'node-utc-day': () => new Date().toISOString().slice(0, 10),
};

const { AWS_ENDPOINT_URL, QUEUE_URL } = process.env;
const envelope = {
  event_id: '00000000-0000-7000-8000-000000000000',
  event_source: 'kfm.planted.node',
  event_time: '2025-12-04T00:00:00Z',
  dedupe_key: keys[process.argv[2]](),
  payload: {},
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
