/** The server that the description names, so that generated clients work as they stand. */
import { exchange } from '../support/raw-http.js';
import { startReadyService, startService, type Answer, type Service } from '../support/service.js';

let service: Service;
afterEach(() => service.stop());

interface Description {
  readonly server: string;
  readonly tag: string;
}

/** @param host undefined leaves the header out, which only HTTP/1.0 may */
async function describedTo(host: string | undefined, headers = ''): Promise<Description> {
  const [version, hostLine] = host === undefined ? ['1.0', ''] : ['1.1', `Host: ${host}\r\n`];
  const bytes = `GET /api/v1/openapi HTTP/${version}\r\n${hostLine}Connection: close\r\n${headers}\r\n`;
  const [response] = await exchange(service.port, [bytes]);
  expect(response!.status).toBe(200);
  const { servers } = JSON.parse(response!.body) as { servers: { url: string }[] };
  expect(servers).toHaveLength(1);
  return { server: servers[0]!.url, tag: response!.headers['etag']! };
}

const serverFor = async (...args: Parameters<typeof describedTo>) => (await describedTo(...args)).server;
const forwarded = (host: string, protocol: string) =>
  `X-Forwarded-Host: ${host}\r\nX-Forwarded-Proto: ${protocol}\r\n`;

it('is the host that was asked, and each has its own ETag', async () => {
  service = await startService();
  const hosts = [
    'localhost:8080',
    'fly.example',
    'fly.example.:1',
    'a_b-c.example',
    '192.0.2.1',
    '[2001:db8::1]:80',
  ];
  const descriptions = await Promise.all(hosts.map((host) => describedTo(host)));
  expect(descriptions.map(({ server }) => server)).toEqual(hosts.map((host) => `http://${host}`));
  expect(new Set(descriptions.map(({ tag }) => tag)).size).toBe(hosts.length);
  // The ETag of one address does not match the description at another.
  const { tag } = descriptions[0]!;
  const ask = async (host: string) =>
    (
      await exchange(service.port, [
        `GET /api/v1/openapi HTTP/1.1\r\nHost: ${host}\r\nIf-None-Match: ${tag}\r\nConnection: close\r\n\r\n`,
      ])
    )[0]!.status;
  expect([await ask(hosts[0]!), await ask(hosts[1]!)]).toEqual([304, 200]);
  // These headers are not from a trusted proxy.
  expect(await serverFor('fly.example', forwarded('evil.example', 'https'))).toBe('http://fly.example');
});

it('is the same origin if Host is no plain host', async () => {
  service = await startService();
  for (const host of [
    '',
    'a%0d.example',
    "a'b.example",
    'user&pass',
    'a..example',
    'fly.example:',
    'fly.example:0',
    'fly.example:65536',
    '[::1::]',
    'a'.repeat(254),
    undefined,
  ]) {
    expect([host, await serverFor(host)]).toEqual([host, '/']);
  }
});

it('is the one that a trusted proxy names', async () => {
  service = await startService({ TRUST_PROXY: 'loopback' });
  expect(await serverFor('inside:8080')).toBe('http://inside:8080');
  expect(await serverFor('inside', forwarded('fly.example', 'https'))).toBe('https://fly.example');
  // The last entry is the one that the proxy itself has added.
  expect(await serverFor('inside', forwarded('evil.example, fly.example:8443', 'http, https'))).toBe(
    'https://fly.example:8443',
  );
  expect(await serverFor('inside', forwarded('fly.example', 'ftp'))).toBe('/');
  expect(await serverFor('inside', forwarded('fly.example/"><script>', 'https'))).toBe('/');
});

it('is PUBLIC_URL if that is set, whatever was asked', async () => {
  service = await startService({ PUBLIC_URL: 'https://lab.example/fly/', TRUST_PROXY: 'loopback' });
  expect(await serverFor('inside', forwarded('fly.example', 'http'))).toBe('https://lab.example/fly');
});

describe('below a prefix', () => {
  const below = (prefix: string) => `X-Forwarded-Prefix: ${prefix}\r\n`;

  it('is the one that a trusted proxy strips', async () => {
    service = await startService({ TRUST_PROXY: 'loopback' });
    for (const prefix of ['/fly', '/user/a%40b/proxy/h:80', '/~x/a.b/..c', `/${'x'.repeat(254)}`]) {
      expect(await serverFor('inside', below(prefix))).toBe(`http://inside${prefix}`);
    }
    expect(await serverFor('inside', below('/evil, /fly/'))).toBe('http://inside/fly');
    expect(await serverFor('inside', forwarded('fly.example', 'https') + below('/a'))).toBe(
      'https://fly.example/a',
    );
    expect(await serverFor(undefined, below('/fly'))).toBe('/fly');
  });

  it('ignores what is no plain path, and everybody who is no trusted proxy', async () => {
    service = await startService({ TRUST_PROXY: 'loopback' });
    for (const prefix of [
      '//evil.example',
      '/\\evil.example',
      'https://evil.example/',
      'fly',
      '/',
      '/fly/../..',
      '/fly/.%2E/x',
      '/fly?x',
      '/"><script>',
      `/${'x'.repeat(255)}`,
    ]) {
      expect([prefix, await serverFor('inside', below(prefix))]).toEqual([prefix, 'http://inside']);
    }
    await service.stop();
    service = await startService({ TRUST_PROXY: '192.0.2.1' });
    expect(await serverFor('inside', below('/fly'))).toBe('http://inside');
  });

  it('has the paths of jobs and sessions, and keeps the pages relative', async () => {
    service = await startReadyService({ TRUST_PROXY: 'loopback' });
    const headers = { 'content-type': 'application/json', 'x-forwarded-prefix': '/fly' };
    const session = await service.post({}, '/api/v2/sessions', headers);
    expect(session.headers.get('location')).toMatch(/^\/fly\/api\/v2\/sessions\/[\w-]{22}$/);
    const job = await service.post({ trials: 1 }, '/api/v2/experiments', {
      ...headers,
      prefer: 'respond-async',
    });
    const location = job.headers.get('location')!;
    expect(location).toMatch(/^\/fly\/api\/v2\/experiments\/[\w-]{24}$/);
    const inside = location.slice('/fly'.length);
    const linksOf = async (answer: Answer) =>
      (await answer.json()).links.map(({ href }: { href: string }) => href);
    expect(await linksOf(job)).toEqual([location, `${location}/results`]);
    expect(await linksOf(await service.get(inside, headers))).toEqual([location, `${location}/results`]);
    expect((await linksOf(await service.get(inside)))[0]).toBe(inside);
    const html = await (await service.get('/', headers)).text();
    expect(html).toMatch(/<meta property="og:image" content="http:\/\/127\.0\.0\.1:\d+\/fly\/assets\//);
    expect(html).not.toMatch(/ (href|src)="\//);
  });
});
