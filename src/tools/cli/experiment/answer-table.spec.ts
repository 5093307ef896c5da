import type { ExperimentDocument } from '../../../experiments/document/document.js';
import type { ExperimentHead, ExperimentTotals } from '../../../experiments/document/result.js';
import type { FoundCondition } from '../../../experiments/figures/figure-kind.js';
import type { GroupResult } from '../../../experiments/kinds/result-rows.js';
import { answerTable } from './answer-table.js';

const REPORT = { node_set: '*', group_by: [], start_ms: 0, end_ms: null } as const;

function tableOf(experiment: Partial<ExperimentDocument>, conditions: readonly Partial<FoundCondition>[]) {
  const head = {
    id: 'id',
    model: 'model',
    wiring: 'measured',
    side_convention: 'Left is left.',
    experiment: {
      ...{ node_sets: {}, inputs: {}, silence: [], duration_ms: 100, trials: 2, seed: 0 },
      ...{ reports: { MN9: { ...REPORT, type: 'rate' } }, on_missing: 'error' },
      ...experiment,
    },
  } as unknown as ExperimentHead;
  const totals = { unchanged: [], warnings: [], cite: [] } as unknown as ExperimentTotals;
  const found = conditions.map((each, index) => ({
    ...{ index, complete: true, spikes: { mean: 1, sd: 0 }, responding_neurons: { mean: 1, sd: 0 } },
    ...{ responding_any: 1, synaptic_events: 0, parameters: {}, groups: {}, tables: {} },
    ...each,
  }));
  return answerTable({ head, conditions: found as unknown as FoundCondition[], totals });
}

const group = (type: string, mean: number, more: object = {}): GroupResult => ({
  ...{ type, neurons: 1, responding: { mean: 1, sd: 0 }, responding_any: 1 },
  rate_hz: { mean, sd: 1, trials: [mean - 1, mean + 1] },
  ...more,
});
const control = (p: number, mean: number) => ({
  control: { mean, sd: 2.5, values: [mean], incomplete: [], p, q: 2 * p },
});
const widest = (text: string) => Math.max(...text.split('\n').map((line) => [...line].length));
const unspaced = (text: string) => text.split('\n').map((line) => line.trim().replace(/ +/g, ' '));

describe('the controls of an answer', () => {
  const controls = { shuffle: 'weights', count: 20 } as const;
  const sweep = [{ set: 'inputs.sugar.rate_hz', values: [50, 100] }];

  it('stand below a sweep, with the mean, p and q of each condition, in 80 columns', () => {
    const table = tableOf(
      { controls, sweep },
      [50, 100].map((rateHz) => ({
        parameters: { 'inputs.sugar.rate_hz': rateHz },
        groups: { MN9: [group('a', rateHz, control(1 / 21, 3)), group('b', 1234.5, control(0.5, 1200.25))] },
      })),
    );
    expect(unspaced(table)).toEqual(
      expect.arrayContaining([
        'group, sugar.rate_hz Hz controls (Hz) p q',
        'MN9 a, 50 50.00 ± 1.00 3.00 ± 2.50 0.0476 0.0952',
        'MN9 b, 100 1234.50 ± 1.00 1200.25 ± 2.50 0.5 1',
      ]),
    );
    expect(unspaced(table).join(' ')).toContain(
      'q is corrected for the groups of a report within a condition, not over the conditions of the sweep.',
    );
    expect(widest(table)).toBeLessThanOrEqual(80);
  });

  it('are those with the lowest p if they are too many, then the furthest from the group', () => {
    const groups = Array.from({ length: 50 }, (_, at) =>
      group(`T${at}`, 50, control(at < 45 ? 0.5 : 0.1, 50 - at)),
    );
    const lines = unspaced(tableOf({ controls }, [{ groups: { MN9: groups } }]));
    const from = lines.indexOf('group Hz controls (Hz) p q');
    expect(lines.slice(from + 1, from + 4).map((line) => line.split(' ')[1])).toEqual(['T49', 'T48', 'T47']);
    expect(lines).toContain(
      '… and 10 more groups: higher p or nearer to their controls, --csv writes all of them.',
    );
  });

  it('leave the bars of a condition within 80 columns', () => {
    const table = tableOf({ controls }, [{ groups: { MN9: [group('a', 50, control(1 / 21, 3))] } }]);
    expect(widest(table)).toBeLessThanOrEqual(80);
    expect(table).toContain('q is corrected for the groups of a report within a condition.');
  });
});

it('ranks the earliest of very many first spikes first', () => {
  const latencies = Array.from({ length: 20 }, (_, at) => ({
    ...{ type: `T${at}`, neurons: 1, responding_trials: 1 },
    latency_ms: { mean: 90 - at, sd: 1, trials: [1, 2] },
  }));
  const reports = { first: { ...REPORT, type: 'latency' } } as unknown as ExperimentDocument['reports'];
  const lines = unspaced(tableOf({ reports }, [{ groups: { first: latencies } }]));
  const from = lines.findIndex((line) => line.startsWith('first neurons'));
  expect(lines.slice(from + 1, from + 3).map((line) => line.split(' ')[0])).toEqual(['T19', 'T18']);
});

it('ranks a lesion that ends a response first, and a stopped one last', () => {
  const reports = { first: { ...REPORT, type: 'latency' } } as unknown as ExperimentDocument['reports'];
  const lesion = (type: string | null, mean: number | null, complete = true) => ({
    ...{ complete, parameters: { silence: type === null ? null : { type } } },
    groups: {
      first: [
        {
          ...{ neurons: 1, responding_trials: 1 },
          latency_ms: mean === null ? null : { mean, sd: 0, trials: [mean, mean] },
        },
      ],
    },
  });
  const rowsOf = (baselineMs: number | null) => {
    const conditions = [lesion(null, baselineMs), lesion('late', 30), lesion('mute', null)];
    const sweep = [{ each: 'C*', group_by: ['type'], as: 'silence' }] as const;
    const table = tableOf({ reports, sweep }, [
      ...conditions,
      lesion('runaway', null, false),
      lesion('early', 3),
    ]);
    const lines = unspaced(table);
    const from = lines.findIndex((line) => line.startsWith('none'));
    const [caption] = lines.filter((line) => line.startsWith('In the order of'));
    return [...lines.slice(from, from + 5).map((line) => line.split(' ')[0]), caption];
  };
  const caption = 'In the order of the change of first; the baseline is none.';
  expect(rowsOf(2)).toEqual(['none', 'mute', 'late', 'early', 'runaway', caption]);
  // Without a number before, the earliest is first.
  const rows = rowsOf(null);
  expect(rows.slice(0, 3)).toEqual(['none', 'early', 'late']);
  expect(rows.at(-1)).toBe('In the order of first; the baseline is none.');
});

it('does not give a spread to a first spike of one trial', () => {
  const reports = { first: { ...REPORT, type: 'latency' } } as unknown as ExperimentDocument['reports'];
  const latency_ms = { mean: 11.7, sd: 0, trials: [null, 11.7, null] };
  const first = [{ neurons: 1, responding_trials: 1, latency_ms }];
  const lines = unspaced(tableOf({ reports }, [{ groups: { first } }]));
  expect(lines.find((line) => line.startsWith('all'))).toContain('11.70 n = 1');
  expect(lines).toContain('mean ± population sd over the trials that have the number');
});

it('tells a low rate of many neurons from silence', () => {
  const low = { rate_hz: { mean: 0.0014, sd: 0.0002, trials: [0.0012, 0.0016] } };
  const lines = unspaced(tableOf({}, [{ groups: { MN9: [group('many', 0, low), group('silent', 0)] } }]));
  expect(lines.find((line) => line.startsWith('many'))).toContain('<0.01 ± <0.01');
  expect(lines.find((line) => line.startsWith('silent'))).toContain('0.00 ± 1.00');
});
