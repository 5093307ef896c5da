/** Promises of SECURITY.md on answers and on the files of the service. */
import { readFileSync } from 'node:fs';
import { StaticBody } from '../../src/service/http/static-body.js';
import { exchange, type RawResponse } from '../support/raw-http.js';
import { startReadyService, type Service } from '../support/service.js';

let service: Service;
const lines: string[] = [];

beforeAll(async () => {
  service = await startReadyService(
    { LOG_LEVEL: 'info' },
    { logTo: { write: (line: string) => void lines.push(line) } },
  );
});
afterAll(() => service.stop());

async function ask(bytes: string): Promise<RawResponse> {
  return (await exchange(service.port, [bytes]))[0]!;
}

const get = (path: string, headers = '') =>
  ask(`GET ${path} HTTP/1.1\r\nHost: x\r\n${headers}Connection: close\r\n\r\n`);

describe('answers', () => {
  const SEVERAL = ['/', '/docs', '/livez', '/api/v1/model', '/api/v1/run', '/nowhere', '/api/v1/%zz'];

  it.each(SEVERAL)('%s tells nothing of its frameworks', async (path) => {
    const { headers, body } = await get(path);
    for (const name of ['server', 'x-powered-by', 'via']) expect(headers).not.toHaveProperty(name);
    expect(body).not.toMatch(/fastify|nestjs|node_modules|piscina/i);
  });

  it.each(SEVERAL)(
    '%s has nothing that breaks plain HTTP or that browsers complain about there',
    async (path) => {
      const { headers } = await get(path);
      for (const name of [
        'strict-transport-security',
        'cross-origin-opener-policy',
        'origin-agent-cluster',
      ]) {
        expect(headers).not.toHaveProperty(name);
      }
      expect(headers['content-security-policy'] ?? '').not.toContain('upgrade-insecure-requests');
      expect(headers['x-content-type-options']).toBe('nosniff');
      expect(headers).not.toHaveProperty('set-cookie');
    },
  );

  it.each(['/', '/docs', '/api/v1/model', '/nowhere'])(
    '%s runs no script of others and is framed by nobody',
    async (path) => {
      const { headers } = await get(path);
      const policy = headers['content-security-policy']!;
      expect(policy).toMatch(/default-src '(self|none)'/);
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).not.toMatch(/script-src[^;]*unsafe|https?:|\*/);
      expect(headers['x-frame-options']).toBe('DENY');
      expect(headers['referrer-policy']).toBe('no-referrer');
    },
  );
});

describe('files', () => {
  it.each([
    '/docs/',
    '/docs/package.json',
    '/docs/README.md',
    '/docs/swagger-ui.js.map',
    '/docs/swagger-initializer.js',
    '/docs/index.html',
    '/docs/.',
    '/docs/%00',
    '/docs/%2e%2e/package.json',
    '/docs/..%2f..%2fpackage.json',
    '/docs//etc/passwd',
    '/docs/../package.json',
    '/assets/..%2findex.html',
    '/assets/..',
    '/assets/%2e%2e%2f%2e%2e%2fmain.js',
    '/assets/__proto__',
    '/assets/constructor',
    '/atlas/..%2f..',
    '/atlas/constructor',
    '/package.json',
    '/.git/config',
    '/data/default.connectome',
    '//etc/passwd',
    '/metrics',
  ])('%s is none', async (path) => {
    const { status, body } = await get(path);
    expect(status).toBe(404);
    expect(JSON.parse(body)).toMatchObject({ code: 'NOT_FOUND' });
  });

  it('/docs has its scripts and styles', async () => {
    for (const path of ['/docs', '/docs?x=1']) {
      const { status, body } = await get(path);
      expect(status).toBe(200);
      const base = new URL(path, service.url);
      const needed = [...body.matchAll(/(?:src|href)="(\.\/assets\/[^"]+)"/g)].map(
        ([, file]) => new URL(file!, base).pathname,
      );
      expect(needed.length).toBeGreaterThanOrEqual(3);
      for (const file of needed) expect((await get(file)).status).toBe(200);
    }
  });

  it('/docs is the same body for another host, which is compressed once', async () => {
    const send = jest.spyOn(StaticBody.prototype, 'send');
    const { body } = await get('/docs');
    const other = await ask('GET /docs HTTP/1.1\r\nHost: other.example\r\nConnection: close\r\n\r\n');
    expect(other.body).toBe(body);
    expect(send.mock.contexts).toHaveLength(2);
    expect(send.mock.contexts[1]).toBe(send.mock.contexts[0]);
    send.mockRestore();
  });
});

describe('request ids', () => {
  it('are on every answer, also to text that is no HTTP, and name it in the log', async () => {
    for (const bytes of ['NO HTTP\r\n\r\n', 'GET /%zz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n']) {
      const { status, headers } = await ask(bytes);
      expect(status).toBe(400);
      const named = lines.filter((line) => line.includes(headers['x-request-id']!));
      expect(named).toHaveLength(1);
      expect(JSON.parse(named[0]!)).toMatchObject({ level: 30, from: 'http' });
    }
  });

  it.each(['', 'a b', 'a;b', '"', '\u00e4', '{"level":60}', '../x', 'x'.repeat(65), 'a, b'])(
    'are not taken over from others where they are %j',
    async (id) => {
      const { headers } = await get('/livez', `X-Request-Id: ${id}\r\n`);
      expect(headers['x-request-id']).toMatch(/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/);
    },
  );

  it('are not taken over if there are two', async () => {
    const { headers } = await get('/livez', 'X-Request-Id: a\r\nX-Request-Id: b\r\n');
    expect(headers['x-request-id']).toMatch(/^[\da-f-]{36}$/);
  });
});

describe('package-lock.json', () => {
  type Package = Readonly<Record<'integrity' | 'version' | 'os', string>> & {
    dev?: boolean;
    optional?: boolean;
  };
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
    packages: Record<string, Package>;
  };
  const installed = Object.entries(packages).filter(([path]) => path !== '');

  it('has a hash for everything that is installed for production', () => {
    const without = installed.filter(([, { dev, integrity }]) => dev !== true && integrity === undefined);
    expect(without).toEqual([]);
  });

  it('lacks it at most for optional binaries of other systems that tools of development need', () => {
    for (const [path, { dev, optional, integrity, os }] of installed) {
      if (integrity === undefined)
        expect({ path, dev, optional, os }).toMatchObject({ dev: true, optional: true });
    }
  });

  it('has the versions that package.json pins', () => {
    const { dependencies, devDependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as Record<
      string,
      Record<string, string>
    >;
    for (const [name, version] of Object.entries({ ...dependencies, ...devDependencies })) {
      // npm:package@version, if it has another name.
      const pinned = version.replace(/^npm:.+@/, '');
      expect([name, pinned]).toEqual([name, expect.stringMatching(/^\d+\.\d+\.\d+(-[\w.]+)?$/)]);
      expect([name, packages[`node_modules/${name}`]!.version]).toEqual([name, pinned]);
    }
  });
});
