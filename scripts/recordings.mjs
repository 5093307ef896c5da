/**
 * npm run recordings -- URL: records anew what the page shows without a request, from a service with the default brain
 * and RATE_LIMIT=0: the run that plays when somebody arrives, and the answers of the gallery.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { format, resolveConfig } from 'prettier';

const FOLDER = 'clients/pages/recordings';
const OPENING = { stimulus: 'loom' };

const url = process.argv[2];
if (url === undefined || !URL.canParse(url)) {
  console.error(`recordings: expected the URL of a service, found ${url ?? 'none'}`);
  process.exit(2);
}

const model = await (await fetch(new URL('/api/v1/model', url))).json();
writeFileSync(`${FOLDER}/opening.json`, await run(OPENING, 'full'));
const gallery = JSON.parse(readFileSync(`${FOLDER}/gallery.json`, 'utf8'));
const { id, connectome_digest, version } = model;
const entries = [];
for (const entry of gallery.entries) {
  const { stimulus, duration_ms, intensity, seed } = entry.answer;
  const answer = JSON.parse(await run({ stimulus, duration_ms, intensity, seed }, 'drive'));
  entries.push({ ...entry, answer });
}
const file = `${FOLDER}/gallery.json`;
const text = JSON.stringify({ model: id, connectome_digest, version, entries }, null, 2);
writeFileSync(file, await format(text, { ...(await resolveConfig(file)), filepath: file }));
console.log(`Recorded ${entries.length + 1} runs of ${id}.`);

async function run(experiment, view) {
  const response = await fetch(new URL(`/api/v1/run?view=${view}`, url), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(experiment),
  });
  if (!response.ok)
    throw new Error(`${JSON.stringify(experiment)}: ${response.status} ${await response.text()}`);
  return response.text();
}
