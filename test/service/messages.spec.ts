/** Messages of failures: the field, its value and the allowed values, in one safe line. */
import fc from 'fast-check';
import { exchange } from '../support/raw-http.js';
import { startReadyService, type Service } from '../support/service.js';

const SEED = 20_240_783;
const MAX_MESSAGE_LENGTH = 300;

/** Characters that act on a terminal, a log or a page instead of being shown. */
const ACTING = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;

/** Half of a character, which no URL can hold. */
const HALF = /\p{Cs}/u;

const HOSTILE: readonly [string, string][] = [
  ['a huge string', 'x'.repeat(3_500)],
  ['a huge string of characters of four bytes', '🪰'.repeat(900)],
  ['line breaks', 'a\r\nHTTP/1.1 200 OK\r\n\r\n{"level":60}'],
  ['line breaks of Unicode', 'a\u2028b\u2029c\u0085d'],
  ['colours and bells of a terminal', '\u001b[31mred\u001b]0;title\u0007\u009b31m'],
  ['zero bytes', 'sugar\u0000'],
  ['text that turns its direction', 'sugar\u202egnp.exe\u2066\u200f'],
  ['invisible characters', 'su\u200bgar\u00ad\ufeff\u{e0041}'],
  ['half a character', 'sugar\ud83e'],
  ['marks that pile up', `s${'\u0301'.repeat(500)}`],
  ['placeholders of the validator', '$value $property $target $constraint1 '.repeat(50)],
  ['placeholders of replace()', "$& $1 $` $' $$"],
  ['markup', '<script>alert(1)</script><!--'],
  ['quotes and backslashes', `"'\\`.repeat(100)],
  ['a path', '../../etc/passwd%00'],
  ['a format', '%s%n%d {0} ${7*7} {{7*7}}'],
];

let service: Service;
const lines: string[] = [];

beforeAll(async () => {
  service = await startReadyService(
    { LOG_LEVEL: 'trace' },
    { logTo: { write: (line: string) => void lines.push(line) } },
  );
});
afterAll(() => service.stop());

function expectSafe(message: string): void {
  expect({ message, acting: ACTING.exec(message)?.[0] }).toEqual({ message, acting: undefined });
  expect(message.length).toBeLessThanOrEqual(MAX_MESSAGE_LENGTH);
  expect(message).toMatch(/\.$/);
}

async function messageOf(body: unknown, query = ''): Promise<string> {
  const response = await service.post(body, `/api/v1/run${query}`);
  const { error, code } = await response.json();
  expect([response.status, code]).toEqual([400, 'INVALID_PARAMETER']);
  expectSafe(error);
  return error;
}

describe.each(HOSTILE)('%s', (_, text) => {
  it.each([
    ['stimulus', 'one of sugar, loom'],
    ['duration_ms', 'one of 50, 100, 150, 200'],
    ['intensity', 'a number from 0 to 2'],
    ['seed', 'an integer from 0 to 4294967295'],
  ])('as %s', async (field, allowed) => {
    for (const value of [text, [text], { [text]: text }, [[[{ a: [text] }]]]]) {
      const message = await messageOf({ [field]: value });
      expect(message.startsWith(`${field} must be ${allowed}`)).toBe(true);
      expect(message).toMatch(/, got ["[{]/);
    }
  });

  it('as the name of a field, as the body, in the query', async () => {
    expect(await messageOf({ [text]: 1 })).toContain(' is not a field; allowed: stimulus, ');
    expect(await messageOf(JSON.stringify(text))).toMatch(/^The body must be a JSON object, got "/);
    if (text.length > 4_000 || HALF.test(text)) return;
    const encoded = encodeURIComponent(text);
    expect(await messageOf({}, `?view=${encoded}`)).toMatch(/^view must be one of full, drive, got "/);
    expect(await messageOf({}, `?${encoded}=1`)).toMatch(/^".* is not a query parameter; allowed: view\.$/);
  });

  it('as a body that is no JSON, and as a path', async () => {
    const broken = await service.post(`{${text}`);
    expect(broken.status).toBe(400);
    expectSafe((await broken.json()).error);
    if (HALF.test(text)) return;
    for (const path of [
      `/${encodeURIComponent(text).slice(0, 4_000)}`,
      `/atlas/${encodeURIComponent(text)}`,
    ]) {
      const missing = await service.get(path).catch(() => undefined);
      if (missing === undefined || missing.status === 431) continue;
      expect([400, 404]).toContain(missing.status);
      expectSafe((await missing.json()).error);
    }
  });
});

it('bytes of all kinds in headers, paths and methods are as harmless', async () => {
  const noise = fc
    .uint8Array({ minLength: 1, maxLength: 60 })
    .map((bytes) => Buffer.from(bytes).toString('latin1'));
  await fc.assert(
    fc.asyncProperty(noise, fc.constantFrom(0, 1, 2, 3, 4, 5), async (text, place) => {
      const put = (at: number) => (at === place ? text : '');
      const request =
        `POST /api/v1/run${put(0)} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json${put(1)}\r\n` +
        `X-Request-Id: ${put(2)}\r\n${place === 3 ? `Expect: ${text}\r\n` : ''}` +
        `${place === 4 ? `Content-Encoding: ${text}\r\n` : ''}Content-Length: 2\r\nConnection: close\r\n\r\n{}`;
      const bytes = place === 5 ? Buffer.from(text + request, 'latin1') : Buffer.from(request, 'latin1');
      for (const { status, headers, body } of await exchange(service.port, [bytes])) {
        if (status === 200 || status === 100) continue;
        expect(status).toBeLessThan(500);
        expect(headers['x-request-id'] ?? '').toMatch(/^[\w.:-]*$/);
        expectSafe(JSON.parse(body).error);
      }
    }),
    { seed: SEED, numRuns: 400 },
  );
});

it('a path that is known and a method that is not are shown cut as well', async () => {
  const [answer] = await exchange(service.port, [
    `DELETE /atlas/${'y'.repeat(10_000)} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
  ]);
  expect(answer!.status).toBe(405);
  expectSafe(JSON.parse(answer!.body).error);
});

it('the log has one line for each event, and nobody else writes lines into it', () => {
  expect(lines.length).toBeGreaterThan(300);
  for (const line of lines) {
    expect(line.indexOf('\n')).toBe(line.length - 1);
    const { level, msg, request } = JSON.parse(line) as Record<string, unknown>;
    expect(level).toBeLessThan(50);
    expect(String(request ?? '')).toMatch(/^[\w.:-]*$/);
    expect(line.length).toBeLessThan(2_000);
    expect({ msg, acting: ACTING.exec(String(msg))?.[0] }).toEqual({ msg, acting: undefined });
  }
});
