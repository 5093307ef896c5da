/** Compares the recordings of the page with answers of the service. If they differ, run `npm run recordings` again. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { connectomeFile } from '../support/connectomes.js';
import { startReadyService, type Service } from '../support/service.js';

const read = (file: string) => readFileSync(resolve('clients/pages/recordings', file), 'utf8');
const gallery = JSON.parse(read('gallery.json')) as {
  model: string;
  connectome_digest: string;
  version: string;
  entries: { title: string; answer: Record<string, unknown> }[];
};

describe('the recordings of the page', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startReadyService({ CONNECTOME_FILE: await connectomeFile('default') });
  });
  afterAll(() => service.stop());

  it('are of the default brain and of this engine', async () => {
    const model = await (await service.get('/api/v1/model')).json();
    const { id, connectome_digest, version } = model;
    expect(gallery).toMatchObject({ model: id, connectome_digest, version });
  });

  it('open with the very bytes of the answer', async () => {
    const recorded = read('opening.json');
    const { stimulus, duration_ms, intensity, seed } = JSON.parse(recorded);
    const answer = await service.post({ stimulus, duration_ms, intensity, seed });
    expect(await answer.text()).toBe(recorded);
  });

  it.each(gallery.entries)('of the gallery have the numbers of the answer: $title', async (entry) => {
    const { stimulus, duration_ms, intensity, seed } = entry.answer;
    const answer = await service.post({ stimulus, duration_ms, intensity, seed }, '/api/v1/run?view=drive');
    expect(entry.answer).toEqual(await answer.json());
  });
});
