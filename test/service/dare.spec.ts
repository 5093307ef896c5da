/** The preview of a dare, which sites show beside its link. */
import { Metrics } from '../../src/service/metrics/metrics.js';
import { lesionDocument } from '../../src/experiments/presets/lesion-document.js';
import { run } from '../support/experiment-requests.js';
import { startReadyService, type Service } from '../support/service.js';
import { SMALL_CHANNELS } from '../support/small-connectome.js';

const LINK = '?dare=loom&silence=C_walk&silence=C_stop';
const BROKEN = [
  '?dare=salt&silence=C_walk',
  '?dare=constructor&silence=C_walk',
  '?dare=loom',
  '?dare=loom&silence=',
  '?dare=loom&silence=LC4',
  '?dare=loom&silence=C_*',
  // The stimulus itself excites this type.
  '?dare=loom&silence=C_walk&silence=S_loom',
  '?dare=loom&silence=C_walk&silence=C_stop&silence=C_wing',
  '?dare=loom&silence=%22%3E%3Cscript%3E',
];
/** A preview costs 5.2 brain seconds. The client has drawn one, and has paid for an experiment. */
const FURTHER_PREVIEWS = 2;

let service: Service;
beforeAll(async () => {
  service = await startReadyService({
    EXPERIMENT_BRAIN_SECONDS_PER_MINUTE: '16',
  });
});
afterAll(() => service.stop());

/** The address of the preview in the page of a link. */
async function previewOf(link: string): Promise<string> {
  const [, address] = /property="og:image" content="([^"]*)"/.exec(
    await (await service.get(`/${link}`)).text(),
  )!;
  return address!.replaceAll('&amp;', '&').slice(service.url.length);
}

it('is a picture of 1200 by 630 px that the page of the link names', async () => {
  const path = await previewOf(`${LINK}&id=${'0'.repeat(32)}`);
  expect(path).toBe(`/dare/preview.png${LINK}`);
  expect(await (await service.get(`/${LINK}`)).text()).toContain(
    'content="A dare: silence C_walk and C_stop"',
  );
  const first = await service.get(path);
  expect([first.status, first.headers.get('content-type')]).toEqual([200, 'image/png']);
  const bytes = Buffer.from(await first.arrayBuffer());
  expect(bytes.toString('latin1', 1, 4)).toBe('PNG');
  expect([bytes.readUInt32BE(16), bytes.readUInt32BE(20)]).toEqual([1200, 630]);
  const exposed = await service.app.get(Metrics).registry.metrics();
  expect(exposed).toContain('nes_experiments_total{format="ndjson",outcome="done",status="200"} 1');
  const again = await service.get(path, { 'if-none-match': first.headers.get('etag')! });
  expect(again.status).toBe(304);
});

it('takes a type that is named several times once', async () => {
  expect(await previewOf('?dare=loom&silence=C_walk&silence=C_walk&silence=C_stop&silence=C_stop')).toBe(
    `/dare/preview.png${LINK}`,
  );
});

it('computes what the page of the link asks for, which then costs nothing', async () => {
  const loom = { stimulus: 'loom', intensity: 1, duration_ms: 100, seed: 42 };
  const document = lesionDocument(loom, 150, SMALL_CHANNELS, ['C_walk', 'C_stop']);
  const answer = await run(service, document, '?format=ndjson&from=0');
  expect([answer.status, answer.headers.get('ratelimit-remaining')]).toEqual([200, null]);
  // Another one is charged.
  const other = await run(service, { ...document, seed: 2 }, '?format=ndjson&from=0');
  expect([other.status, other.headers.get('ratelimit-remaining')]).toEqual([200, '10']);
});

it.each(BROKEN)('is that of all pages for %s', async (link) => {
  const usual = await previewOf('');
  expect(usual).toMatch(/^\/assets\/preview-.*\.jpg$/);
  expect(await previewOf(link)).toBe(usual);
  const led = await service.get(`/dare/preview.png${link}`);
  expect([led.status, led.url, led.headers.get('content-type')]).toEqual([
    200,
    service.url + usual,
    'image/jpeg',
  ]);
});

it('is that of all pages after its client has spent its brain seconds', async () => {
  const types = [];
  for (const channel of SMALL_CHANNELS.slice(0, 8)) {
    const { headers } = await service.get(`/dare/preview.png?dare=loom&silence=C_${channel}`);
    types.push(headers.get('content-type'));
  }
  const drawn = types.slice(0, FURTHER_PREVIEWS);
  expect(drawn).toEqual(drawn.map(() => 'image/png'));
  expect(types.at(-1)).toBe('image/jpeg');
  // Those that were drawn are still there.
  expect((await service.get(`/dare/preview.png${LINK}`)).headers.get('content-type')).toBe('image/png');
});
