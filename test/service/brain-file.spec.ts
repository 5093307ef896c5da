/** The file of the brain over HTTP, which pages load to compute in their tab. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { LeavingAnswers } from '../../src/service/limits/admission.js';
import { startReadyService, type Service } from '../support/service.js';
import { smallConnectomeFile } from '../support/small-connectome.js';

describe('the file of the brain', () => {
  const file = readFileSync(smallConnectomeFile());
  let service: Service;
  let path: string;
  beforeAll(async () => {
    service = await startReadyService();
    const { connectome_digest } = await (await service.get('/api/v1/model')).json();
    path = `/brain/${connectome_digest}.connectome`;
  });
  afterAll(() => service.stop());

  /** As it comes over the connection, because fetch unpacks bodies. */
  async function ask(method: string, headers = {}) {
    const asked = request(service.url + path, { method, headers, agent: false }).end();
    const [answer] = (await once(asked, 'response')) as [IncomingMessage];
    return { status: answer.statusCode, headers: answer.headers, bytes: await buffer(answer) };
  }

  const LASTING = {
    'content-type': 'application/octet-stream',
    'cache-control': 'public, max-age=31536000, immutable',
    vary: expect.stringMatching(/\baccept-encoding\b/i) as string,
  };

  it.each([
    [undefined, undefined, (bytes: Buffer) => bytes],
    ['identity', undefined, (bytes: Buffer) => bytes],
    ['gzip', 'gzip', gunzipSync],
    ['gzip, deflate, br', 'br', brotliDecompressSync],
    ['br;q=0, gzip', 'gzip', gunzipSync],
  ] as const)('comes whole if the client accepts %s', async (accepted, encoding, unpacked) => {
    const { status, headers, bytes } = await ask('GET', accepted && { 'accept-encoding': accepted });
    expect(status).toBe(200);
    expect(headers).toMatchObject(LASTING);
    expect(headers['content-encoding']).toBe(encoding);
    expect(Number(headers['content-length'])).toBe(bytes.length);
    expect(unpacked(bytes).equals(file)).toBe(true);
    if (encoding !== undefined) expect(bytes.length).toBeLessThan(file.length);
  });

  it('comes uncompressed from one buffer, which counts once', async () => {
    const admit = jest.spyOn(LeavingAnswers.prototype, 'admit');
    for (let times = 0; times < 2; times++) await ask('GET');
    const [first, second] = admit.mock.calls.map(([, , payload]) => payload);
    admit.mockRestore();
    expect(first).toBeInstanceOf(Buffer);
    expect(second).toBe(first);
  });

  it('has a head without a body', async () => {
    const { status, headers, bytes } = await ask('HEAD');
    expect(status).toBe(200);
    expect(headers).toMatchObject({ ...LASTING, 'content-length': String(file.length) });
    expect(bytes).toHaveLength(0);
  });

  it('is refused under the digest of another brain, with the name of this one', async () => {
    const other = `${'0'.repeat(16)}.connectome`;
    const refused = await service.get(`/brain/${other}`);
    expect(refused.status).toBe(404);
    expect(refused.headers.get('cache-control') ?? '').not.toContain('immutable');
    expect(await refused.json()).toMatchObject({
      code: 'NOT_FOUND',
      error: `There is no brain "${other}"; there is ${path.slice('/brain/'.length)}.`,
    });
  });
});
