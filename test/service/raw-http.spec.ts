import { once } from 'node:events';
import { largestAsset } from '../support/largest-asset.js';
import type { Server } from 'node:http';
import { connect, type Socket } from 'node:net';
import { checkAnswer } from '../support/contract.js';
import { exchange, type RawExchange, type RawResponse } from '../support/raw-http.js';
import { startReadyService, type Service } from '../support/service.js';

const RUN = '/api/v1/run?view=drive';
const JSON_TYPE = 'Content-Type: application/json\r\n';
const CHUNKED = 'Transfer-Encoding: chunked';

function post(body: string, headers = JSON_TYPE, path = RUN): string {
  const length = Buffer.byteLength(body);
  return `POST ${path} HTTP/1.1\r\nHost: x\r\n${headers}Content-Length: ${length}\r\nConnection: close\r\n\r\n${body}`;
}

function request(method: string, path: string, headers = ''): string {
  return `${method} ${path} HTTP/1.1\r\nHost: x\r\n${headers}Connection: close\r\n\r\n`;
}

/** A valid body of exactly so many bytes. */
function padded(bytes: number): string {
  return '{"seed":1}'.padEnd(bytes, ' ');
}

describe('whatever bytes arrive', () => {
  let service: Service;

  beforeAll(async () => {
    service = await startReadyService({}, { requestTimeoutMs: 1_500 });
  });
  afterAll(() => service.stop());

  async function answers(bytes: string | Buffer, options: RawExchange = {}): Promise<RawResponse[]> {
    const [method = '', path = ''] = bytes.toString('latin1').split(' ');
    const responses = await exchange(service.port, [bytes], options);
    for (const { status, headers, body } of responses) {
      if (status !== 100) {
        checkAnswer({ method, path, status, headers: new Headers(headers), text: body });
        expect(headers['content-type'] ?? 'application/json').toContain('application/json');
        expect(body).not.toMatch(/\bat .*\.(js|ts):\d/);
      }
    }
    return responses;
  }

  it.each<[string, string | Buffer, number, string]>([
    ['no HTTP at all', 'HELLO\r\n\r\n', 400, 'MALFORMED_REQUEST'],
    ['a TLS greeting', Buffer.from('16030100a5010000a1', 'hex'), 400, 'MALFORMED_REQUEST'],
    ['a version that does not exist', 'GET /livez HTTP/7.7\r\nHost: x\r\n\r\n', 400, 'MALFORMED_REQUEST'],
    ['a method that does not exist', request('FETCH', RUN), 400, 'MALFORMED_REQUEST'],
    ['no Host', `GET /livez HTTP/1.1\r\nConnection: close\r\n\r\n`, 400, 'MALFORMED_REQUEST'],
    ['two Hosts', request('GET', '/livez', 'Host: y\r\n'), 400, 'MALFORMED_REQUEST'],
    [
      'a Host that is none',
      'GET /livez HTTP/1.1\r\nHost: a b/c@d\r\nConnection: close\r\n\r\n',
      400,
      'MALFORMED_REQUEST',
    ],
    ['a header without a name', request('GET', '/livez', ': x\r\n'), 400, 'MALFORMED_REQUEST'],
    ['a space before the colon', request('GET', '/livez', 'X-Y : x\r\n'), 400, 'MALFORMED_REQUEST'],
    ['huge headers', request('GET', '/livez', `X-Y: ${'y'.repeat(20_000)}\r\n`), 431, 'HEADERS_TOO_LARGE'],
    ['a huge path', request('GET', `/${'y'.repeat(20_000)}`), 431, 'HEADERS_TOO_LARGE'],
    ['a path that cannot be decoded', request('GET', '/api/v1/%zz'), 400, 'MALFORMED_REQUEST'],
    ['two lengths', post('{}', `${JSON_TYPE}Content-Length: 3\r\n`), 400, 'MALFORMED_REQUEST'],
    [
      'a negative length',
      'POST /api/v1/run HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n',
      400,
      'MALFORMED_REQUEST',
    ],
    [
      'a length and chunks',
      post('{}', `${JSON_TYPE}Transfer-Encoding: chunked\r\n`),
      400,
      'MALFORMED_REQUEST',
    ],
    [
      'a chunk of no size',
      `POST ${RUN} HTTP/1.1\r\nHost: x\r\n${JSON_TYPE}Transfer-Encoding: chunked\r\n\r\nxyz\r\n`,
      400,
      'MALFORMED_REQUEST',
    ],
    [
      'chunks beyond the limit',
      `POST ${RUN} HTTP/1.1\r\nHost: x\r\n${JSON_TYPE}Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n2100\r\n${padded(0x2100)}\r\n0\r\n\r\n`,
      413,
      'BODY_TOO_LARGE',
    ],
    ['a body one byte too large', post(padded(8193)), 413, 'BODY_TOO_LARGE'],
    [
      'a length too large, without the body',
      `POST ${RUN} HTTP/1.1\r\nHost: x\r\n${JSON_TYPE}Content-Length: 99999999\r\n\r\n`,
      413,
      'BODY_TOO_LARGE',
    ],
    ['plain text', post('{}', 'Content-Type: text/plain\r\n'), 415, 'UNSUPPORTED_MEDIA_TYPE'],
    [
      'a form',
      post('a=b', 'Content-Type: application/x-www-form-urlencoded\r\n'),
      415,
      'UNSUPPORTED_MEDIA_TYPE',
    ],
    ['no type', post('{}', ''), 415, 'UNSUPPORTED_MEDIA_TYPE'],
    ['a type that is none', post('{}', 'Content-Type: json\r\n'), 415, 'UNSUPPORTED_MEDIA_TYPE'],
    [
      'JSON in UTF-16',
      post('{}', 'Content-Type: application/json; charset=utf-16\r\n'),
      415,
      'UNSUPPORTED_MEDIA_TYPE',
    ],
    ...[
      'charset=utf-8;charset=utf-16',
      'charset=utf-16;charset=utf-8',
      'charset=utf-8;charset=utf-8',
      'charset = utf-16',
      'charset="utf-16',
      'charset=u"t"f-8',
      'charset=',
      'x=";";charset=utf-16',
      "charset*=utf-16''x",
      'utf-8',
      // Refused at once: each semicolon must not double the time.
      `${' ;'.repeat(1_000)} x`,
      `${'; '.repeat(1_000)}"`,
    ].map((parameters): [string, string, number, string] => [
      `JSON with ${parameters.slice(0, 30)}`,
      post('{}', `Content-Type: application/json;${parameters}\r\n`),
      415,
      'UNSUPPORTED_MEDIA_TYPE',
    ]),
    [
      'two types',
      post('{}', `${JSON_TYPE}Content-Type: application/json; charset=utf-16\r\n`),
      415,
      'UNSUPPORTED_MEDIA_TYPE',
    ],
    ['a gzipped body', post('{}', `${JSON_TYPE}Content-Encoding: gzip\r\n`), 415, 'UNSUPPORTED_MEDIA_TYPE'],
    [
      'a body compressed on its way',
      `POST ${RUN} HTTP/1.1\r\nHost: x\r\n${JSON_TYPE}Connection: close\r\nTransfer-Encoding: gzip, chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`,
      415,
      'UNSUPPORTED_MEDIA_TYPE',
    ],
    [
      'a header after 3,000 others',
      `POST ${RUN} HTTP/1.1\r\nHost: x\r\n${JSON_TYPE}${'a:\r\n'.repeat(3_000)}Content-Encoding: gzip\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}`,
      415,
      'UNSUPPORTED_MEDIA_TYPE',
    ],
    ['an expectation', post('{}', `${JSON_TYPE}Expect: 202-accepted\r\n`), 417, 'EXPECTATION_FAILED'],
    ['GET on run', request('GET', '/api/v1/run'), 405, 'METHOD_NOT_ALLOWED'],
    ['PUT on model', request('PUT', '/api/v1/model'), 405, 'METHOD_NOT_ALLOWED'],
    ['TRACE on run', request('TRACE', '/api/v1/run'), 405, 'METHOD_NOT_ALLOWED'],
    ['PROPFIND on run', request('PROPFIND', '/api/v1/run'), 405, 'METHOD_NOT_ALLOWED'],
    ['CONNECT', 'CONNECT example.org:443 HTTP/1.1\r\nHost: x\r\n\r\n', 405, 'METHOD_NOT_ALLOWED'],
    ['a path that does not exist', request('GET', '/api/v2/run'), 404, 'NOT_FOUND'],
    ['a slash too many', request('POST', '/api/v1/run/'), 404, 'NOT_FOUND'],
    ['another case', request('POST', '/API/v1/run'), 404, 'NOT_FOUND'],
    ['a body for nobody', post('no JSON', 'Content-Type: text/plain\r\n', '/nowhere'), 404, 'NOT_FOUND'],
  ])('%s', async (_, bytes, status, code) => {
    const responses = await answers(bytes);
    expect(responses).toHaveLength(1);
    expect(responses[0]!.status).toBe(status);
    expect(JSON.parse(responses[0]!.body)).toEqual({ error: expect.stringMatching(/\w.*\.$/), code });
  });

  it('names the methods that are allowed', async () => {
    const [run] = await answers(request('DELETE', '/api/v1/run'));
    const [model] = await answers(request('POST', '/api/v1/model'));
    expect(run!.headers['allow']).toBe('OPTIONS, POST');
    expect(model!.headers['allow']).toBe('GET, HEAD, OPTIONS');
  });

  it.each<[string, string]>([
    ['the largest body', post(padded(8192))],
    ['HTTP/1.0 without a Host', `POST ${RUN} HTTP/1.0\r\n${JSON_TYPE}Content-Length: 2\r\n\r\n{}`],
    ['a charset', post('{}', 'Content-Type: application/json; charset="UTF-8"\r\n')],
    ['blanks and nothing between semicolons', post('{}', 'Content-Type: application/json ; ;;\t; x=1 ;\r\n')],
    [
      'a parameter in quotes that looks like a charset',
      post('{}', 'Content-Type: application/json; x="a;charset=utf-16"\r\n'),
    ],
    ['a charset and something else', post('{}', 'Content-Type: application/json ; charset=utf8 ; q=1;\r\n')],
    ['a type in capitals', post('{}', 'Content-Type: APPLICATION/JSON\r\n')],
    ['an address for Host', post('{}').replace('Host: x', 'Host: [2001:db8::1]:8080')],
    ['an empty Host', post('{}').replace('Host: x', 'Host:')],
    ['a target in absolute form', post('{}', JSON_TYPE, `http://x${RUN}`)],
    ['an upgrade that is not wanted', post('{}', `${JSON_TYPE}Upgrade: h2c\r\n`)],
    [
      'chunks',
      `POST ${RUN} HTTP/1.1\r\nHost: x\r\n${JSON_TYPE}Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n1\r\n{\r\n1\r\n}\r\n0\r\n\r\n`,
    ],
  ])('takes %s', async (_, bytes) => {
    expect(await answers(bytes)).toMatchObject([{ status: 200 }]);
  });

  it('asks for the body of who expects 100-continue', async () => {
    const responses = await answers(post('{}', `${JSON_TYPE}Expect: 100-continue\r\n`));
    expect(responses.map(({ status }) => status)).toEqual([100, 200]);
  });

  it('answers HEAD like GET, without the body', async () => {
    const [get] = await answers(request('GET', '/api/v1/model'));
    const [head] = await exchange(service.port, [request('HEAD', '/api/v1/model')], { bodyless: [0] });
    expect(head!.status).toBe(200);
    for (const name of ['content-length', 'etag', 'content-type', 'cache-control']) {
      expect(head!.headers[name]).toBe(get!.headers[name]);
    }
    expect(head!.body).toBe('');
  });

  it('answers a preflight, and an OPTIONS that is none', async () => {
    const asks = 'Origin: https://a.example\r\nAccess-Control-Request-Method: POST\r\n';
    for (const wanted of ['content-type', 'authorization,traceparent, x-of-its-own', undefined]) {
      const wants = wanted === undefined ? '' : `${asks}Access-Control-Request-Headers: ${wanted}\r\n`;
      const [response] = await exchange(service.port, [request('OPTIONS', '/api/v1/run', wants)]);
      expect(response!.status).toBe(204);
      expect(response!.headers['access-control-allow-origin']).toBe('*');
      expect(response!.headers['access-control-allow-headers']).toBe(wanted);
      expect(response!.headers['vary']).toContain('Access-Control-Request-Headers');
      expect(response!.headers['access-control-allow-methods']).toContain('POST');
    }
  });

  it('answers pipelined requests in their order, and the broken one after them last', async () => {
    const keepAlive = (seed: number) =>
      post(`{"seed":${seed}}`).replace('Connection: close', 'Connection: keep-alive');
    const responses = await answers(`${keepAlive(1)}${keepAlive(2)}NO HTTP\r\n\r\n`);
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 400]);
    expect(responses.slice(0, 2).map(({ body }) => JSON.parse(body).seed)).toEqual([1, 2]);
  });

  it.each([
    ['a coding that has no end', 'POST', RUN, 'Transfer-Encoding: gzip', 415],
    ['a path that is none', 'POST', '/nowhere', CHUNKED, 404],
    ['a method that is not allowed', 'POST', '/api/v1/model', CHUNKED, 405],
    ['a body that is compressed', 'POST', RUN, `Content-Encoding: gzip\r\n${CHUNKED}`, 415],
    ['a body that nobody reads', 'GET', '/livez', CHUNKED, 200],
    ['nothing but that', 'POST', RUN, CHUNKED, 400],
  ])('answers a request once, with a broken body and %s', async (_, method, path, headers, status) => {
    const broken = `${method} ${path} HTTP/1.1\r\nHost: x\r\n${JSON_TYPE}${headers}\r\n\r\nno size\r\n`;
    expect((await answers(broken)).map((answer) => answer.status)).toEqual([status]);
    const before = 'GET /livez HTTP/1.1\r\nHost: x\r\n\r\n';
    const both = await exchange(service.port, [before + broken]);
    expect(both.map((answer) => answer.status)).toEqual([200, status]);
  });

  it('answers 64 requests that are sent without waiting, and ends a connection with more', async () => {
    const ask = (requests: number) =>
      exchange(service.port, ['GET /livez HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(requests)], { endAfter: 64 });
    expect((await ask(64)).map(({ status }) => status)).toEqual(Array.from({ length: 64 }, () => 200));
    expect((await ask(1_000)).length).toBeLessThan(64);
    expect((await service.get('/livez')).status).toBe(200);
  });

  it('warns of nothing when many runs come on one connection', async () => {
    const warnings: Error[] = [];
    const listen = (warning: Error) => void warnings.push(warning);
    process.on('warning', listen);
    const run = (seed: number) =>
      post(`{"seed":${seed}}`).replace('Connection: close', 'Connection: keep-alive');
    const runs = Array.from({ length: 40 }, (_, seed) => run(seed));
    expect(await exchange(service.port, [runs.join('')], { endAfter: 40 })).toHaveLength(40);
    process.off('warning', listen);
    expect(warnings).toEqual([]);
  });

  it('gives up on a body that does not come', async () => {
    const bytes = `POST ${RUN} HTTP/1.1\r\nHost: x\r\n${JSON_TYPE}Content-Length: 10\r\n\r\n{`;
    const [response] = await answers(bytes);
    expect(response).toMatchObject({ status: 408 });
  });

  it('gives up on headers that do not end', async () => {
    expect(await answers('GET /livez HTTP/1.1\r\nHost: x\r\n')).toMatchObject([{ status: 408 }]);
  });

  it('survives clients that leave in the middle', async () => {
    for (const bytes of [
      `POST ${RUN} HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n{`,
      post('{}'),
      'PO',
    ]) {
      await new Promise<void>((resolve) => {
        const socket = connect(service.port, '127.0.0.1', () => {
          socket.write(bytes, () => socket.destroy());
        });
        socket.on('close', () => resolve());
      });
    }
    expect((await service.post({})).status).toBe(200);
  });

  it('takes over a sane request id and no other', async () => {
    const idOf = async (id: string) =>
      (await answers(post('{}', `${JSON_TYPE}X-Request-Id: ${id}\r\n`)))[0]!.headers['x-request-id'];
    expect(await idOf('abc-123')).toBe('abc-123');
    expect(await idOf('a"b\tc')).toMatch(/^[0-9a-f-]{36}$/);
    expect(await idOf('x'.repeat(65))).toMatch(/^[0-9a-f-]{36}$/);
  });
});

it('who does not take an answer loses the connection', async () => {
  const service = await startReadyService({ RUN_TIMEOUT_MS: '500' }, { requestTimeoutMs: 1_500 });
  const server = service.app.getHttpServer() as Server;
  const accepted = once(server, 'connection') as Promise<[Socket]>;
  const client = connect(service.port, '127.0.0.1').on('error', () => undefined);
  client.pause();
  // More than the buffers of the system hold.
  client.write(`GET ${largestAsset()} HTTP/1.1\r\nHost: x\r\n\r\n`.repeat(60));
  const [socket] = await accepted;
  const sinceMs = performance.now();
  await once(socket, 'close');
  expect(performance.now() - sinceMs).toBeGreaterThan(1_900);
  expect(socket.bytesWritten).toBeGreaterThan(100_000);
  client.destroy();
  await service.stop();
});
