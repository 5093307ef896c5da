import { createHash } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import { decodeIds } from '../../src/engine/connectome/atlas-ids.js';
import { DEFAULT_EXPERIMENT, runId } from '../../src/experiments/presets/experiment.js';
import { startReadyService, type Service } from '../support/service.js';

describe('the endpoints, over real HTTP with real workers', () => {
  let service: Service;

  beforeAll(async () => {
    service = await startReadyService({ WORKERS: '2' });
  });
  afterAll(() => service.stop());

  describe('POST /api/v1/run', () => {
    it('answers a complete run with every default', async () => {
      const response = await service.post({});
      expect(response.status).toBe(200);
      expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
      const body = await response.json();
      expect(Object.keys(body)).toEqual([
        'id',
        'model',
        'stimulus',
        'duration_ms',
        'intensity',
        'seed',
        'total_spikes',
        'responding_neurons',
        'stimulated_neurons',
        'connections',
        'spikes',
        'channels',
        'drive',
        'frames',
        'top_types',
      ]);
      expect(body).toMatchObject({ stimulus: 'sugar', duration_ms: 100, intensity: 1, seed: 42 });
      expect(body.spikes.total).toBeGreaterThan(0);
      expect(body.frames).toHaveLength(20);
      const model = await (await service.get('/api/v1/model')).json();
      expect(body.model).toBe(model.id);
      expect(body).toMatchObject({
        total_spikes: body.spikes.total,
        responding_neurons: body.spikes.responding_neurons,
        stimulated_neurons: body.spikes.stimulated_neurons,
        connections: model.connection_count,
      });
      expect(Object.keys(body.frames[0])).toEqual(['t', 'total', 'channels', 'steps', 'spikes']);
      expect(body.frames.map(({ t }: { t: number }) => t)).toEqual(
        Array.from({ length: 20 }, (_, i) => 5 * i),
      );
      expect(body.id).toBe(runId(model.connectome_digest, DEFAULT_EXPERIMENT));
    });

    it('holds the complete raster in its frames, under the digest it names', async () => {
      const body = await (await service.post({ stimulus: 'loom', duration_ms: 200, intensity: 2 })).json();
      const pairs = body.frames.flatMap(({ steps, spikes }: { steps: number[]; spikes: number[] }) =>
        steps.flatMap((step, i) => [step, spikes[i]!]),
      );
      expect(pairs).toHaveLength(2 * body.spikes.total);
      expect(createHash('sha256').update(Uint32Array.from(pairs)).digest('hex')).toBe(body.spikes.digest);
    });

    it('leaves out exactly two members with view=drive', async () => {
      const { frames, top_types, ...head } = await (await service.post({ seed: 7 })).json();
      const drive = await (await service.post({ seed: 7 }, '/api/v1/run?view=drive')).json();
      expect(frames).toBeDefined();
      expect(top_types).toBeDefined();
      expect(drive).toEqual(head);
    });

    it('gives the same bytes for view=drive whether it is computed or taken from a full run', async () => {
      const drive = (seed: number) => service.post({ seed }, '/api/v1/run?view=drive');
      const computed = await (await drive(8)).text();
      await service.post({ seed: 8 });
      const other = await startReadyService();
      await other.post({ seed: 8 });
      const taken = await other.post({ seed: 8 }, '/api/v1/run?view=drive');
      expect(taken.headers.get('cache-status')).toBe('neural-experiment-service; hit');
      expect(await taken.text()).toBe(computed);
      await other.stop();
    });

    it.each([
      ['an empty object', '{}', { 'content-type': 'application/json' }],
      ['an empty body with a content type', '', { 'content-type': 'application/json' }],
      ['an empty body of a form', '', { 'content-type': 'application/x-www-form-urlencoded' }],
      ['no body and no content type', undefined, {}],
    ])('takes %s as every default', async (_, body, headers) => {
      const response = await fetch(`${service.url}/api/v1/run`, {
        method: 'POST',
        body,
        headers: { ...headers },
      });
      expect(response.status).toBe(200);
      expect(await response.json()).toMatchObject({ stimulus: 'sugar', seed: 42 });
    });

    it('is silent for none and for intensity 0', async () => {
      for (const request of [{ stimulus: 'none' }, { stimulus: 'loom', intensity: 0 }]) {
        const { spikes } = await (await service.post(request)).json();
        expect(spikes).toMatchObject({ total: 0, responding_neurons: 0, mean_rate_hz: 0 });
      }
    });

    it('compresses for clients that accept gzip and for no others', async () => {
      const packed = await rawRun(service, { 'accept-encoding': 'gzip' });
      const plain = await rawRun(service, { 'accept-encoding': 'gzip;q=0, *' });
      expect(packed.headers['content-encoding']).toBe('gzip');
      expect(plain.headers['content-encoding']).toBeUndefined();
      expect(plain.headers['vary']).toBe('Accept-Encoding');
      expect(gunzipSync(packed.body).equals(plain.body)).toBe(true);
    });

    it.each([
      [{ stimulus: 'salt' }, 'stimulus must be one of sugar, loom, food,'],
      [{ duration_ms: 75 }, 'duration_ms must be one of 50, 100, 150, 200, got 75.'],
      [{ intensity: 2.5 }, 'intensity must be a number from 0 to 2, got 2.5.'],
      [{ seed: -1 }, 'seed must be an integer from 0 to 4294967295, got -1.'],
      [{ salt: 1 }, '"salt" is not a field; allowed: stimulus, duration_ms, intensity, seed.'],
    ])('refuses %j', async (request, message) => {
      const response = await service.post(request);
      expect(response.status).toBe(400);
      const body = await response.json();
      expect(body.error).toContain(message);
      expect(body.code).toBe('INVALID_PARAMETER');
    });
  });

  describe('GET /api/v1/model', () => {
    it('describes the model and names an atlas in the order of the neurons', async () => {
      const model = await (await service.get('/api/v1/model')).json();
      expect(model).toMatchObject({ neuron_count: 304, release: 783, wiring: 'synthetic' });
      expect(model.parameters.stimulus.allowed).toContain('none');
      expect(model.stimuli).toHaveLength(10);
      const response = await service.get(model.atlas_url);
      expect(response.headers.get('cache-control')).toContain('immutable');
      const atlas = await response.json();
      for (const column of ['id', 'type', 'side', 'x', 'y', 'z', 'estimated']) {
        expect(atlas[column]).toHaveLength(model.neuron_count);
      }
      const numbers = [...atlas.x, ...atlas.y, ...atlas.z];
      expect(Math.min(...numbers)).toBe(0);
      expect(Math.max(...numbers)).toBe(1);
      const ids = await service.get(model.atlas_url.replace('.json', '-ids.txt'));
      expect(decodeIds(await ids.text())).toEqual(atlas.id);
    });

    it('answers 304 to who has it already', async () => {
      const first = await service.get('/api/v1/model');
      const tag = first.headers.get('etag')!;
      const second = await service.get('/api/v1/model', { 'if-none-match': tag });
      expect(second.status).toBe(304);
      expect(second.headers.get('etag')).toBe(tag);
      expect(await second.text()).toBe('');
      expect((await service.get('/api/v1/model', { 'if-none-match': '"other"' })).status).toBe(200);
    });
  });

  describe('ETag', () => {
    it.each(['/api/v1/model', '/api/v1/openapi', 'the atlas', '/'])('%s is sent once', async (path) => {
      const { atlas_url } = await (await service.get('/api/v1/model')).json();
      const url = path === 'the atlas' ? atlas_url : path;
      const ask = (headers: Record<string, string>) => service.get(url, headers);
      const plain = (await ask({ 'accept-encoding': 'identity' })).headers.get('etag')!;
      const packed = (await ask({ 'accept-encoding': 'gzip' })).headers.get('etag')!;
      // Strong tags name bytes, and these are different bytes of one body.
      expect(packed).not.toBe(plain);
      for (const tag of [plain, packed]) {
        expect(tag).toMatch(/^"[\da-f]{32}(-gzip)?"$/);
        for (const known of [tag, `W/${tag}`, `"a", ${tag} ,"b"`, '*']) {
          const answer = await ask({ 'if-none-match': known });
          expect([known, answer.status, await answer.text()]).toEqual([known, 304, '']);
          expect(answer.headers.get('vary')).toBe('Accept-Encoding');
        }
      }
      for (const other of ['"a"', plain.slice(1, -1), plain.toUpperCase().replace(/"$/, 'X"'), '']) {
        expect([other, (await ask({ 'if-none-match': other })).status]).toEqual([other, 200]);
      }
    });

    it('is on no run: a run is asked for with POST and not kept by anybody else', async () => {
      const { headers } = await service.post({});
      expect(headers.get('etag')).toBeNull();
      expect(headers.get('cache-control')).toBe('no-store');
    });
  });

  it('serves its OpenAPI 3.1 description', async () => {
    const document = await (await service.get('/api/v1/openapi')).json();
    expect(document.openapi).toBe('3.1.0');
    expect(document.info.version).toBe('1.0.0');
    expect(Object.keys(document.paths)).toEqual(['/api/v1/run', '/api/v1/model', '/api/v1/openapi']);
  });

  it('tells its health', async () => {
    expect((await service.get('/livez')).status).toBe(200);
    expect((await service.get('/readyz')).status).toBe(200);
  });
});

/** fetch decompresses bodies; this shows the bytes on the wire. */
async function rawRun(
  service: Service,
  headers: Record<string, string>,
): Promise<{ headers: Record<string, string | string[] | undefined>; body: Buffer }> {
  const { request } = await import('node:http');
  return new Promise((resolve, reject) => {
    const sent = request(`${service.url}/api/v1/run`, { method: 'POST', headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => resolve({ headers: response.headers, body: Buffer.concat(chunks) }));
    });
    sent.on('error', reject);
    sent.end();
  });
}
