/** Clients that send too much, read too little, or speak through an old proxy; over real HTTP. */
import { request } from 'node:http';
import { connect } from 'node:net';
import { startReadyService, type Service } from '../support/service.js';
import { until } from '../support/service-process.js';
import { JSON_TYPE, SteppedSession } from '../support/stepped-session.js';

const LARGE = {
  inputs: { all: { node_set: '@all', rate_hz: 100 } },
  duration_ms: 500,
  trials: 60,
  reports: { spikes: { node_set: '@all', type: 'spikes' } },
};

const GZIP = { 'accept-encoding': 'gzip' };
const EXPERIMENTS = '/api/v2/experiments';

describe('a service', () => {
  let service: Service;
  const lines: string[] = [];

  beforeAll(async () => {
    const variables = { EXPERIMENT_BRAIN_SECONDS_PER_MINUTE: '0', LOG_LEVEL: 'info' };
    service = await startReadyService(variables, { logTo: { write: (line: string) => lines.push(line) } });
  });
  afterAll(() => service.stop());

  it.each([
    ['/api/v2/experiments', 2],
    ['/api/v2/experiments', 8],
    ['/api/v1/run', 8],
  ])('answers 413 to a client of %s that sends %i MB in one go', async (path, megabytes) => {
    const answer = await service.post('x'.repeat(megabytes * 2 ** 20), path, JSON_TYPE);
    expect(answer.status).toBe(413);
    expect((await answer.json()).code).toBe('BODY_TOO_LARGE');
  });

  it('answers 503 to a document that is sent in one go while others of its client arrive', async () => {
    const stalled = Array.from({ length: 8 }, () => {
      const socket = connect(service.port, '127.0.0.1').on('error', () => undefined);
      const head = 'Host: x\r\nContent-Type: application/json\r\nContent-Length: 1048576';
      socket.write(`POST ${EXPERIMENTS} HTTP/1.1\r\n${head}\r\n\r\n{`);
      return socket;
    });
    try {
      const body = JSON.stringify({ name: 'x'.repeat(1_000_000) });
      await until(async () => {
        const answer = await service.post(body, EXPERIMENTS, { ...JSON_TYPE, connection: 'close' });
        const { code } = await answer.json();
        expect([400, 503]).toContain(answer.status);
        return code === 'QUEUE_FULL';
      });
    } finally {
      for (const socket of stalled) socket.destroy();
    }
  });

  it('has no name of a job or a session in its log', async () => {
    for (const kind of ['experiments', 'sessions']) {
      for (const tail of ['', '/results', '/steps', '/resultz']) {
        await fetch(`${service.url}/api/v2/${kind}/abcdefghijklmnopqrstuvwx${tail}`);
      }
    }
    const paths = lines
      .map((line) => JSON.parse(line).path as string)
      .filter((path) => path?.includes('/api/v2/'));
    expect(paths).toContain('/api/v2/experiments/:job');
    expect(paths).toContain('/api/v2/experiments/*');
    expect(paths.join()).not.toContain('abcdef');
  });

  it('refuses a long table over HTTP/1.0, whose end nobody could tell', async () => {
    const head = (body: string) =>
      `Host: x\r\nContent-Type: application/json\r\nContent-Length: ${body.length}`;
    const ask = (body: string) =>
      new Promise<string>((resolve, reject) => {
        const socket = connect(service.port, '127.0.0.1');
        let answer = '';
        socket.on('data', (data) => (answer += String(data)));
        socket.on('error', reject).on('close', () => resolve(answer));
        socket.write(`POST /api/v2/experiments?format=csv HTTP/1.0\r\n${head(body)}\r\n\r\n${body}`);
      });
    expect(await ask(JSON.stringify(LARGE))).toMatch(/^HTTP\/1.1 406 [^]*proxy_http_version 1.1/);
    expect(await ask(JSON.stringify({ ...LARGE, trials: 1 }))).toMatch(
      /^HTTP\/1.1 200 [^]*content-length: \d/i,
    );
  });

  describe('logs no error if a client leaves in mid answer', () => {
    /** Sends a request, and closes its connection after so many bytes of the answer; -1 for 10 ms after the request. */
    function leave(path: string, afterBytes: number, body?: object, headers = {}): Promise<void> {
      return new Promise((resolve) => {
        const method = body === undefined ? 'GET' : 'POST';
        const options = { method, agent: false, headers: { ...JSON_TYPE, ...headers } };
        const sent = request(service.url + path, options, (answer) => {
          let bytes = 0;
          answer.on('data', ({ length }: Buffer) => {
            bytes += length;
            if (bytes > afterBytes) sent.destroy();
          });
        });
        sent.on('error', () => undefined).on('close', resolve);
        sent.end(body && JSON.stringify(body));
        if (afterBytes < 0) setTimeout(() => sent.destroy(), 10);
      });
    }

    async function leavesNoError(path: string, body?: object, headers = {}): Promise<void> {
      const from = lines.length;
      for (const afterBytes of [-1, 0, 100_000]) await leave(path, afterBytes, body, headers);
      const since = () => lines.slice(from).map((line) => JSON.parse(line));
      await until(() => since().filter(({ from: origin }) => origin === 'http').length === 3);
      expect(since().filter(({ level }) => level >= 40)).toEqual([]);
    }

    it.each([
      ...['json', 'ndjson', 'csv'].map((format) => [format, GZIP] as const),
      ...['json', 'ndjson', 'csv', 'arrow', 'parquet'].map((format) => [format, {}] as const),
    ])('an experiment as %s, headers %j', async (format, headers) => {
      await leavesNoError(`${EXPERIMENTS}?format=${format}`, LARGE, headers);
    });

    it('the results of a job', async () => {
      const job = await service.post(LARGE, EXPERIMENTS, { ...JSON_TYPE, prefer: 'respond-async' });
      const path = job.headers.get('location')!;
      await until(async () => (await (await service.get(path)).json()).status === 'successful');
      for (const format of ['json', 'ndjson', 'csv', 'arrow', 'parquet']) {
        await leavesNoError(`${path}/results?format=${format}`);
      }
    });

    it('a session', async () => {
      const document = { inputs: { sugar: { node_set: 'S_sugar', rate_hz: 100 } }, duration_ms: 20_000 };
      await leavesNoError('/api/v2/sessions', document);
      const { path } = await SteppedSession.open(service, { ...document, duration_ms: 20 });
      await leavesNoError(`${path}/steps`, { t_ms: 20, duration_ms: 1000, silence: ['S_sugar'] });
      await leavesNoError(`${path}/branches`, { silence: ['S_loom'] });
      await leavesNoError(`${path}/document`);
    });

    it.each(['/api/v2/connections?source=@all&target=@all&group_by=neuron', '/api/v2/neurons?limit=10000'])(
      '%s',
      async (path) => {
        await leavesNoError(path);
        await leavesNoError(`${path}&format=csv`, undefined, GZIP);
      },
    );
  });

  it('has no Link that is too long for the headers of a proxy, and says so before rows are missed', async () => {
    const source = Array.from({ length: 70 }, (_, at) => `C${'*'.repeat(1 + at)}`).join();
    const ask = (more: object) => {
      const query = new URLSearchParams({ source, group_by: 'neuron', limit: '3', ...more });
      return service.get(`/api/v2/connections?${query}`);
    };
    const refused = await ask({ format: 'csv' });
    expect({ status: refused.status, ...(await refused.json()) }).toMatchObject({
      status: 400,
      error: expect.stringContaining('Begin with from=0.'),
    });
    for (const more of [{ format: 'csv', from: '0' }, { format: 'json' }]) {
      const answer = await ask(more);
      expect([answer.status, answer.headers.get('link')]).toEqual([200, null]);
    }
  });
});
