/**
 * Writes test/experiments/bodies.json: the digest of whole answers of a running service that serves the default brain.
 * usage: npm run golden:bodies -- http://localhost:8080      (a service with RATE_LIMIT=0)
 */
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';

const [url] = process.argv.slice(2);
if (url === undefined) {
  console.error(
    'usage: npm run golden:bodies -- URL      of a service with the default brain and RATE_LIMIT=0',
  );
  process.exit(2);
}
const { stimuli } = await (await fetch(`${url}/api/v1/model`)).json();
const requests = [
  'full {}',
  'drive {}',
  'full {"stimulus":"none","duration_ms":50}',
  'full {"duration_ms":200,"intensity":2,"seed":4294967295}',
  'drive {"stimulus":"loom","duration_ms":150,"intensity":0.1,"seed":0}',
  ...stimuli.map(({ id }, i) => `full {"stimulus":"${id}","duration_ms":100,"intensity":1.5,"seed":${i}}`),
];
const golden = {};
for (const request of requests) {
  const [view, body] = request.split(' ');
  const response = await fetch(`${url}/api/v1/run?view=${view}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  });
  const bytes = Buffer.from(await response.arrayBuffer());
  golden[request] = `${response.status} ${createHash('sha256').update(bytes).digest('hex')}`;
}
writeFileSync('test/experiments/bodies.json', `${JSON.stringify(golden, null, 2)}\n`);
console.log(`${requests.length} bodies`);
