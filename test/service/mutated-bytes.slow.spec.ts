/** Valid requests with some of their bytes changed, left out, doubled or moved: every answer is a documented one. */
import { connect } from 'node:net';
import fc from 'fast-check';
import { check } from '../support/contract.js';
import { parseResponses, type RawResponse } from '../support/raw-http.js';
import { startReadyService, type Service } from '../support/service.js';

const SEED = 20_240_783;
const BATCHES = 100;
const BATCH = 20;
const PATIENCE_MS = 80;
const BODY = '{"stimulus":"loom","duration_ms":50,"intensity":1.5,"seed":7}';
const HEAD = 'Host: x\r\nAccept-Encoding: identity\r\nX-Request-Id: abc\r\n';
const REQUESTS = [
  `POST /api/v1/run?view=drive HTTP/1.1\r\n${HEAD}Content-Type: application/json\r\nContent-Length: ${BODY.length}\r\n\r\n${BODY}`,
  `POST /api/v1/run HTTP/1.1\r\n${HEAD}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`,
  `GET /api/v1/model HTTP/1.1\r\n${HEAD}If-None-Match: W/"a", "b"\r\nRange: bytes=0-1\r\n\r\n`,
  `OPTIONS /api/v1/run HTTP/1.1\r\n${HEAD}Origin: http://a.example\r\nAccess-Control-Request-Method: POST\r\n\r\n`,
].map((text) => Buffer.from(text, 'latin1'));
/** Bytes that mean something to a parser, more often than chance would have it. */
const SPLICES = [
  '\r\n',
  '\n',
  '\r',
  '\0',
  ' ',
  ':',
  '\t',
  '%',
  '"',
  '{',
  '\u00ff',
  '0',
  'Content-Length: 5\r\n',
];

const mutation = fc.record({
  kind: fc.constantFrom('set', 'remove', 'insert', 'double', 'cut'),
  at: fc.nat(999),
  length: fc.integer({ min: 1, max: 12 }),
  bytes: fc.oneof(
    fc.constantFrom(...SPLICES).map((text) => Buffer.from(text, 'latin1')),
    fc.uint8Array({ minLength: 1, maxLength: 4 }).map((bytes) => Buffer.from(bytes)),
  ),
});

function mutated(
  request: Buffer,
  { kind, at, length, bytes }: { kind: string; at: number; length: number; bytes: Buffer },
): Buffer {
  const from = Math.floor((at / 1_000) * request.length);
  const [before, part, after] = [
    request.subarray(0, from),
    request.subarray(from, from + length),
    request.subarray(from + length),
  ];
  switch (kind) {
    case 'set':
      return Buffer.concat([before, bytes, after]);
    case 'remove':
      return Buffer.concat([before, after]);
    case 'insert':
      return Buffer.concat([before, bytes, part, after]);
    case 'double':
      return Buffer.concat([before, part, part, after]);
    default:
      return before;
  }
}

let service: Service;
beforeAll(async () => {
  service = await startReadyService({}, { requestTimeoutMs: 1_500 });
});
afterAll(() => service.stop());

/**
 * All answers to the bytes. An incomplete request gets none, so the client closes after a while; not at once, because
 * a client that closes is one that has gone.
 */
function answersTo(bytes: Buffer): Promise<RawResponse[]> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    const socket = connect(service.port, '127.0.0.1', () => socket.write(bytes));
    setTimeout(() => socket.end(), PATIENCE_MS);
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(parseResponses(Buffer.concat(chunks))));
  });
}

function checkResponse({ status, headers, body }: RawResponse): void {
  expect(status).toBeLessThan(500);
  if (status === 100) return;
  expect(headers['access-control-allow-origin']).toBe('*');
  if (status >= 400) check(`${status}`, { $ref: '#/components/schemas/ErrorResponse' }, JSON.parse(body));
}

it(`${BATCHES * BATCH} mutated requests never make the service fail`, async () => {
  const seen = new Set<number>();
  const request = fc
    .tuple(fc.constantFrom(...REQUESTS), fc.array(mutation, { minLength: 1, maxLength: 3 }))
    .map(([valid, mutations]) => mutations.reduce(mutated, valid));
  await fc.assert(
    fc.asyncProperty(fc.array(request, { minLength: BATCH, maxLength: BATCH }), async (batch) => {
      for (const response of (await Promise.all(batch.map(answersTo))).flat()) {
        checkResponse(response);
        seen.add(response.status);
      }
    }),
    { seed: SEED, numRuns: BATCHES, endOnFailure: true },
  );
  // The mutations are neither all harmless nor all the same.
  for (const status of [200, 204, 400, 404, 415]) expect([...seen]).toContain(status);
  expect((await service.post({})).status).toBe(200);
}, 120_000);
