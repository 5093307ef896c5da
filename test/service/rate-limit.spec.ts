import { MemoryWindow } from '../../src/service/limits/sliding-window.js';
import { exchange } from '../support/raw-http.js';
import { describeWith } from '../support/requirements.js';
import {
  startReadyService,
  startService,
  untilState,
  type Answer,
  type Service,
} from '../support/service.js';

const RUN = '/api/v1/run?view=drive';
const JSON_TYPE = { 'content-type': 'application/json' };

let service: Service;
afterEach(() => service.stop());

function reading({ status, headers }: Answer): (number | null)[] {
  const number = (name: string) => (headers.has(name) ? Number(headers.get(name)) : null);
  return [status, number('ratelimit-limit'), number('ratelimit-remaining'), number('retry-after')];
}

describe('the rate limit, over real HTTP', () => {
  it('lets exactly 30 runs of a client pass, however many it sends at once', async () => {
    service = await startReadyService({ RATE_LIMIT: '' });
    const answers = await Promise.all(Array.from({ length: 80 }, () => service.post({}, RUN)));
    const passed = answers.filter(({ status }) => status === 200);
    const refused = answers.filter(({ status }) => status === 429);
    expect([passed.length, refused.length]).toEqual([30, 50]);
    const remaining = passed.map(({ headers }) => Number(headers.get('ratelimit-remaining')));
    expect(remaining.sort((a, b) => b - a)).toEqual(Array.from({ length: 30 }, (_, i) => 29 - i));
    for (const answer of refused) {
      expect(reading(answer)).toEqual([429, 30, 0, expect.any(Number)]);
      expect(answer.headers.get('retry-after')).toBe(answer.headers.get('ratelimit-reset'));
      expect(Number(answer.headers.get('retry-after'))).toBeLessThanOrEqual(60);
      expect(await answer.json()).toEqual({
        error: expect.stringMatching(/^At most 30 runs a minute .* try again in \d+ s\.$/),
        code: 'RATE_LIMITED',
      });
    }
    // Only requests to run count and are refused.
    expect((await service.get('/api/v1/model')).status).toBe(200);
    expect((await service.get('/api/v1/run')).headers.has('ratelimit-limit')).toBe(false);
  });

  it('keeps the promise of Retry-After: a second earlier is too early, then it is time', async () => {
    let nowMs = 0;
    const window = new MemoryWindow({
      limit: 2,
      windowMs: 60_000,
      slotMs: 0,
      maxClients: 10,
      nowMs: () => nowMs,
    });
    service = await startReadyService({ RATE_LIMIT: '2' }, { windows: { runs: window } });
    expect(reading(await service.post({}, RUN))).toEqual([200, 2, 1, null]);
    nowMs = 500;
    expect(reading(await service.post({}, RUN))).toEqual([200, 2, 0, null]);
    // 59.5 seconds are left, which is 60 in whole ones: never too few.
    expect(reading(await service.post({}, RUN))).toEqual([429, 2, 0, 60]);
    // Asking again and again does not move the moment.
    for (let i = 0; i < 20; i++) expect((await service.post({}, RUN)).status).toBe(429);
    nowMs += 59_000;
    expect(reading(await service.post({}, RUN))).toEqual([429, 2, 0, 1]);
    nowMs += 1_000;
    expect(reading(await service.post({}, RUN)).slice(0, 2)).toEqual([200, 2]);
  });

  it('counts a run whose body was read, whatever its outcome, and nothing else', async () => {
    service = await startReadyService({ RATE_LIMIT: '4' });
    const head = `POST ${RUN} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n`;
    const chunked = `${head}X-Request-Id: mine\r\nTransfer-Encoding: chunked\r\n\r\n`;
    const broken = [
      [`${chunked}no size\r\n`],
      [chunked, 'no size\r\n'],
      [`${head}Content-Length: 2\r\nExpect: a miracle\r\n\r\n`],
      [`POST ${RUN} HTTP/1.1\r\nConnection: close\r\n\r\n`],
      [`${head}Content-Length: 2\r\nContent-Encoding: gzip\r\n\r\n{}`],
      [`${head}Content-Type: application/json\r\nContent-Length: 1\r\n\r\n{`],
      [`${head}Content-Type: text/plain\r\nContent-Length: 2\r\n\r\n{}`],
      [`${head}Content-Type: application/json\r\nContent-Length: 9000\r\n\r\n${'x'.repeat(9_000)}`],
    ];
    const sendBroken = async () => {
      const statuses = [];
      for (const parts of broken) {
        const [answer] = await exchange(service.port, parts);
        expect(answer!.headers).not.toHaveProperty('ratelimit-remaining');
        statuses.push(answer!.status);
      }
      return statuses;
    };
    const remaining = (answer: Answer) => answer.headers.get('ratelimit-remaining');

    const refused = await sendBroken();
    expect(refused).toEqual([400, 400, 417, 400, 415, 400, 415, 413]);
    expect(remaining(await service.post({ seed: 1 }, RUN))).toBe('3');
    const cached = await service.post({ seed: 1 }, RUN);
    expect(cached.headers.get('cache-status')).toContain('hit');
    expect(remaining(cached)).toBe('2');
    expect(reading(await service.post({ seed: -1 }, RUN))).toEqual([400, 4, 1, null]);
    expect(remaining(await service.post('null', RUN))).toBe('0');
    expect(reading(await service.post({ seed: -1 }, RUN)).slice(0, 3)).toEqual([429, 4, 0]);
    // None of the broken requests was a run, so they are refused as before.
    expect(await sendBroken()).toEqual(refused);
  });

  it('does not count runs that it refuses before they begin', async () => {
    service = await startService({ RATE_LIMIT: '2', CONNECTOME_FILE: 'nowhere.connectome' });
    await untilState(service, 'failed');
    for (let i = 0; i < 4; i++) {
      const answer = await service.post({}, RUN);
      expect(reading(answer)).toEqual([503, 2, 2, expect.any(Number)]);
      expect(await answer.json()).toMatchObject({ code: expect.stringMatching(/^MODEL_/) });
    }
    // A fault in a run is found before that of the model, and counts.
    expect(reading(await service.post({ seed: -1 }, RUN)).slice(0, 3)).toEqual([400, 2, 1]);
    expect(reading(await service.post({ seed: -1 }, RUN)).slice(0, 3)).toEqual([400, 2, 0]);
    expect(reading(await service.post({}, RUN)).slice(0, 3)).toEqual([429, 2, 0]);
  });

  it('takes no word for who a client is, unless a proxy that is trusted gives it', async () => {
    service = await startReadyService({ RATE_LIMIT: '4' });
    const forged: Record<string, string>[] = [
      { 'x-forwarded-for': '203.0.113.7' },
      { 'x-forwarded-for': '203.0.113.8, 127.0.0.1' },
      { forwarded: 'for=203.0.113.9', 'x-real-ip': '203.0.113.9', 'x-client-ip': '203.0.113.9' },
      { 'x-forwarded-for': '' },
    ];
    for (const headers of forged) {
      expect((await service.post({}, RUN, { ...JSON_TYPE, ...headers })).status).toBe(200);
    }
    for (const headers of forged) {
      expect((await service.post({}, RUN, { ...JSON_TYPE, ...headers })).status).toBe(429);
    }
  });

  it('counts the clients of a trusted proxy, IPv6 ones by their /64, and believes nothing before it', async () => {
    service = await startReadyService({ RATE_LIMIT: '2', TRUST_PROXY: 'loopback' });
    const from = async (address: string) =>
      (await service.post({}, RUN, { ...JSON_TYPE, 'x-forwarded-for': address })).status;
    expect(await from('203.0.113.7')).toBe(200);
    expect(await from('::ffff:203.0.113.7')).toBe(200);
    expect(await from('203.0.113.7:1234')).toBe(429);
    // An address that the client itself wrote stands left of the one that the proxy adds.
    expect(await from('198.51.100.1, 203.0.113.7')).toBe(429);
    expect(await from('203.0.113.8')).toBe(200);
    expect(await from('2001:db8:0:1::1')).toBe(200);
    expect(await from('2001:db8:0:1:ffff::2')).toBe(200);
    expect(await from('2001:db8:0:1::3')).toBe(429);
    expect(await from('2001:db8:0:2::3')).toBe(200);
    // Texts that are no address cannot make a client of their own each time.
    expect(await from('a')).toBe(200);
    expect(await from('b'.repeat(5_000))).toBe(200);
    expect(await from('c')).toBe(429);
  });
});

describeWith(['ipv6'], 'the rate limit on a socket of both families', () => {
  it('knows an IPv4 client as one', async () => {
    service = await startReadyService({ RATE_LIMIT: '2', HOST: '::' });
    const post = (host: string) => fetch(`http://${host}:${service.port}${RUN}`, { method: 'POST' });
    expect((await post('127.0.0.1')).status).toBe(200);
    expect((await post('127.0.0.1')).status).toBe(200);
    expect((await post('127.0.0.1')).status).toBe(429);
    expect((await post('[::1]')).status).toBe(200);
  });
});
