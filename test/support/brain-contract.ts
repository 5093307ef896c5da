/** The contract of a brain, wherever it is computed: answers and refusals are those of the service's HTTP API, as text. */
import fc from 'fast-check';
import { randomInt } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import type { Connectome } from '../../src/engine/connectome/connectome.js';
import { openConnectome } from '../../src/engine/connectome/format.js';
import { STIMULUS_IDS } from '../../src/experiments/presets/populations.js';
import {
  abortOf,
  abortOfSlowReader,
  answersOf,
  type AskedRun,
  branchesOf,
  type Course,
  courseOf,
  eventsOf,
  figuresOf,
  type Outcome,
  runsOf,
  stepsAgain,
} from './brain-deeds.js';
import { connect } from '../../clients/typescript/src/client.js';
import type { OpenedBrain, Place } from './brain-places.js';
import { connectomeFile } from './connectomes.js';
import { EDITED_GOLDENS, editedGoldenDocument, OPEN_GOLDENS, openGolden } from './golden-documents.js';
import { describeWith } from './requirements.js';
import { startProcess, type ServiceProcess } from './service-process.js';
import { variedDocuments } from './varied-documents.js';

/** SEED repeats the random runs, documents and steps of a failure. */
const SEED = Number(process.env['SEED'] ?? randomInt(1, 2 ** 31 - 1));
/** The seed of random documents is fixed, because one of some seeds takes three minutes. */
const SEED_OF_DOCUMENTS = Number(process.env['SEED'] ?? 1_825_137_750);
const SEEDS_PER_STIMULUS = 20;
const SESSION_MS = 60_000;

/** Numbers of the generator of Park and Miller. */
function numbersFrom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => (state = (state * 48_271) % 0x7fffffff) % below;
}

/** Starts a service without limits before all tests of a block. @param connectome its name in connectomes.ts */
export function serveBrain(connectome: 'default' | 'measured-predicted'): () => HttpBrain {
  let service: ServiceProcess;
  let brain: HttpBrain;
  beforeAll(async () => {
    const variables = {
      CONNECTOME_FILE: await connectomeFile(connectome),
      EXPERIMENT_BRAIN_SECONDS: '1000000',
      EXPERIMENT_BRAIN_SECONDS_PER_MINUTE: '0',
    };
    service = await startProcess(variables);
    await service.untilReady();
    brain = new HttpBrain(service.url);
  }, 300_000);
  afterAll(() => service.stop());
  return () => brain;
}

/** Asks a service without the client. */
export class HttpBrain {
  constructor(readonly url: string) {}

  async ask(path: string, body: object): Promise<Outcome> {
    const init = {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    };
    const response = await fetch(this.url + path, init);
    const text = await response.text();
    if (response.ok) return text;
    const { code, path: place, error } = JSON.parse(text) as { code: string; path?: string; error: string };
    return { code, ...(place !== undefined && { path: place }), message: error };
  }

  runs(runs: readonly AskedRun[]): Promise<Outcome[]> {
    return inTurn(runs, ({ request, view }) => this.ask(`/api/v1/run?view=${view}`, request));
  }

  answers(documents: readonly object[]): Promise<Outcome[]> {
    return inTurn(documents, (document) => this.ask('/api/v2/experiments', document));
  }

  /** As courseOf does it. */
  async course({ document, changes }: Course): Promise<Outcome[]> {
    const state = JSON.parse((await this.ask('/api/v2/sessions', document)) as string) as {
      session: string;
      t_ms: number;
    };
    const path = `/api/v2/sessions/${state.session}`;
    let { t_ms } = state;
    const outcomes: Outcome[] = [];
    for (const change of changes) {
      const query = outcomes.length % 4 === 0 ? '?drive=true' : '';
      const outcome = await this.ask(`${path}/steps${query}`, { t_ms, ...change });
      if (typeof outcome === 'string') ({ t_ms } = JSON.parse(outcome) as { t_ms: number });
      outcomes.push(outcome);
    }
    outcomes.push(await (await fetch(`${this.url}${path}/document`)).text());
    await fetch(this.url + path, { method: 'DELETE' });
    return outcomes;
  }
}

async function inTurn<A, R>(items: readonly A[], each: (item: A) => Promise<R>): Promise<R[]> {
  const results = [];
  for (const item of items) results.push(await each(item));
  return results;
}

/** A short message if two texts differ: the position, and the text there. */
export function expectSame(
  found: readonly Outcome[],
  expected: readonly Outcome[],
  names?: readonly string[],
): void {
  expect(found).toHaveLength(expected.length);
  const differences = expected.flatMap((own, at) => {
    const other = found[at]!;
    if (typeof own !== 'string' || typeof other !== 'string') {
      const texts = [other, own].map((each) => JSON.stringify(each).slice(0, 300));
      return texts[0] === texts[1] ? [] : [[names?.[at] ?? at, ...texts]];
    }
    if (own === other) return [];
    let from = 0;
    while (own[from] === other[from]) from++;
    return [
      [names?.[at] ?? at, ...[other, own].map((each) => each.slice(Math.max(0, from - 60), from + 60))],
    ];
  });
  expect(differences).toEqual([]);
}

/** Documents of examples/, each short. */
function examples(): Record<string, object> {
  const folder = 'examples';
  const names = readdirSync(folder).filter((name) => name.endsWith('.json'));
  const shorter: Readonly<Record<string, object>> = {
    'shiu2024-fig1f.json': {
      sweep: [{ each: { responders_of: 'baseline', top: 12 }, group_by: ['neuron', 'type'], as: 'silence' }],
    },
    // A service refuses it at once: it takes more cells than one answer may have.
    'matched-screen.json': {
      sweep: [{ each: { responders_of: 'baseline', top: 12 }, group_by: ['neuron', 'type'], as: 'silence' }],
      controls: { silence: 'matched', match: ['super_class', 'side'], count: 3 },
    },
    'resting-knockdown.json': {
      duration_ms: 200,
      controls: { connection_overrides: 'matched', match: ['super_class', 'activity'], count: 20 },
    },
    'shiu2024-shuffled.json': { controls: { shuffle: 'weights', count: 6 } },
    'shiu2024-fig3a.json': { duration_ms: 200 },
    'shiu2024-fig2.json': { duration_ms: 50 },
    'looming-relay.json': { trials: 3 },
  };
  return Object.fromEntries(
    names.map((name) => {
      const document = JSON.parse(readFileSync(`${folder}/${name}`, 'utf8')) as object;
      return [name, { ...document, trials: 1, ...shorter[name] }];
    }),
  );
}

export const SUGAR = { inputs: { sugar: { node_set: '@sugar', rate_hz: 100 } } };
export const SHORT = { ...SUGAR, duration_ms: 50 };

/** Each is refused, with another sentence. */
const REFUSED: readonly object[] = [
  [],
  { trial: 3 },
  { trials: 0 },
  { trials: 1.5 },
  { duration_ms: '100' },
  { duration_ms: -1 },
  { seed: 2 ** 40 },
  { inputs: { sugar: {} } },
  { inputs: { sugar: { node_set: '@suger' } } },
  { inputs: { sugar: { node_set: ['LC4', 'LC4x'] } } },
  { inputs: { sugar: { node_set: 'no such type*' } } },
  { inputs: { sugar: { node_set: { root_id: ['12'] } } } },
  { inputs: { sugar: { node_set: { type: 'LC4', side: 'top' } } } },
  { inputs: { sugar: { node_set: { type: 'LC4', side: 'center' } } } },
  { inputs: { sugar: { node_set: '@sugar', rate_hz: -3 } } },
  { inputs: { sugar: { node_set: '@sugar', module: 'spike' } } },
  { inputs: { sugar: { node_set: '@sugar', module: 'spikes', times_ms: [5, -4] } } },
  { inputs: { '': { node_set: '@sugar' } } },
  { inputs: { __proto__x: { node_set: '@sugar', constructor: 1 } } },
  { ...SHORT, silence: ['LC4', 'giant fibre'] },
  { ...SHORT, silence: [{ node_set: 'LC4', start_ms: 40, end_ms: 30 }] },
  { ...SHORT, reports: { MN9: { node_set: '@MN9', type: 'rates' } } },
  { ...SHORT, reports: { MN9: { node_set: '@MN9', group_by: ['sides'] } } },
  { ...SHORT, reports: { MN9: { node_set: '@MN9', type: 'histogram', bin_ms: 0 } } },
  { ...SHORT, reports: { v: { node_set: '@all', type: 'membrane', dt_ms: 0.1 } } },
  { ...SHORT, sweep: [{ set: 'inputs.salt.rate_hz', values: [1] }] },
  { ...SHORT, sweep: [{ set: 'inputs.sugar.rate_hz', values: [] }] },
  { ...SHORT, sweep: [{ set: 'inputs.sugar.rate_hz', from: 0, to: 10, step: 0 }] },
  { ...SHORT, connection_overrides: { none: { source: 'LC4', target: '@MN9', weight: 2 } } },
  { ...SHORT, constants: { threshold_mv: -80 } },
  { ...SHORT, constants: { treshold_mv: -44 } },
  { ...SHORT, controls: { shuffle: 'everything', count: 3 } },
  { ...SHORT, controls: { shuffle: 'weights', count: 0 } },
  { inputs: { all: { node_set: '@all', rate_hz: 1000 } } },
];

const REFUSED_RUNS: readonly AskedRun[] = [
  { stimulus: 'salt' },
  { duration_ms: 120 },
  { intensity: -1 },
  { intensity: 'strong' },
  { seed: 1.5 },
  { seed: -1 },
  { sede: 1 },
].map((request) => ({ request: request as AskedRun['request'], view: 'full' }));

/** A session of SESSION_MS whose rates and silences change; some steps are refused. */
function course(): Course {
  const next = numbersFrom(SEED);
  const changes: Course['changes'][number][] = [];
  for (let tMs = 0; tMs < SESSION_MS;) {
    const duration_ms = Math.min([20, 50, 200, 333, 1000][next(5)]!, SESSION_MS - tMs);
    const rates_hz = { sugar: next(3) * 40, loom: next(4) * 10 };
    const silence = [['PVLP122b'], ['@MN9', 'LC4:left'], []][next(3)]!;
    changes.push({
      duration_ms,
      ...(next(3) === 0 && { rates_hz }),
      ...(next(6) === 0 && { silence }),
    });
    if (next(12) === 0) {
      const refused = [{ rates_hz: { salt: 1 } }, { silence: ['LC4x'] }, { rates_hz: { sugar: -1 } }][
        next(3)
      ]!;
      changes.push({ duration_ms: 20, ...(refused as object) });
    }
    tMs += duration_ms;
  }
  return {
    changes,
    document: {
      inputs: {
        sugar: { node_set: '@sugar', rate_hz: 0 },
        loom: { node_set: 'LC4', rate_hz: 20 },
        noise: { node_set: '@MN9', module: 'background', rate_hz: 3, event_mv: 30 },
      },
      reports: {
        spikes: { node_set: ['@MN9', 'DN*'], type: 'spikes' },
        relays: { node_set: 'PVLP*', group_by: ['type'] },
        v: { node_set: 'DNp01', type: 'membrane', dt_ms: 10 },
      },
      seed: SEED,
    },
  };
}

/** A step, or a condition of one trial, of the document of `course`. */
interface Spiked {
  readonly reports: {
    readonly spikes: {
      readonly t_ms: readonly number[];
      readonly root_id: readonly string[];
      readonly truncated?: true;
    };
  };
}

/** A line for each spike. */
function spikesIn(parts: readonly Spiked[]): string {
  return parts
    .flatMap(({ reports: { spikes } }) => {
      expect(spikes.truncated).toBeUndefined();
      return spikes.t_ms.map((tMs, row) => `${tMs} ${spikes.root_id[row]}`);
    })
    .join('\n');
}

const REFUSED_SESSIONS: readonly object[] = [
  { ...SUGAR, trials: 2 },
  { ...SUGAR, sweep: [{ set: 'inputs.sugar.rate_hz', values: [1] }] },
  { ...SUGAR, inputs: { sugar: { node_set: '@suger' } } },
];

/** Long enough to be aborted, on every machine. */
export const ENDLESS = {
  ...SUGAR,
  trials: 100,
  duration_ms: 1000,
  sweep: [{ set: 'seed', from: 1, to: 400, step: 1 }],
};
const MANY_LINES = { ...SHORT, trials: 1, sweep: [{ set: 'seed', from: 1, to: 500, step: 1 }] };

/** @param source of the default brain at that place */
export function describeContract(
  place: Place,
  http: () => HttpBrain,
  source: () => string | undefined,
): void {
  describe(`${place.name}, SEED=${SEED}`, () => {
    let brain: OpenedBrain;
    beforeAll(async () => {
      brain = await place.open(source());
    });
    afterAll(() => brain.close());

    it.each([...STIMULUS_IDS, 'none'] as const)(
      `gives the text of the service for ${SEEDS_PER_STIMULUS} runs of %s in both views`,
      async (stimulus) => {
        const next = numbersFrom(SEED + stimulus.length);
        const runs = Array.from({ length: SEEDS_PER_STIMULUS }, () => ({
          stimulus,
          duration_ms: ([50, 100, 150, 200] as const)[next(4)]!,
          intensity: next(301) / 100,
          seed: next(2 ** 31),
        })).flatMap((request) => (['full', 'drive'] as const).map((view) => ({ request, view })));
        const [expected, own] = await Promise.all([http().runs(runs), brain.use(runsOf, runs)]);
        expect(new Set(expected).size).toBe(2 * SEEDS_PER_STIMULUS);
        expectSame(own, expected);
      },
    );

    it('refuses runs in the same words', async () => {
      const expected = await http().runs(REFUSED_RUNS);
      expect(expected.every((each) => typeof each === 'object')).toBe(true);
      expectSame(await brain.use(runsOf, REFUSED_RUNS), expected);
    });

    it.each(Object.entries(examples()))(
      'gives the answer of the service to examples/%s',
      async (name, document) => {
        expectSame(await brain.use(answersOf, [document]), await http().answers([document]), [name]);
      },
    );

    it('gives the answers of the service to random documents', async () => {
      const parts = {
        stimulated: ['LC4', 'LB3', 'ORN_DM1:left'],
        read: ['DN*', 'DNp01'],
        many: [{ super_class: ['central', 'descending'] }],
        backgroundRateHz: 0.5,
        durationMs: 60,
      };
      const documents = fc.sample(variedDocuments(parts), { seed: SEED_OF_DOCUMENTS, numRuns: 12 });
      const expected = await http().answers(documents);
      expect(expected.filter((each) => typeof each === 'string').length).toBeGreaterThan(6);
      expectSame(await brain.use(answersOf, documents), expected);
    });

    it('draws the figures of the service', async () => {
      const raster = { node_set: '@MN9', type: 'spikes' };
      const sweep = [{ set: 'inputs.sugar.rate_hz', values: [50, 100] }];
      const documents = [
        { ...SHORT, reports: { mn9: '@MN9', raster } },
        { ...SHORT, sweep },
      ];
      const ask = (document: object) => http().ask('/api/v2/experiments?format=svg', document);
      expectSame(await brain.use(figuresOf, documents), await inTurn(documents, ask));
    });

    it('refuses documents in the same words', async () => {
      const expected = await http().answers(REFUSED);
      expect(REFUSED.filter((_, at) => typeof expected[at] === 'string')).toEqual([]);
      expectSame(await brain.use(answersOf, REFUSED), expected);
    });

    it('steps a session of 60 s as the service, and leaves the same document, which replays it', async () => {
      const stepped = course();
      const own = await brain.use(courseOf, stepped);
      const service = await http().course(stepped);
      expect(service.filter((each) => typeof each === 'object').length).toBeGreaterThan(0);
      expectSame(own, service);
      const document = JSON.parse(service.at(-1) as string) as object;
      expect(document).toMatchObject({ duration_ms: SESSION_MS });
      const answers = own.slice(0, -1).filter((each) => typeof each === 'string');
      const steps = answers.map((answer) => JSON.parse(answer) as Spiked & { readonly spikes: number });
      const [replay] = await brain.use(answersOf, [document]);
      expect(replay).toEqual(expect.any(String));
      const { conditions } = JSON.parse(replay as string) as { readonly conditions: readonly Spiked[] };
      expectSame([spikesIn(conditions)], [spikesIn(steps)]);
      const mean = steps.reduce((sum, { spikes }) => sum + spikes, 0);
      expect(conditions).toMatchObject([{ spikes: { mean } }]);
    });

    it('branches sessions, and refuses them in the same words', async () => {
      const { document, changes } = course();
      const [first, , third] = changes;
      const steps = [
        first!,
        { ...third!, duration_ms: 40, rates_hz: { sugar: 90, loom: 60 }, silence: ['@MN9'] },
      ];
      const expected = await branchesOf(connect(http().url), { document, changes: steps });
      expect(new Set(expected).size).toBe(expected.length);
      expectSame(await brain.use(branchesOf, { document, changes: steps }), expected);
      for (const refused of REFUSED_SESSIONS) {
        const expected = await http().ask('/api/v2/sessions', refused);
        expect(expected).toMatchObject({ code: expect.any(String) as string });
        expectSame(await brain.use(courseOf, { document: refused, changes: [] }), [expected]);
      }
    });

    it('answers a step that was aborted, if it is asked for again', async () => {
      const document = { inputs: { sugar: { node_set: '@sugar', rate_hz: 100 } } };
      const expected = await stepsAgain(connect(http().url), { document, aborts: false });
      expectSame(await brain.use(stepsAgain, { document, aborts: true }), expected);
    });

    it('sends the head, conditions in order and the totals as events', async () => {
      const document = { ...SHORT, trials: 1, sweep: [{ set: 'seed', values: [1, 2, 3] }] };
      const events = await brain.use(eventsOf, document);
      expect(events.filter((each) => typeof each === 'string')).toEqual([
        'head',
        'condition 0',
        'condition 1',
        'condition 2',
        'totals',
      ]);
    });

    it('ends a long experiment soon after an abort, and is free again', async () => {
      // The run that follows would wait for minutes if the experiment went on.
      expect(await brain.use(abortOf, ENDLESS)).toEqual(['enough', 50]);
    });

    it('ends an experiment whose reader is slow', async () => {
      expect(await brain.use(abortOfSlowReader, MANY_LINES)).toBe('enough');
    });
  });
}

/** Golden runs of open and edited networks. @param sourceOf the file of a connectome, as the place opens it */
export function describeGoldens(place: Place, sourceOf: (file: string) => string): void {
  describeWith(['tables', 'golden'], `${place.name} on the measured brain`, () => {
    const http = serveBrain('measured-predicted');
    let brain: OpenedBrain;
    let connectome: Connectome;
    beforeAll(async () => {
      const file = await connectomeFile('measured-predicted');
      connectome = openConnectome(new Uint8Array(readFileSync(file)).buffer);
      brain = await place.open(sourceOf(file));
    }, 300_000);
    afterAll(() => brain.close());

    const documents: (readonly [string, () => object])[] = [
      ...OPEN_GOLDENS.map(
        ([name, durationMs]) => [name, () => openGolden(connectome, name, durationMs).document] as const,
      ),
      ...Object.keys(EDITED_GOLDENS).map((name) => [name, () => editedGoldenDocument(name)] as const),
    ];
    it.each(documents)('gives the answer of the service to the golden run %s', async (name, documentOf) => {
      const document = documentOf();
      const expected = await http().answers([document]);
      // Its rows are more than a page of JSON has.
      const isRefused = name === 'odour-1000ms';
      expect(expected).toEqual([
        isRefused ? expect.objectContaining({ code: 'TOO_EXPENSIVE' }) : expect.any(String),
      ]);
      expectSame(await brain.use(answersOf, [document]), expected, [name]);
    });
  });
}
