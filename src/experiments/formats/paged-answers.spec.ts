/** Pages of tables against the same experiment without any limit, which has all rows in one piece. */
import { localTrials, planOf } from '../../../test/support/open-experiments.js';
import { smallConnectome } from '../../../test/support/small-connectome.js';
import { READERS } from '../../../test/support/table-rows.js';
import { encodeConnectome, openConnectome } from '../../engine/connectome/format.js';
import { inOneGo } from '../run/turn.js';
import {
  answerOfResults,
  answerOfRun,
  answerOfStored,
  checkRequest,
  type Answer,
  type AnswerMaking,
  type AnswerRequest,
} from './answer.js';
import type { Format, TableName } from './formats.js';
import type { ConditionResult } from '../run/condition-result.js';
import { decodeResult, encodeResult } from '../../workers/thread/result-bytes.js';
import { neededCells } from '../run/run-experiment.js';
import { pageStartOf } from '../run/pages.js';
import type { ExperimentPlan } from '../plan/plan.js';
import { ChunkRunner } from '../run/chunk-runner.js';
import type { RunTrial } from '../run/condition-run.js';

const connectome = openConnectome(encodeConnectome(smallConnectome()).buffer as ArrayBuffer);
const runTrial = localTrials(connectome);

const SHARED = {
  inputs: { sugar: { node_set: 'S_sugar', rate_hz: 120 }, song: { node_set: 'S_song', rate_hz: 20 } },
  duration_ms: 60,
  trials: 4,
  reports: {
    rates: { node_set: ['S_*', 'C_*'], group_by: ['type'] },
    rows: { node_set: ['S_sugar', 'S_song', 'C_*'], type: 'spikes' },
    later: { node_set: 'S_sugar', type: 'spikes', start_ms: 30 },
    events: { node_set: ['S_sugar', 'S_song'], type: 'inputs' },
    potentials: { node_set: ['C_walk', 'C_stop'], type: 'membrane', dt_ms: 7 },
  },
};
const DOCUMENTS: Record<string, object> = {
  'no sweep': SHARED,
  'a dose curve, with a condition without any event': {
    ...SHARED,
    sweep: [{ set: 'inputs.sugar.rate_hz', values: [0, 40, 300] }],
  },
  'a screen of lesions, of which some change nothing': {
    ...SHARED,
    sweep: [{ each: ['S_sugar', 'S_heat', 'C_walk', 'C_stop'], group_by: ['type'], as: 'silence' }],
  },
  'each of some types stimulated': {
    ...SHARED,
    sweep: [{ each: ['S_sugar', 'S_song'], group_by: ['type'], as: 'inputs.sugar' }],
  },
  'responders at two rates': {
    ...SHARED,
    sweep: [
      { set: 'inputs.sugar.rate_hz', values: [60, 120] },
      { each: { responders_of: 'baseline', top: 3 }, group_by: ['type'], as: 'silence' },
    ],
  },
  'responders, the rate fastest': {
    ...SHARED,
    sweep: [
      { each: { responders_of: 'baseline', top: 2 }, group_by: ['type'], as: 'silence' },
      { set: 'inputs.sugar.rate_hz', values: [60, 120] },
    ],
  },
};

const MAKING: AnswerMaking = { turn: inOneGo, pieceBytes: 1000 };

type Source = (plan: ExperimentPlan, wanted: AnswerRequest) => Promise<Answer>;

function immediate(run: RunTrial = runTrial): Source {
  return (plan, wanted) => answerOfRun(plan, run, wanted, { inFlight: 3 }, MAKING);
}

/** Results that were kept as a job keeps them. */
async function job(plan: ExperimentPlan): Promise<(limitRows: number) => Source> {
  const kept = new Map<number, Buffer>();
  const load = async (index: number): Promise<ConditionResult> => decodeResult(kept.get(index)!);
  const apart = new ChunkRunner(plan);
  const { grid } = plan;
  const indices = Array.from({ length: grid.size }, (_, index) => index);
  for (const level of new Set(indices.map((index) => grid.levelOf(index)).sort())) {
    const ofLevel = indices.filter((index) => grid.levelOf(index) === level);
    for await (const [index, result] of apart.run(ofLevel, load, runTrial, { inFlight: 2 })) {
      kept.set(index, await encodeResult(result));
    }
  }
  return (limitRows) => (_, wanted) => {
    const results = (async function* () {
      for (const index of neededCells(plan, wanted.from)) yield [index, await load(index)] as const;
    })();
    return answerOfResults(plan, results, wanted, { limitRows, isPartial: false }, MAKING);
  };
}

async function bytesOf({ pieces }: Answer): Promise<Buffer> {
  const all: Uint8Array[] = [];
  for await (const { bytes } of pieces) all.push(bytes);
  return Buffer.concat(all);
}

interface Columns {
  readonly trial: number[];
  readonly t_ms: number[];
  readonly root_id: string[];
  readonly input?: string[];
  readonly v_mv?: number[];
  readonly truncated?: true;
}

interface Body {
  readonly conditions: {
    readonly index: number;
    readonly reports: Readonly<Record<string, Columns>>;
  }[];
  readonly unchanged: unknown[];
  readonly cost: Readonly<Record<string, number>>;
  readonly warnings: { readonly code: string }[];
  readonly next_page?: string;
}

async function jsonOf(answer: Answer): Promise<Body> {
  return JSON.parse((await bytesOf(answer)).toString()) as Body;
}

/** A page has the rows of a condition report by report, and so has the whole table. */
function byReport(rows: readonly string[]): string[] {
  const keyOf = (row: string): number => {
    const [condition, report] = row.split(',');
    return 10 * Number(condition) + ['rows', 'later'].indexOf(report!);
  };
  return [...rows].sort((a, b) => keyOf(a) - keyOf(b));
}

/** Follows the pages; each begins at the trial that the page before names. */
async function pagesOf<T>(
  plan: ExperimentPlan,
  source: Source,
  wanted: Omit<AnswerRequest, 'from' | 'truncate'>,
  read: (answer: Answer) => Promise<T>,
  nextOf: (answer: Answer, page: T) => string | undefined,
): Promise<T[]> {
  const pages: T[] = [];
  for (let next: string | undefined = '0.0'; next !== undefined;) {
    const start = pageStartOf(next)!;
    const isFirst = pages.length === 0;
    const asked = {
      ...wanted,
      truncate: false,
      from: start.condition,
      ...(!isFirst && { page: start }),
    };
    checkRequest(plan, asked);
    const answer = await source(plan, asked);
    const page = await read(answer);
    pages.push(page);
    next = nextOf(answer, page);
    if (pages.length > 1000) throw new Error('the pages have no end');
  }
  return pages;
}

const tableIn = (format: Format, table: TableName) => ({ format, table }) as const;
const linked = ({ nextPage }: Answer) => nextPage;

/** Conditions of several pages put together; of one that stands on two of them, everything but the rows is equal. */
function joined(pages: readonly Body[]): Body['conditions'] {
  const conditions: Body['conditions'] = [];
  for (const condition of pages.flatMap((page) => page.conditions)) {
    const before = conditions.at(-1);
    if (before?.index !== condition.index) {
      conditions.push(condition);
      continue;
    }
    const reports = Object.entries(condition.reports).map(([name, report]) => {
      const own = before.reports[name]!;
      if (Array.isArray(report)) {
        expect(report).toEqual(own);
        return [name, report];
      }
      const columns = Object.entries(report).map(([column, values]) => [
        column,
        [...(own[column as keyof Columns] as unknown[]), ...(values as unknown[])],
      ]);
      return [name, Object.fromEntries(columns) as Columns];
    });
    const merged = { ...condition, reports: Object.fromEntries(reports) as Record<string, Columns> };
    expect({ ...before, reports: {} }).toEqual({ ...merged, reports: {} });
    conditions[conditions.length - 1] = merged;
  }
  return conditions;
}

describe.each(Object.keys(DOCUMENTS))('pages of an experiment with %s', (name) => {
  const document = DOCUMENTS[name]!;
  const whole = planOf(connectome, document);
  /** Rows of the largest trial: from this limit on, every limit has an answer. */
  let most: { json: number; table: Record<'spikes' | 'inputs' | 'membrane', number> };
  let everything: Body;
  beforeAll(async () => {
    const wanted = { format: 'json', from: 0, truncate: false } as const;
    everything = await jsonOf(await immediate()(whole, wanted));
    const rowsIn = (reports: readonly string[]) =>
      Math.max(
        ...everything.conditions.flatMap((condition) =>
          Array.from({ length: whole.trials }, (_, trial) =>
            reports.reduce(
              (sum, report) => sum + condition.reports[report]!.trial.filter((each) => each === trial).length,
              0,
            ),
          ),
        ),
      );
    most = {
      json: rowsIn(['rows', 'later', 'events', 'potentials']),
      table: {
        spikes: rowsIn(['rows', 'later']),
        inputs: rowsIn(['events']),
        membrane: rowsIn(['potentials']),
      },
    };
  });

  it.each(['spikes', 'inputs', 'membrane'] as const)(
    'give every row of the table %s once, in every format, at once and from a job',
    async (table) => {
      const all = await READERS.csv(
        await bytesOf(await immediate()(whole, { ...tableIn('csv', table), from: 0, truncate: false })),
      );
      expect(all.length).toBeGreaterThan(20);
      const ofJob = await job(whole);
      let split = 0;
      // Limits at which trials just fit, beside one at which several do.
      for (const [format, tableRows] of [
        ['csv', most.table[table]],
        ['csv', most.table[table] + 1],
        ['arrow', 2 * most.table[table] + 7],
        ['parquet', 3 * most.table[table]],
      ] as const) {
        const plan = planOf(connectome, document, { tableRows });
        const pages = [];
        for (const source of [immediate(), ofJob(tableRows)]) {
          pages.push(await pagesOf(plan, source, tableIn(format, table), bytesOf, linked));
        }
        expect(pages[1]).toEqual(pages[0]);
        const rows = await Promise.all(pages[0]!.map(READERS[format]));
        expect(byReport(rows.flat())).toEqual(all);
        expect(Math.max(...rows.map(({ length }) => length))).toBeLessThanOrEqual(tableRows);
        split += rows.length;
      }
      expect(split).toBeGreaterThan(8);
    },
  );

  it('give every condition, row and cost of JSON once, at once and from a job', async () => {
    const ofJob = await job(whole);
    for (const tableRows of [most.json, 2 * most.json + 1]) {
      const plan = planOf(connectome, document, { tableRows });
      const pages = await pagesOf(plan, immediate(), { format: 'json' }, jsonOf, (_, page) => page.next_page);
      const own = await pagesOf(
        whole,
        ofJob(tableRows),
        { format: 'json' },
        bytesOf,
        (_, page) => /"next_page":"([\d.]+)"\}$/.exec(page.toString())?.[1],
      );
      expect(own.map((page) => JSON.parse(page.toString()) as Body)).toEqual(pages);
      expect(pages.length).toBeGreaterThan(1);
      expect(joined(pages)).toEqual(everything.conditions);
      expect(pages.flatMap(({ unchanged }) => unchanged)).toEqual(everything.unchanged);
      const cost = Object.keys(everything.cost).map((member) => [
        member,
        expect.closeTo(
          pages.reduce((sum, page) => sum + page.cost[member]!, 0),
          9,
        ),
      ]);
      expect(everything.cost).toEqual(Object.fromEntries(cost));
      expect(JSON.stringify(pages)).not.toContain('truncated');
    }
  });

  it('have as many spikes as the rates of the same answer count', async () => {
    const plan = planOf(connectome, document, { tableRows: most.json });
    const pages = await pagesOf(plan, immediate(), { format: 'json' }, jsonOf, (_, page) => page.next_page);
    const types = new Map(connectome.metadata.types.map(({ name: type }, at) => [type, at]));
    const typeOf = new Map(
      Array.from(connectome.typeIndices, (type, neuron) => [connectome.neuronId(neuron), type]),
    );
    let counted = 0;
    for (const { reports } of joined(pages)) {
      const groups = reports['rates'] as unknown as {
        type: string;
        neurons: number;
        rate_hz: { trials: number[] };
      }[];
      const { trial, root_id: ids } = reports['rows']!;
      for (const { type, neurons, rate_hz: rateHz } of groups) {
        if (!/^(S_sugar|S_song|C_.*)$/.test(type)) continue;
        const spikes = Array<number>(SHARED.trials).fill(0);
        ids.forEach((id, row) => (spikes[trial[row]!]! += Number(typeOf.get(id) === types.get(type))));
        counted += spikes.reduce((sum, count) => sum + count, 0);
        const perHz = (neurons * SHARED.duration_ms) / 1000;
        rateHz.trials.forEach((rate, at) => expect(spikes[at]! / perHz).toBeCloseTo(rate, 3));
      }
    }
    expect(counted).toBeGreaterThan(20);
  });
});

describe('a page of a table', () => {
  const document = { ...SHARED, trials: 10, sweep: [{ set: 'seed', from: 1, to: 20, step: 1 }] };

  it('runs none of the trials before it, and only a few after it', async () => {
    const plan = planOf(connectome, document, { tableRows: 400 });
    const begun: string[] = [];
    const counting: RunTrial = (task, trial, signal) => {
      const { train } = task.protocol.inputs[0]!;
      if (train.kind !== 'poisson') throw new Error('no trial');
      begun.push(`${train.seed - 1}.${trial}`);
      return runTrial(task, trial, signal);
    };
    const wanted = {
      ...tableIn('csv', 'spikes'),
      from: 3,
      page: { condition: 3, trial: 7 },
      truncate: false,
    };
    const { nextPage } = await immediate(counting)(plan, wanted);
    expect(begun[0]).toBe('3.7');
    expect(nextPage).toBeDefined();
    // Behind the one that did not fit, twice as many as run at once.
    expect(begun.length - begun.indexOf(nextPage!)).toBeLessThanOrEqual(1 + 6);
    expect(begun.length).toBeLessThan(40);
  });

  it('refuses a single trial that has more rows than fit, with all that it has', async () => {
    const plan = planOf(connectome, document, { tableRows: 5 });
    const wanted = { ...tableIn('csv', 'inputs'), from: 0, truncate: false };
    await expect(immediate()(plan, wanted)).rejects.toMatchObject({
      code: 'TOO_EXPENSIVE',
      path: '/reports',
      message: expect.stringMatching(
        /^Trial 0 of condition 0 has \d\d\d? rows of events; at most 5 are allowed in a table\. With truncate=true /,
      ),
    });
    const json = immediate()(plan, { format: 'json', from: 0, truncate: false });
    await expect(json.then(bytesOf)).rejects.toMatchObject({ code: 'TOO_EXPENSIVE' });
  });

  it('is refused if no answer names it, or its table has no pages', () => {
    const plan = planOf(connectome, document);
    const wanted = { ...tableIn('csv', 'spikes'), truncate: false };
    for (const page of [
      { condition: 20, trial: 0 },
      { condition: 19, trial: 10 },
    ]) {
      expect(() => checkRequest(plan, { ...wanted, from: page.condition, page })).toThrow(
        `page must be one that another answer to this experiment names, 19.9 at most, got ${page.condition}.${page.trial}.`,
      );
    }
    const page = { condition: 1, trial: 0 };
    expect(() => checkRequest(plan, { ...wanted, table: 'rates', from: 1, page })).toThrow(
      'page must not be given for the table rates, which has no pages.',
    );
  });
});

describe('an answer that may be cut', () => {
  const document = { ...SHARED, sweep: [{ set: 'seed', values: [1, 2, 3] }] };

  it('has the first rows of each table of each condition, and says so, at once and from a job', async () => {
    // 36 rows for four tables of three conditions.
    const tableRows = 36;
    const plan = planOf(connectome, document, { tableRows });
    const sources = [immediate(), (await job(planOf(connectome, document)))(tableRows)];
    for (const format of ['json', 'csv', 'arrow', 'parquet'] as const) {
      const wanted = {
        format,
        from: 0,
        truncate: true,
        ...(format !== 'json' && { table: 'spikes' as const }),
      };
      const answers = await Promise.all(sources.map((source) => source(plan, wanted)));
      expect(answers.map(({ nextPage, truncated }) => [nextPage, truncated])).toEqual(
        answers.map(() => [undefined, format !== 'json']),
      );
      const [own, ofJob] = await Promise.all(answers.map(bytesOf));
      expect(ofJob!.equals(own!)).toBe(true);
      if (format === 'csv') expect(await READERS.csv(own!)).toHaveLength(3 * 2 * 3);
      if (format !== 'json') continue;
      const { conditions, warnings, next_page: next } = JSON.parse(own!.toString()) as Body;
      expect(next).toBeUndefined();
      expect(warnings.find(({ code }) => code === 'SPIKES_TRUNCATED')).toMatchObject({
        message: expect.stringMatching(/^In conditions 0, 1, 2 rows of events beyond the limit /),
      });
      for (const { reports } of conditions) {
        expect(reports['rows']).toMatchObject({ truncated: true, trial: [0, 0, 0] });
      }
    }
  });

  it('says nothing if all rows fit', async () => {
    const wanted = { format: 'json', from: 0, truncate: true } as const;
    const { warnings } = await jsonOf(await immediate()(planOf(connectome, document), wanted));
    expect(warnings.map(({ code }) => code)).not.toContain('SPIKES_TRUNCATED');
    const { truncated } = await immediate()(planOf(connectome, document), {
      ...tableIn('csv', 'spikes'),
      from: 0,
      truncate: true,
    });
    expect(truncated).toBe(false);
  });
});

it('a job fails over a condition with more rows than it may keep, and says which', async () => {
  const plan = planOf(
    connectome,
    { ...SHARED, sweep: [{ set: 'seed', values: [1, 2] }] },
    { tableRows: 100 },
  );
  const apart = new ChunkRunner(plan);
  const load = () => Promise.reject(new Error('no condition decides on others'));
  const run = async () => {
    await apart.run([1], load, runTrial, { inFlight: 2 }).next();
  };
  await expect(run()).rejects.toMatchObject({
    code: 'TOO_EXPENSIVE',
    path: '/reports',
    message: expect.stringMatching(
      /^Condition 1 has \d{3} rows of events in its trials 0 to \d; a job keeps at most 100 of a condition\. .* it would fit\./,
    ),
  });
});

it('draws the same figure of a stored answer, whose tables are longer than a figure shows', async () => {
  const events = SHARED.reports.events;
  // The first condition has most events, and its share of the limit is a third.
  const sweep = [{ set: 'inputs.sugar.rate_hz', values: [300, 0, 40] }];
  const document = { ...SHARED, sweep, reports: { events } };
  const wanted = { format: 'svg', from: 0, truncate: true } as const;
  const stored = await bytesOf(
    await immediate()(planOf(connectome, document), { ...wanted, format: 'json', truncate: false }),
  );
  const { conditions } = JSON.parse(stored.toString()) as Body;
  const tableRows = conditions.reduce((sum, { reports }) => sum + reports['events']!.trial.length, 0);
  const plan = planOf(connectome, document, { tableRows });
  const direct = await bytesOf(await immediate()(plan, wanted));
  expect(direct.includes('events: the first ')).toBe(true);
  const drawn = await bytesOf((await answerOfStored(plan, stored, wanted, MAKING))!);
  expect(drawn.equals(direct)).toBe(true);
});
