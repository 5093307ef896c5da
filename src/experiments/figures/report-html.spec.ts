import type { ExperimentDocument } from '../document/document.js';
import type { ExperimentHead, ExperimentTotals } from '../document/result.js';
import type { GroupResult } from '../kinds/result-rows.js';
import type { Findings, FoundCondition } from './figure-kind.js';
import { reportHtml } from './report-html.js';

const EVIL = `<script>alert(1)</script>"'&`;

const DOCUMENT: ExperimentDocument = {
  name: `MN9 ${EVIL}`,
  node_sets: {},
  inputs: {
    sugar: { node_set: '@sugar', module: 'poisson', rate_hz: 100, delay_ms: 0, duration_ms: 100 } as never,
  },
  silence: [],
  duration_ms: 100,
  trials: 2,
  seed: 7,
  reports: { MN9: { type: 'rate', node_set: EVIL, group_by: ['side'], start_ms: 0, end_ms: 100 } },
  on_missing: 'error',
};

const TOTALS: ExperimentTotals = {
  unchanged: [],
  cost: { brain_seconds: 0.4, input_events: 3, synaptic_events: 12 },
  warnings: [{ code: 'RUNAWAY', message: EVIL }],
  cite: [`Shiu et al. 2024, A model, doi:10.1038/s41586-024-07763-9: Figure 1 ${EVIL}`, 'No DOI'],
};

function findings(
  experiment: Partial<ExperimentDocument> = {},
  conditions: readonly Partial<FoundCondition>[] = [
    { groups: { MN9: [group('left', 30), group('right', 10)] } },
  ],
): Findings {
  const head = {
    id: 'ab'.repeat(16),
    model: 'fafb-783-measured-corrected-0123456789ab',
    wiring: 'measured',
    side_convention: 'Left is left.',
    experiment: { ...DOCUMENT, ...experiment },
    resolved: {
      // Facts about overrides, one of which has the name of a member of a set.
      connection_overrides: { sides: { pairs: 1, synapses: 5 }, neurons: { pairs: 2, synapses: 3 } },
      'inputs.sugar': { neurons: 20, sides: { left: 20 }, types: { B: 1, '': 2, A: 17 }, missing: [] },
    },
  };
  return {
    head: head as unknown as ExperimentHead,
    conditions: conditions.map((each, index) => ({
      index,
      complete: true,
      spikes: null,
      responding_neurons: null,
      responding_any: null,
      synaptic_events: 0,
      parameters: {},
      groups: {},
      tables: {},
      ...each,
    })),
    unchanged: 0,
    labelOf: String,
    typeOf: () => undefined,
  };
}

function group(side: string, mean: number, more: object = {}): GroupResult {
  return {
    side,
    neurons: 1,
    responding: { mean: 1, sd: 0 },
    responding_any: 1,
    rate_hz: { mean, sd: 10, trials: [mean - 10, mean + 10] },
    ...more,
  };
}

const reported = (found: Findings) =>
  reportHtml({ findings: found, totals: TOTALS, program: 'service 1.2.3', date: '2026-11-28' });
/** Texts of the cells of each row of a table. @param at place of the table in the report */
function rowsOf(html: string, at = 0) {
  const [, body = ''] = [...html.matchAll(/<tbody>([^]*?)<\/tbody>/g)][at] ?? [];
  return [...body.matchAll(/<tr>(.*?)<\/tr>/g)].map(([, row]) =>
    [...row!.matchAll(/<td[^>]*>(.*?)<\/td>/g)].map(([, cell]) => cell),
  );
}

it('has the question, the findings, warnings, citations and the command', () => {
  const html = reported(findings());
  expect(html).toContain('2 trials of 100 ms, seed 7, measured wiring.');
  expect(rowsOf(html)).toEqual([
    ['MN9', 'left', '30', '10', '2', '1.0', '1'],
    ['MN9', 'right', '10', '10', '2', '1.0', '1'],
  ]);
  expect(rowsOf(html, 1)).toEqual([['inputs.sugar', '20', 'left 20', 'A 17, untyped 2, B 1', '–']]);
  expect(html).toContain('<svg ');
  expect(html).toContain('<strong>RUNAWAY</strong>');
  expect(html).toContain(
    '<a href="https://doi.org/10.1038/s41586-024-07763-9">10.1038/s41586-024-07763-9</a>: Figure 1',
  );
  expect(html).toContain('<li>No DOI</li>');
  for (const fact of [
    'ab'.repeat(16),
    'fafb-783-measured-corrected-0123456789ab',
    'Left is left.',
    'service 1.2.3',
    '2026-11-28',
  ]) {
    expect(html).toContain(`<dd>${fact}</dd>`);
  }
  expect(html).toContain('npm run experiment -- experiment.json --html report.html');
});

it('gives the document back, complete', () => {
  const html = reported(findings());
  const [, href] = /download="experiment.json" href="data:application\/json;charset=utf-8,([^"]*)"/.exec(
    html,
  )!;
  expect(JSON.parse(decodeURIComponent(href!))).toEqual(DOCUMENT);
});

it('escapes all that it did not write itself, runs nothing and loads nothing', () => {
  const html = reported(findings());
  expect(html).not.toContain('<script');
  expect(html.match(/&lt;script&gt;/g)!.length).toBeGreaterThan(5);
  expect(html).not.toMatch(
    /\s(?:on\w+|src|srcset|action)=|url\((?!#)|@import|<(?:link|img|iframe|object)\b/i,
  );
  expect([...html.matchAll(/href="([^"]{12})/g)].map(([, start]) => start)).toEqual([
    'https://doi.',
    'data:applica',
  ]);
  expect(html).toContain(`content="default-src 'none'; style-src 'unsafe-inline'"`);
  expect(html).toBe(reported(findings()));
});

it('puts a value among its controls', () => {
  const control = { mean: 12, sd: 8, values: [4, null, 30, 20], incomplete: [2], p: 0.25, q: 0.5 };
  const html = reported(
    findings({ controls: { shuffle: 'weights', count: 4 } }, [
      { groups: { MN9: [group('left', 30, { control }), group('right', 31, { control })] } },
    ]),
  );
  expect(html).toContain('held against 4 brains with shuffled weights?');
  const scope = 'q is corrected for the groups of a report within a condition';
  expect(html).toContain(`<caption>Mean rate, behind Figure 1. ${scope}.</caption>`);
  const swept = findings(
    { controls: { shuffle: 'weights', count: 4 }, sweep: [{ set: 'seed', values: [1] }] },
    [{ parameters: { seed: 1 }, groups: { MN9: [group('left', 30, { control })] } }],
  );
  expect(reported(swept).split(`${scope}, not over the conditions of the sweep.`)).toHaveLength(3);
  expect(rowsOf(html).map((row) => row.slice(5, 9))).toEqual([
    ['12 ± 8', 'above 2, below 0 of 3; 1 stopped, counted as further', '0.25', '0.5'],
    ['12 ± 8', 'above all 3; 1 stopped, counted as further', '0.25', '0.5'],
  ]);
});

it('shows p and q with three digits, so that 0.048 does not become 0.05', () => {
  const control = { mean: 12, sd: 8, values: [4], incomplete: [], p: 1 / 21, q: 0.0004999 };
  const html = reported(
    findings({ controls: { shuffle: 'weights', count: 1 } }, [
      { groups: { MN9: [group('left', 30, { control }), group('right', 31, { control })] } },
    ]),
  );
  expect(rowsOf(html)[0]!.slice(7, 9)).toEqual(['0.0476', '0.0005']);
  const found = [{ index: 1, parameters: {}, report: 'MN9', group: {}, p: 0.0051, q: 0.04796 }];
  const screened = reportHtml({
    findings: findings(),
    totals: { ...TOTALS, screen: { tests: 4, found } },
    program: 'p',
    date: '',
  });
  expect(rowsOf(screened, 1)[0]!.slice(3)).toEqual(['0.0051', '0.048']);
});

it('orders the table of a screen as its figure, and names the lesions and the network without one', () => {
  const inCondition = (type: string | null, mean: number): Partial<FoundCondition> => ({
    parameters: { silence: type === null ? null : { type } },
    groups: { MN9: [group('left', mean)] },
  });
  const sweep = [{ each: 'CB*', group_by: ['type'] as const, as: 'silence' }];
  const html = reported(
    findings({ sweep }, [
      inCondition(null, 50),
      inCondition('CB1', 49),
      inCondition('CB2', 20),
      inCondition('CB3', 90),
    ]),
  );
  expect(rowsOf(html).map(([lesion, , , mean]) => [lesion, mean])).toEqual([
    ['nothing silenced', '50'],
    ['CB3', '90'],
    ['CB2', '20'],
    ['CB1', '49'],
  ]);
});

it('lists the comparisons that a screen leaves', () => {
  const left = { parameters: { silence: { type: 'CB1' } }, report: 'MN9', group: { side: 'left' } };
  const screen = { tests: 4, found: [{ index: 1, ...left, p: 0.001, q: 0.004 }] };
  const html = reportHtml({ findings: findings(), totals: { ...TOTALS, screen }, program: 'p', date: '' });
  expect(html).toContain(
    '<caption>Of 4 comparisons with matched controls, 1 have q of at most 0.05</caption>',
  );
  expect(rowsOf(html, 1)).toEqual([['CB1 silenced', 'MN9', 'left', '0.001', '0.004']]);
});

it('says which rows a long table lacks, and which answer is no whole one', () => {
  const conditions = Array.from({ length: 1100 }, (_, at) => ({
    parameters: { seed: at },
    groups: { MN9: [group('left', at)] },
  }));
  const found = findings({ sweep: [{ set: 'seed', values: conditions.map((_, at) => at) }] }, conditions);
  const html = reportHtml({ findings: found, totals: { ...TOTALS, partial: true }, program: 'p', date: '' });
  expect(html).toContain(
    'The first 1000 of 1100 rows, the most active groups of each report first; the data files have all.',
  );
  expect(rowsOf(html)).toHaveLength(1000);
  expect(html).toContain('no: conditions or rows are missing');
});

it('shows the most active neurons in a long table, with their types, and a small report whole', () => {
  const neurons = Array.from({ length: 1500 }, (_, at) =>
    group('', at, { root_id: String(at), side: undefined }),
  );
  const reports = { all: DOCUMENT.reports['MN9']!, MN9: DOCUMENT.reports['MN9']! };
  const found = findings({ reports }, [{ groups: { all: neurons, MN9: [group('left', 3)] } }]);
  const html = reported({ ...found, typeOf: (id) => `T${id}` });
  const rows = rowsOf(html).map(([report, name, mean]) => [report, name, mean]);
  expect(rows).toHaveLength(1000);
  expect(rows.slice(0, 2)).toEqual([
    ['all', '1499 T1499', '1499'],
    ['all', '1498 T1498', '1498'],
  ]);
  expect(rows.slice(-2)).toEqual([
    ['all', '501 T501', '501'],
    ['MN9', 'left', '3'],
  ]);
  expect(html).toContain(
    'The first 1000 of 1501 rows, the most active groups of each report first; the data files have all.',
  );
});

it('has the bins of a histogram in a table, in the order of the figure', () => {
  const reports = {
    MN9: { type: 'histogram', node_set: '@MN9', group_by: ['side'], start_ms: 0, end_ms: 100, bin_ms: 40 },
  } as unknown as ExperimentDocument['reports'];
  const bins = (side: string, ...bins_hz: number[]) => group(side, 20, { bins_hz });
  const html = reported(
    findings({ reports }, [{ groups: { MN9: [bins('left', 10, 20, 0), bins('right', 5, 0, 2.5)] } }]),
  );
  expect(html).toContain('<caption>Rates in time, behind Figure 1</caption>');
  expect(rowsOf(html, 0)).toEqual([
    ['MN9', 'left', '0', '40', '10'],
    ['MN9', 'left', '40', '80', '20'],
    ['MN9', 'left', '80', '100', '0'],
    ['MN9', 'right', '0', '40', '5'],
    ['MN9', 'right', '40', '80', '0'],
    ['MN9', 'right', '80', '100', '2.5'],
  ]);
});
