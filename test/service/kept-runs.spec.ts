/** The runs that the service keeps for the page. */
import { startReadyService, type Service } from '../support/service.js';

describe('a run that the service keeps', () => {
  let service: Service;
  let limited: Service;
  let folder: string;
  beforeAll(async () => {
    [service, limited] = await Promise.all([startReadyService(), startReadyService({ RATE_LIMIT: '1' })]);
    const { connectome_digest } = await (await service.get('/api/v1/model')).json();
    folder = `/runs/${connectome_digest}`;
  });
  afterAll(() => Promise.all([service.stop(), limited.stop()]));

  it('is the answer to the same request, costs no run, and is not sent twice', async () => {
    for (const stimulus of ['loom', 'none', 'loom', 'sugar']) {
      const kept = await limited.get(`${folder}/${stimulus}`);
      expect(kept.status).toBe(200);
      expect(await kept.text()).toBe(await (await service.post({ stimulus })).text());
      const again = await limited.get(`${folder}/${stimulus}`, {
        'if-none-match': kept.headers.get('etag')!,
      });
      expect(again.status).toBe(304);
    }
    expect((await limited.post()).status).toBe(200);
    expect((await limited.post({ seed: 2 })).status).toBe(429);
  });

  it('is computed once, however many ask for it at once', async () => {
    const bodies = await Promise.all(
      Array.from({ length: 20 }, async () => (await limited.get(`${folder}/touch`)).text()),
    );
    expect(new Set(bodies).size).toBe(1);
  });

  it.each([
    ['/noise', /^There is no run of "noise"; there are sugar, loom, .*none\.$/],
    ['0/loom', /^There are no runs of the connectome ".*; there are of [0-9a-f]{64}\.$/],
  ])('is refused if there is none: %s', async (path, message) => {
    const refused = await service.get(folder + path);
    expect(refused.status).toBe(404);
    expect((await refused.json()).error).toMatch(message);
  });
});
