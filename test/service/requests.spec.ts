import fc from 'fast-check';
import { startReadyService, type Answer, type Service } from '../support/service.js';
import { SMALL_STIMULI } from '../support/small-connectome.js';

const SEED = 20_240_783;
const CASES = 400;

/** One document of JSON is enough for all cases, and the shortest runs. */
const stimulus = fc.constantFrom(...SMALL_STIMULI, 'none');
const fields = {
  stimulus: [stimulus, fc.oneof(fc.string(), fc.integer(), fc.constant(null), fc.constant(['sugar']))],
  duration_ms: [
    fc.constantFrom(50, 100, 150, 200),
    fc.oneof(fc.integer(), fc.double(), fc.constantFrom('50', null, [50])),
  ],
  intensity: [
    fc.oneof(fc.double({ min: 0, max: 2, noNaN: true }), fc.constantFrom(-0, 0, 1, 2)),
    fc.oneof(
      fc.double({ min: 2.0001, noNaN: true, noDefaultInfinity: true }),
      fc.constantFrom('1', null, true, -1e-9),
    ),
  ],
  seed: [
    fc.oneof(fc.nat(9), fc.constantFrom(0, 2 ** 32 - 1)),
    fc.oneof(fc.integer({ max: -1 }), fc.constantFrom(2 ** 32, 0.5, 1e300, '42', null, {})),
  ],
} as const;
const NAMES = Object.keys(fields) as (keyof typeof fields)[];

/** Rules of a valid request, written independently of the service. */
function isValid(body: Readonly<Record<string, unknown>>): boolean {
  return Object.entries(body).every(([name, value]) => {
    switch (name) {
      case 'stimulus':
        return value === 'none' || (SMALL_STIMULI as readonly unknown[]).includes(value);
      case 'duration_ms':
        return value === 50 || value === 100 || value === 150 || value === 200;
      case 'intensity':
        return typeof value === 'number' && value >= 0 && value <= 2;
      case 'seed':
        return typeof value === 'number' && Math.floor(value) === value && value >= 0 && value < 2 ** 32;
      default:
        return false;
    }
  });
}

describe('requests', () => {
  let service: Service;

  beforeAll(async () => {
    service = await startReadyService({ WORKERS: '2' });
  });
  afterAll(() => service.stop());

  it('are answered as they should be, valid ones with their own values', async () => {
    const body = fc.record(
      Object.fromEntries(
        NAMES.map((name) => [
          name,
          fc.oneof<fc.MaybeWeightedArbitrary<unknown>[]>(
            { arbitrary: fields[name][0], weight: 6 },
            { arbitrary: fields[name][1], weight: 1 },
          ),
        ]),
      ),
      { requiredKeys: [] },
    );
    const unknown = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 1 }), { maxKeys: 1 });
    let valid = 0;
    await fc.assert(
      fc.asyncProperty(body, fc.option(unknown, { freq: 10, nil: {} }), async (known, extra) => {
        // JSON has no -0 and no undefined, so compare the values that arrive.
        const sent = JSON.stringify({ ...extra, ...known }).replace(
          /"intensity":0(?=[,}])/,
          '"intensity":-0',
        );
        const arrived = JSON.parse(sent) as Record<string, unknown>;
        const response = await service.post(sent, '/api/v1/run?view=drive');
        if (isValid(arrived)) {
          valid++;
          expect(response.status).toBe(200);
          const answer = await response.json();
          const defaults = { stimulus: 'sugar', duration_ms: 100, intensity: 1, seed: 42 };
          const { stimulus, duration_ms, intensity, seed } = answer;
          const applied = { ...defaults, ...arrived };
          expect({ stimulus, duration_ms, intensity, seed }).toEqual({
            ...applied,
            intensity: (applied.intensity as number) + 0,
          });
        } else {
          expect(response.status).toBe(400);
          const { error } = await response.json();
          expect(NAMES.some((name) => error.includes(name))).toBe(true);
          expect(error.length).toBeLessThan(300);
        }
      }),
      { seed: SEED, numRuns: CASES },
    );
    expect(valid).toBeGreaterThan(CASES / 4);
    expect(valid).toBeLessThan((CASES * 3) / 4);
  });

  it.each<[string, string, string]>([
    ['null', 'null', 'The body must be a JSON object, got null.'],
    ['a list', '[]', 'The body must be a JSON object, got [].'],
    ['a number', '1', 'The body must be a JSON object, got 1.'],
    ['a string', '"sugar"', 'The body must be a JSON object, got "sugar".'],
    ['a null field', '{"seed":null}', 'seed must be an integer from 0 to 4294967295, got null.'],
    ['a numeric string', '{"seed":"42"}', 'seed must be an integer from 0 to 4294967295, got "42".'],
    ['a number that is none', '{"intensity":NaN}', 'The body is not valid JSON'],
    ['too large a number', '{"intensity":1e400}', 'intensity must be a number from 0 to 2, got Infinity.'],
    [
      'one seed too far',
      '{"seed":4294967296}',
      'seed must be an integer from 0 to 4294967295, got 4294967296.',
    ],
    ['half a seed', '{"seed":1.5}', 'seed must be an integer from 0 to 4294967295, got 1.5.'],
    ['__proto__', '{"__proto__":{"seed":1}}', '"__proto__" is not a field'],
    ['constructor', '{"constructor":1}', '"constructor" is not a field'],
    ['toString', '{"toString":1}', '"toString" is not a field'],
    ['a field in another case', '{"Seed":1}', '"Seed" is not a field'],
    ['depth', '['.repeat(4000) + ']'.repeat(4000), 'The body must be a JSON object, got [[['],
    ['depth in a field', `{"stimulus":${'['.repeat(4000)}${']'.repeat(4000)}}`, 'stimulus must be one of'],
    ['deep objects in a field', `{"seed":${'[{"a":'.repeat(1000)}1${'}]'.repeat(1000)}}`, 'seed must be an'],
    [
      'values that pose as something else',
      '{"stimulus":{"constructor":{"name":"x"},"then":1}}',
      'stimulus must be',
    ],
    [
      'a value that poses as a string',
      '{"stimulus":{"toJSON":1,"toString":1,"valueOf":1}}',
      'stimulus must be',
    ],
    [
      'a value that poses as a list',
      '{"duration_ms":{"length":4294967295,"0":50}}',
      'duration_ms must be one of',
    ],
    [
      'half of JSON',
      '{"seed":',
      'The body is not valid JSON: "{\\"seed\\":"; the fault is in line 1, column 9.',
    ],
    ['JSON and more', '{}{}', 'The body is not valid JSON'],
    ['a very long value', `{"stimulus":"${'x'.repeat(5000)}"}`, 'xxx…'],
    ['a line break in a value', '{"stimulus":"a\\nb"}', 'got "a\\nb".'],
  ])('with %s are refused, and told why', async (_, body, message) => {
    const response = await service.post(body);
    expect(response.status).toBe(400);
    const { error } = await response.json();
    expect(error).toContain(message);
    expect(error).not.toContain('\n');
  });

  it.each<[string, string, object]>([
    ['1.0', '{"duration_ms":100.0,"seed":1.0}', { duration_ms: 100, seed: 1 }],
    ['-0', '{"intensity":-0,"seed":-0}', { intensity: 0, seed: 0 }],
    ['a doubled key', '{"seed":1,"seed":2}', { seed: 2 }],
    ['a byte order mark', '\ufeff{"seed":3}', { seed: 3 }],
    ['escapes', '{"\\u0073eed":4}', { seed: 4 }],
    ['the last seed', '{"seed":4294967295}', { seed: 4294967295 }],
    ['the first seed', '{"seed":0}', { seed: 0 }],
  ])('with %s are taken', async (_, body, applied) => {
    const response = await service.post(body, '/api/v1/run?view=drive');
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject(applied);
  });

  it('with -0 are the same experiment as with 0', async () => {
    const id = async (body: string) => (await (await service.post(body)).json()).id;
    expect(await id('{"intensity":-0,"seed":-0}')).toBe(await id('{"intensity":0,"seed":0}'));
  });

  it('that are not UTF-8 are refused', async () => {
    const response = await fetch(`${service.url}/api/v1/run`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]),
    });
    expect(response.status).toBe(400);
    expect(await response.json()).toEqual({
      error: 'The body is not valid UTF-8.',
      code: 'MALFORMED_REQUEST',
    });
  });

  it.each([
    ['view=both', 'view must be one of full, drive, got "both".'],
    ['view=', 'view must be one of full, drive, got "".'],
    ['view=full&view=drive', 'view must be one of full, drive, got ["full","drive"].'],
    ['views=full', '"views" is not a query parameter; allowed: view.'],
    ['__proto__=1', '"__proto__" is not a query parameter'],
    ['constructor=1', '"constructor" is not a query parameter'],
    ['seed=1', '"seed" is not a query parameter'],
  ])('with the query %s are refused', async (query, message) => {
    const response: Answer = await service.post({}, `/api/v1/run?${query}`);
    expect(response.status).toBe(400);
    expect((await response.json()).error).toContain(message);
  });
});
