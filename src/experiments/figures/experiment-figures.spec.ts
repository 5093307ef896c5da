import { PhiloxSequence } from '../../engine/stimulus/philox.js';
import type { ExperimentDocument } from '../document/document.js';
import type { ExperimentHead } from '../document/result.js';
import type { GroupResult } from '../kinds/result-rows.js';
import { parameterLabel } from './condition-labels.js';
import { drawSvg } from './draw.js';
import { PAPER } from './palette.js';
import { figureOfFile, figuresOf } from './experiment-figures.js';
import { figureFile } from './figure-file.js';
import type { Findings, FoundCondition } from './figure-kind.js';
import type { Cell, Mark, Panel } from './figure.js';

const REPORT = { node_set: '*', group_by: [], start_ms: 0, end_ms: null } as const;
const REPORT_OF_RATES = { ...REPORT, type: 'rate' };
const DOCUMENT: ExperimentDocument = {
  node_sets: {},
  inputs: {},
  silence: [],
  duration_ms: 100,
  trials: 2,
  seed: 0,
  reports: { cells: { ...REPORT, type: 'rate' } },
  on_missing: 'error',
};

const group = (label: object, mean: number | null): GroupResult => ({
  ...label,
  neurons: 1,
  responding: null,
  responding_any: null,
  rate_hz: mean === null ? null : { mean, sd: 1, trials: [mean - 1, mean + 1] },
});

function findings(
  experiment: Partial<ExperimentDocument>,
  conditions: readonly Partial<FoundCondition>[],
): Findings {
  return {
    head: {
      id: 'id',
      model: 'model',
      wiring: 'measured',
      side_convention: 'Left is left.',
      experiment: { ...DOCUMENT, ...experiment },
    } as unknown as ExperimentHead,
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
    labelOf: (neuron) => `type ${neuron >> 1}`,
    typeOf: () => undefined,
  };
}

/** The panels of the first figure, for the first of all choices. */
function panelsOf(found: Findings): readonly Panel[] {
  const [kind] = figuresOf(found.head.experiment);
  return kind!.draw(found, ({ values }) => values[0]!)!.sections.flatMap(({ panels }) => panels);
}

function marksOf<K extends Mark['mark']>({ marks }: Panel, kind: K): Extract<Mark, { mark: K }>[] {
  return marks.filter((mark): mark is Extract<Mark, { mark: K }> => mark.mark === kind);
}

describe('a sweep of two parameters', () => {
  const sweep = [
    { set: 'inputs.sugar.rate_hz', values: [100, 50] },
    { set: 'duration_ms', values: [20, 40] },
  ];
  /** A report by neuron; the rate of each is its number times the rate of the input. */
  const grid = (neurons: number, ratesHz = [100, 50]): Findings =>
    findings(
      { sweep },
      ratesHz.flatMap((rateHz) =>
        [20, 40].slice(0, ratesHz.length).map((durationMs) => ({
          parameters: { 'inputs.sugar.rate_hz': rateHz, duration_ms: durationMs },
          groups: {
            cells: Array.from({ length: neurons }, (_, neuron) =>
              group({ root_id: String(neuron) }, neuron * rateHz),
            ),
          },
        })),
      ),
    );

  it('is a map for each of the most active groups, in their order, with a cell for each condition', () => {
    const panels = panelsOf(grid(8));
    expect(panels.map(({ title }) => title)).toEqual([2, 3, 4, 5, 6, 7].map((neuron) => `cells ${neuron}`));
    expect(panels[0]!.x).toMatchObject({ bands: [{ label: '50' }, { label: '100' }] });
    expect(panels[0]!.y).toMatchObject({ bands: [{ label: '40' }, { label: '20' }] });
    const cells = marksOf(panels[0]!, 'cells')[0]!.cells;
    // The row of 40 ms is on top; the highest rate of all maps, 700 Hz, ends the scale.
    expect(cells.map(({ x, y, share, text }: Cell) => [x, y, share, text])).toEqual([
      [1, 1, 200 / 700, '200'],
      [1, 0, 200 / 700, '200'],
      [0, 1, 100 / 700, '100'],
      [0, 0, 100 / 700, '100'],
    ]);
    expect(cells[0]!.title).toBe('cells 2: 200 ± 1.0 Hz (rate of sugar 100 Hz, duration of a trial 20 ms)');
  });

  it('takes a report of a whole brain by neuron', () => {
    const found = grid(139_255, [100]);
    const figure = figuresOf(found.head.experiment)[0]!.draw(found, ({ values }) => values[0]!)!;
    expect(figure.sections[0]!.panels).toHaveLength(6);
    expect(figure.note).toContain('139249 less active groups are left out');
  });

  it('has the lightest colour of the palette for silence, and the darkest for the highest rate', () => {
    const svg = drawSvg(figureOfFile(grid(2)), 600);
    for (const colour of [PAPER.heat[0]!, PAPER.heat.at(-1)!]) {
      const [red, green, blue] = [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16));
      expect(svg).toContain(`class="cell" x="`);
      expect(svg).toContain(`fill="rgb(${red}, ${green}, ${blue})"`);
    }
  });

  it('writes numbers into the cells of all maps or of none, and keeps the last tick within the width', () => {
    const [map] = panelsOf(grid(2));
    const narrow = { ...map!, height: 18, title: 'low' };
    const svgOf = (panels: readonly Panel[]) =>
      drawSvg(
        { label: '', note: '', sections: panels.map((panel) => ({ panels: [panel], smallestWidth: 1 })) },
        600,
      );
    const numbers = (svg: string) => svg.match(/font-size="10"/g)?.length ?? 0;
    expect(numbers(svgOf([map!]))).toBeGreaterThan(0);
    expect(numbers(svgOf([map!, narrow]))).toBe(0);
    const axis = { label: '', domain: [0, 1e9] } as const;
    const wide = svgOf([{ title: '', height: 20, x: axis, y: axis, marks: [] }]);
    const ticks = [...wide.matchAll(/<text x="([\d.]+)"[^>]*text-anchor="middle">(\d+)</g)];
    const [, x, text] = ticks.at(-1)!;
    expect(text).toBe('1000000000');
    expect(Number(x) + (6.4 * text!.length) / 2).toBeLessThanOrEqual(600);
  });

  it('says of a condition that was stopped that it has no rate', () => {
    const found = findings({ sweep }, [
      {
        complete: false,
        parameters: { 'inputs.sugar.rate_hz': 50, duration_ms: 20 },
        groups: { cells: [group({}, null)] },
      },
    ]);
    const [cell] = marksOf(panelsOf(found)[0]!, 'cells')[0]!.cells;
    expect(cell).toMatchObject({ share: null, text: '' });
    expect(cell!.title).toMatch(/^cells: stopped /);
  });
});

it('draws reports that are named like members of every object', () => {
  const marksOf = (events: string, rates: string) => {
    const reports = { [events]: { ...REPORT, type: 'spikes' }, [rates]: REPORT_OF_RATES } as const;
    return panelsOf(findings({ reports }, [{ groups: { [rates]: [group({}, 3)] } }])).map(
      ({ marks }) => marks,
    );
  };
  expect(marksOf('toString', 'constructor').length).toBe(marksOf('events', 'rates').length);
  expect(parameterLabel('constructor')).toBe('constructor');
});

it('draws a raster of the events of a trial: neurons in their order, neighbours of a type in one band', () => {
  const table = {
    table: 'spikes',
    trials: Uint8Array.of(0, 0, 0, 1),
    steps: Uint16Array.of(10, 25, 30, 990),
    neurons: Uint32Array.of(3, 2, 5, 4),
    columns: [],
    truncated: false,
  } as const;
  const found = findings({ reports: { all: { ...REPORT, type: 'spikes' } }, trials: 100 }, [
    { tables: { all: table } },
  ]);
  const [panel] = panelsOf(found);
  expect(panel!.title).toBe('all: 3 spikes of 3 neurons');
  expect(panel!.y).toMatchObject({
    bands: [
      { label: 'type 1', size: 2 },
      { label: 'type 2', size: 1 },
    ],
  });
  expect(marksOf(panel!, 'ticks')).toMatchObject([{ x: [1, 2.5, 3], rows: [1, 0, 2] }]);
});

it('draws membrane potentials of the neurons that spike most in a trial one below the other, with threshold, rest and spikes', () => {
  const neurons = [2, 3, 4, 5, 6, 7, 8];
  const table = {
    table: 'membrane',
    trials: Uint8Array.from({ length: 28 }, (_, row) => Math.floor(row / 14)),
    steps: Uint16Array.from({ length: 28 }, (_, row) => 10 * (1 + (Math.floor(row / 7) % 2))),
    neurons: Uint32Array.from({ length: 28 }, (_, row) => neurons[row % 7]!),
    columns: [
      {
        column: { name: 'v_mv', type: 'double' },
        values: Float64Array.from({ length: 28 }, (_, row) => -52 + row / 4),
      },
    ],
    truncated: false,
  } as const;
  const reports = {
    mine: { ...REPORT, type: 'membrane', dt_ms: 1 },
    raster: { ...REPORT, type: 'spikes' },
  };
  const raster = {
    ...{ table: 'spikes', columns: [], truncated: false },
    trials: Uint8Array.of(0, 1, 0),
    steps: Uint16Array.of(15, 18, 19),
    neurons: Uint32Array.of(3, 7, 8),
  } as const;
  const found = findings({ reports, constants: { threshold_mv: -44 } }, [
    { tables: { mine: table, raster } },
  ]);
  expect(figuresOf(found.head.experiment).map(({ name, table: of }) => [name, of])).toEqual([
    ['membrane potentials', 'membrane'],
    ['spikes', 'spikes'],
  ]);
  const panels = panelsOf(found);
  // Six of the seven neurons in the first of two trials: without neuron 7, the last one that does not spike in it.
  expect(panels.map(({ title }) => title)).toEqual(
    [1, 1, 2, 2, 3, 4].map((type) => `mine: type ${type}, membrane potential (mV)`),
  );
  for (const panel of panels)
    expect(panel).toMatchObject({ x: { domain: [0, 2] }, y: { domain: [-52, -44] } });
  const [threshold, rest, potential] = marksOf(panels[5]!, 'line').map(({ points }) => points);
  expect([threshold, rest]).toEqual([-44, -52].map((mV) => [0, 2].map((ms) => [ms, mV])));
  expect(potential).toEqual([
    [1, -50.5],
    [2, -48.75],
  ]);
  expect(panels[5]!.legend!.map(({ label }) => label)).toEqual(['threshold -44 mV', 'rest -52 mV']);
  // Neurons 3 and 8 spike in this trial, neuron 7 in the other one.
  expect(panels.map((panel) => marksOf(panel, 'dots')[0]!.points.map(([ms]) => ms))).toEqual([
    [],
    [1.5],
    ...new Array<number[]>(3).fill([]),
    [1.9],
  ]);
  expect(figureOfFile(found).note).toContain(
    'Of the 7 neurons of “mine” 6 are drawn, those with the most spikes; the table has all.',
  );
  const unknown = findings({ reports: { mine: reports.mine } }, [{ tables: { mine: table } }]);
  expect(panelsOf(unknown).at(-1)!.title).toBe('mine: type 3, membrane potential (mV)');
  expect(figureOfFile(unknown).note).toContain('6 are drawn, the first ones; the table has all.');
  expect(drawSvg(figureOfFile(found), 600)).not.toMatch(/NaN|undefined|Infinity/);
  const nothing = findings({ reports: { mine: reports.mine } }, [{ tables: {} }]);
  expect(figureOfFile(nothing).sections).toEqual([]);
});

it('draws equal figures as equal text, in which names are text', () => {
  const found = findings({ name: '<a & "b">\u0001' }, [{ groups: { cells: [group({ type: '<x>' }, 2)] } }]);
  const svg = drawSvg(figureOfFile(found), 600);
  expect(svg).toBe(drawSvg(figureOfFile(found), 600));
  expect(svg).toContain('&lt;a &amp; &quot;b&quot;&gt;\ufffd<');
  expect(svg).toContain('<title>cells &lt;x&gt;: 2.0 ± 1.0 Hz</title>');
  expect(svg).not.toMatch(/style=|NaN|undefined|Infinity/);
});

describe('a figure that a reviewer reads', () => {
  const spread = (mean: number, sd: number, trials: number[], more: object = {}) => ({
    ...group({}, mean),
    rate_hz: { mean, sd, trials },
    ...more,
  });
  const legendOf = (panel: Panel) => panel.legend!.map(({ label }) => label);

  it('says mean, sd and n of curves, has ticks at their places, and shows lines that are equal', () => {
    const sweep = [{ set: 'inputs.sugar.rate_hz', values: [30, 10, 20] }];
    const found = findings(
      { sweep },
      [30, 10, 20].map((rateHz) => ({
        parameters: { 'inputs.sugar.rate_hz': rateHz },
        groups: {
          cells: [
            { ...spread(rateHz, 1, [1, 2]), side: 'left' },
            { ...spread(rateHz, 1, [1, 2]), side: 'right' },
            { ...spread(rateHz === 20 ? 20 : 7, 1, [1, 2]), side: 'center' },
          ],
        },
      })),
    );
    const figure = figuresOf(found.head.experiment)[0]!.draw(found, ({ values }) => values[0]!)!;
    const [panel] = figure.sections[0]!.panels;
    expect(legendOf(panel!)).toEqual(['left', 'right', 'center', 'mean ± population sd, n = 2 trials']);
    expect(panel!.x).toMatchObject({ domain: [10, 30], ticks: [10, 20, 30] });
    expect(marksOf(panel!, 'dots').map(({ below }) => below)).toEqual([
      [1, 2, 1],
      [0, 1, 0],
      [0, 0, 0],
    ]);
    expect(figure.note).toContain('Equal: left; right.');
    const radii = [...drawSvg(figure, 600).matchAll(/ r="([\d.]+)"/g)].map(([, r]) => Number(r));
    expect(radii).toEqual([5.2, 7.4, 5.2, 3, 5.2, 3, 3, 3, 3]);
  });

  it('draws the lines that change most if there are too many', () => {
    const found = findings(
      { sweep: [{ set: 'seed', values: [0, 1] }] },
      [0, 1].map((seed) => ({
        parameters: { seed },
        groups: {
          cells: Array.from({ length: 9 }, (_, at) =>
            spread(50 - at + seed * at, 0, [1, 2], { type: `T${at}` }),
          ),
        },
      })),
    );
    const [panel] = panelsOf(found);
    expect(legendOf(panel!).slice(0, -1)).toEqual(['T3', 'T4', 'T5', 'T6', 'T7', 'T8']);
  });

  it('leaves silent lines out if there are too many, and says how many it draws', () => {
    const found = findings(
      { sweep: [{ set: 'seed', values: [0, 1] }] },
      [0, 1].map((seed) => ({
        parameters: { seed },
        groups: {
          cells: Array.from({ length: 9 }, (_, at) => spread(at < 3 ? 10 : 0, 0, [1, 2], { type: `T${at}` })),
        },
      })),
    );
    const [kind] = figuresOf(found.head.experiment);
    const { note, sections } = kind!.draw(found, ({ values }) => values[0]!)!;
    expect(legendOf(sections[0]!.panels[0]!).slice(0, -1)).toEqual(['T0', 'T1', 'T2']);
    expect(note).toContain('Of cells the 3 of 9 lines that change most are drawn; the table has all.');
  });

  it('keeps silent controls beside the group that they belong to, each with its n', () => {
    const control = { mean: 0, sd: 0, values: [0, 0, null], incomplete: [3], p: 0.5, q: 0.5 };
    const found = findings({ controls: { shuffle: 'weights', count: 3 } }, [
      {
        groups: {
          cells: [
            spread(30, 2, [28, 32], { side: 'left', control }),
            spread(0, 0, [0, 0], { side: 'right', control }),
          ],
        },
      },
    ]);
    const [panel] = panelsOf(found);
    expect(panel!.y).toMatchObject({
      bands: [
        { label: 'cells left', note: '30.0 ± 2.0' },
        { label: 'cells left, controls', note: '0 ± 0, n = 2' },
      ],
    });
    expect(legendOf(panel!)).toEqual(['mean, n = 2 trials', '± population sd', 'one trial, or control']);
  });

  const bandsOf = ({ y }: Panel) => ('bands' in y ? y.bands.map(({ label }) => label) : []);
  const drawn = (found: Findings) =>
    figuresOf(found.head.experiment)[0]!.draw(found, ({ values }) => values[0]!)!;
  const panelOf = (found: Findings) => drawn(found).sections[0]!.panels[0]!;

  it('draws the most active of very many neurons, with their types, and says of how many', () => {
    const cells = Array.from({ length: 139_255 }, (_, at) =>
      spread(at < 50_000 ? at : 0, 1, [1, 2], { root_id: String(at) }),
    );
    const reports = { cells: REPORT_OF_RATES, motor: REPORT_OF_RATES };
    const one = findings({}, [{ groups: { cells } }]);
    const found = { ...one, typeOf: (id: string) => (id === '49999' ? 'LC4' : '') };
    expect(bandsOf(panelOf(found)).slice(0, 2)).toEqual(['cells 49999 LC4', 'cells 49998 untyped']);
    expect(bandsOf(panelOf(found))).toHaveLength(40);
    expect(drawn(found).note).toContain(
      'The 40 most active of 139255 groups are drawn, the most active first; the data files have all.',
    );
    // A small report keeps its place beside a large one.
    const two = findings({ reports }, [{ groups: { cells, motor: [spread(3, 1, [2, 4])] } }]);
    expect(bandsOf(panelOf(two)).slice(-2)).toEqual(['cells 49961', 'motor']);
    expect(drawn(two).note).toContain('The 40 most active of each report of 139256 groups are drawn');
  });

  it('keeps controls beside their group among the most active', () => {
    const control = { mean: 99, sd: 0, values: [99], incomplete: [], p: 0.5, q: 0.5 };
    const cells = Array.from({ length: 25 }, (_, at) => spread(at, 1, [1, 2], { type: `T${at}`, control }));
    const found = findings({ controls: { shuffle: 'weights', count: 1 } }, [{ groups: { cells } }]);
    const labels = bandsOf(panelOf(found));
    expect(labels).toHaveLength(40);
    expect(labels.slice(0, 3)).toEqual(['cells T24', 'cells T24, controls', 'cells T23']);
  });

  it('draws the earliest of very many first spikes', () => {
    const cells = Array.from({ length: 50 }, (_, at) => ({
      ...{ root_id: String(at), neurons: 1, responding_trials: 1 },
      latency_ms: { mean: 90 - at, sd: 1, trials: [1, 2] },
    }));
    const reports = { cells: { ...REPORT, type: 'latency' } };
    const found = findings({ reports }, [{ groups: { cells } }]);
    expect(bandsOf(panelOf(found)).slice(0, 2)).toEqual(['cells 49', 'cells 48']);
    expect(drawn(found).note).toContain('The 40 earliest of 50 groups are drawn, the earliest first');
  });

  it('draws a first spike at the start of the window, and leaves out groups without any', () => {
    const latency = (root_id: string, mean: number | null) => ({
      ...{ root_id, neurons: 1, responding_trials: 1 },
      latency_ms: mean === null ? null : { mean, sd: 0, trials: [mean, mean] },
    });
    const reports = { cells: { ...REPORT, type: 'latency' } };
    const cells = [latency('0', 0), latency('1', 7), latency('2', null)];
    expect(bandsOf(panelsOf(findings({ reports }, [{ groups: { cells } }]))[0]!)).toEqual([
      'cells 0',
      'cells 1',
    ]);
    const sweep = [{ set: 'duration_ms', values: [20, 40] }];
    const curves = findings(
      { reports: { ...reports, late: reports.cells }, sweep },
      [20, 40].map((duration_ms) => ({
        parameters: { duration_ms },
        groups: { cells: [latency('0', 0)], late: [latency('1', 7)] },
      })),
    );
    expect(panelsOf(curves).map(({ title }) => title)).toEqual(['cells (ms)', 'late (ms)']);
  });

  it('has heat maps of the earliest of many first spikes', () => {
    const sweep = ['inputs.sugar.rate_hz', 'duration_ms'].map((set) => ({ set, values: [20, 40] }));
    const found = findings(
      { reports: { cells: { ...REPORT, type: 'latency' } }, sweep },
      [20, 40].flatMap((rateHz) =>
        [20, 40].map((duration_ms) => ({
          parameters: { 'inputs.sugar.rate_hz': rateHz, duration_ms },
          groups: {
            cells: Array.from({ length: 9 }, (_, at) => ({
              ...{ root_id: String(at), neurons: 1, responding_trials: 1 },
              // Neuron 8 has no spike.
              latency_ms: at === 8 ? null : { mean: 80 - 10 * at, sd: 0, trials: [1, 2] },
            })),
          },
        })),
      ),
    );
    expect(panelsOf(found).map(({ title }) => title)).toEqual([2, 3, 4, 5, 6, 7].map((at) => `cells ${at}`));
  });

  it('draws the most active of very many courses', () => {
    const reports = { bins: { ...REPORT, type: 'histogram', bin_ms: 50 } as const };
    const bins = Array.from({ length: 9 }, (_, at) =>
      spread(1, 1, [1, 2], { type: `T${at}`, bins_hz: [0, at] }),
    );
    const found = findings({ reports }, [{ groups: { bins } }]);
    const [panel] = panelsOf(found);
    expect(legendOf(panel!).slice(0, 6)).toEqual(['T8', 'T7', 'T6', 'T5', 'T4', 'T3']);
  });

  it('draws very many bins as few that have the same picture', () => {
    const random = new PhiloxSequence(1, 2, 3);
    const bins = Array.from({ length: 10_000 }, () => random.nextBelow(1000));
    const reports = { bins: { ...REPORT, type: 'histogram', bin_ms: 1 } as const };
    const groups = { bins: [spread(1, 1, [1, 2], { bins_hz: bins })] };
    const found = findings({ reports, duration_ms: 10_000 }, [{ groups }]);
    const [panel] = panelsOf(found);
    // Five bins, in their order, share a column of the picture.
    const columns = Array.from({ length: 2000 }, (_, column) => bins.slice(5 * column, 5 * column + 5));
    const drawnAt: number[][] = columns.map(() => []);
    // Each bin is a point at its start and one at its end.
    const starts = marksOf(panel!, 'line')[0]!.points.filter((_, at) => at % 2 === 0);
    for (const [x, value] of starts) drawnAt[Math.floor(x / 5)]!.push(value);
    expect(starts.map(([, value]) => value)).toEqual(starts.map(([x]) => bins[x]));
    expect(drawnAt.map((values) => [Math.min(...values), Math.max(...values)])).toEqual(
      columns.map((values) => [Math.min(...values), Math.max(...values)]),
    );
    const titles = marksOf(panel!, 'rect').map(({ title }) => title!);
    expect(titles).toHaveLength(2000);
    expect(titles[1]).toMatch(/^5 to 10 ms: all [\d.]+ to [\d.]+ Hz$/);
  });

  it('ends the last bin with the trial, also if a sweep sets its duration', () => {
    const reports = { bins: { ...REPORT, end_ms: null, type: 'histogram', bin_ms: 10 } as const };
    const found = findings(
      { reports, sweep: [{ set: 'duration_ms', values: [15, 25] }] },
      [15, 25].map((durationMs) => ({
        parameters: { duration_ms: durationMs },
        groups: { bins: [spread(1, 1, [1, 2], { bins_hz: durationMs === 15 ? [1, 2] : [1, 2, 3] })] },
      })),
    );
    const courses = figuresOf(found.head.experiment).find(({ bins }) => bins !== undefined)!;
    const [panel] = courses.draw(found, ({ values }) => values[0]!)!.sections[0]!.panels;
    expect(marksOf(panel!, 'line').map(({ points }) => points.at(-1))).toEqual([
      [15, 2],
      [25, 3],
    ]);
    expect(panel!.x).toMatchObject({ domain: [0, 25] });
    expect(courses.bins!.rows(found).shown.map(({ toMs }) => toMs)).toEqual([10, 15, 10, 20, 25]);
  });

  it('draws a raster over the window of its report, and says when trials were stopped', () => {
    const reports = { spikes: { ...REPORT, type: 'spikes', start_ms: 20, end_ms: 60 } as const };
    const table = { trials: [0], steps: [300], neurons: [4], columns: [], truncated: false };
    const found = findings({ reports, trials: 1 }, [
      { tables: { spikes: table as never }, complete: false, stopped_at_ms: 31 },
    ]);
    expect(panelsOf(found)[0]!.x).toMatchObject({ domain: [20, 60] });
    expect(drawn(found).note).toContain('stopped trials, the first at 31 ms');
  });

  it('draws the events of an input only within the time of a raster', () => {
    const inputs = {
      bar: { node_set: 'C1', module: 'spikes', times_ms: [5, 25, 90], delay_ms: 0, duration_ms: null },
    };
    const reports = { spikes: { ...REPORT, type: 'spikes', start_ms: 20, end_ms: 60 } as const };
    const table = { trials: [0], steps: [300], neurons: [4], columns: [], truncated: false };
    const found = findings({ reports, inputs: inputs as never, trials: 1 }, [
      { tables: { spikes: table as never } },
    ]);
    const [, stimulus] = panelsOf(found);
    expect(marksOf(stimulus!, 'ticks').flatMap(({ x }) => [...x])).toEqual([25]);
  });

  it('draws rasters over one time, and says which of them reads only a part', () => {
    const reports = {
      whole: { ...REPORT, type: 'spikes', end_ms: 100 },
      part: { ...REPORT, type: 'spikes', start_ms: 20, end_ms: 60 },
    } as const;
    const table = { trials: [0], steps: [300], neurons: [4], columns: [], truncated: false } as never;
    const found = findings({ reports, trials: 1 }, [{ tables: { whole: table, part: table } }]);
    const panels = panelsOf(found);
    expect(panels.map(({ x }) => 'domain' in x && x.domain)).toEqual([
      [0, 100],
      [0, 100],
    ]);
    expect(marksOf(panels[1]!, 'rect').map(({ x }) => x)).toEqual([[20, 60]]);
    expect(drawn(found).note).toContain('“part” reads only 20 to 60 ms.');
    expect(drawn(found).note).not.toContain('“whole”');
  });

  it('says nothing of controls beside a report that has none', () => {
    const control = { mean: 3, sd: 1, values: [2, 4], incomplete: [], p: 1 / 3, q: 1 / 3 };
    const latency_ms = { mean: 5, sd: 1, trials: [4, 6] };
    const found = findings(
      {
        reports: { cells: REPORT_OF_RATES, first: { ...REPORT, type: 'latency' } },
        controls: { shuffle: 'weights', count: 2 },
      },
      [
        {
          groups: {
            cells: [spread(30, 2, [28, 32], { control })],
            first: [{ neurons: 1, responding_trials: 1, latency_ms }],
          },
        },
      ],
    );
    const notes = figuresOf(found.head.experiment).map(({ name, draw }) => [
      name,
      draw(found, ({ values }) => values[0]!)!.note,
    ]);
    const noteOf = Object.fromEntries(notes) as Readonly<Record<string, string>>;
    expect(noteOf['mean rate']).toContain('Those of controls');
    expect(noteOf['first spike']).not.toContain('controls');
  });

  it('says that doses have no point, and that means of controls are over controls', () => {
    const control = { mean: 3, sd: 1, values: [2, null, 4], incomplete: [2], p: 1 / 2, q: 1 / 2 };
    const found = findings(
      { sweep: [{ set: 'seed', values: [0, 1] }], controls: { shuffle: 'weights', count: 3 } },
      [0, 1].map((seed) => ({
        parameters: { seed },
        complete: seed === 0,
        groups: { cells: [seed === 0 ? spread(30, 2, [28, 32], { control }) : group({}, null)] },
      })),
    );
    expect(drawn(found).note).toContain('have no point.');
    expect(drawn(found).note).toContain('Those of controls are means over the controls.');
    expect(panelsOf(found)[0]!.legend!.map(({ label }) => label)).toContain('all, controls (n = 2)');
    const among = figuresOf(found.head.experiment).find(({ name }) => name.endsWith('among controls'))!;
    expect(among.draw(found, ({ values }) => values[0]!)!.note).toContain('p counts them as further');
  });

  it('names the times of short bins in full tenths of a millisecond', () => {
    const reports = { bins: { ...REPORT, type: 'histogram', bin_ms: 0.1 } as const };
    const found = findings({ reports }, [
      { groups: { bins: [spread(1, 1, [1, 2], { bins_hz: [1, 2, 3, 4] })] } },
    ]);
    const titles = marksOf(panelsOf(found)[0]!, 'rect').map(({ title }) => title!.split(' ms')[0]);
    expect(titles).toEqual(['0 to 0.1', '0.1 to 0.2', '0.2 to 0.3', '0.3 to 0.4']);
  });

  it('names the network without a lesion, and shortens ids whose titles have them whole', () => {
    const id = '720575940640589171';
    const found = findings({ sweep: [{ each: 'CB*', group_by: ['neuron', 'type'], as: 'silence' }] }, [
      { parameters: { silence: null }, groups: { cells: [spread(50, 1, [49, 51])] } },
      {
        parameters: { silence: { root_id: id, type: 'DNge031' } },
        groups: { cells: [spread(80, 1, [79, 81])] },
      },
    ]);
    const [, rates] = figuresOf(found.head.experiment);
    const [panel] = rates!.draw(found, ({ values }) => values[0]!)!.sections[0]!.panels;
    expect(panel!.y).toMatchObject({ bands: [{ label: 'nothing silenced' }, { label: `${id} DNge031` }] });
    expect(legendOf(panel!)).toEqual([
      'lower than with nothing silenced, n = 2 trials',
      'higher',
      '± population sd',
      'nothing silenced',
    ]);
    const svg = drawSvg(
      rates!.draw(found, ({ values }) => values[0]!)!,
      600,
    );
    expect(svg).toContain('>…640589171 DNge031</text>');
    expect(svg).toContain(`<title>${id} DNge031: 80.0 ± 1.0 Hz</title>`);
  });

  it('opens a lesion screen on paired differences, and says which of them survive a correction', () => {
    const silence = (type: string | null, trials: number[]) => ({
      parameters: { silence: type === null ? null : { type } },
      groups: { cells: [spread(trials.reduce((sum, each) => sum + each) / 4, 1, trials)] },
    });
    const found = findings({ sweep: [{ each: 'C*', group_by: ['type'], as: 'silence' }], trials: 4 }, [
      silence(null, [50, 60, 70, 80]),
      // Lower by 30 in each trial, although trials differ by as much.
      silence('certain', [20, 31, 40, 49]),
      // Lower by 1, 2, 3, 4: mean 2.5, standard error 0.6455, t 3.18.
      silence('alone', [49, 58, 67, 76]),
      silence('chance', [60, 50, 80, 70]),
      silence('equal', [49, 59, 69, 79]),
    ]);
    const [changes, rates] = figuresOf(found.head.experiment);
    expect([changes!.name, rates!.name]).toEqual(['change of mean rate', 'mean rate']);
    const [panel] = panelsOf(found);
    expect(panel!.y).toMatchObject({
      bands: [
        { label: 'certain', note: '−30.0 (−31.3 to −28.7)' },
        { label: 'alone', note: '−2.5 (−4.6 to −0.4)' },
        { label: 'equal', note: '−1.0 (no interval)' },
        { label: 'chance', note: '0 (−18.4 to +18.4)' },
      ],
    });
    // Two intervals at 95 % exclude 0; only one of them still does if four groups are tested.
    expect(marksOf(panel!, 'rect').map(({ paint }) => paint)).toEqual([0, 'muted', 'muted', 'muted']);
    expect(marksOf(panel!, 'line').filter(({ name }) => name === undefined)).toHaveLength(3);
    const { note } = changes!.draw(found, ({ values }) => values[0]!)!;
    expect(note).toContain('all 4 groups at once (Bonferroni)');
    expect(note).toContain('equal in all trials allow no interval');
  });

  it('ranks a screen of first spikes from the earliest, and leaves out groups without any', () => {
    const as = 'inputs.sugar.node_set';
    const reports = { cells: { ...REPORT, type: 'latency' } };
    const stimulated = (type: string, mean: number | null) => ({
      parameters: { [as]: { type } },
      groups: {
        cells: [
          {
            ...{ neurons: 1, responding_trials: 1 },
            latency_ms: mean === null ? null : { mean, sd: 0, trials: [mean, mean] },
          },
        ],
      },
    });
    const found = findings({ reports, sweep: [{ each: 'C*', group_by: ['type'], as }] }, [
      stimulated('silent', null),
      stimulated('late', 30),
      stimulated('early', 0),
      stimulated('middle', 5),
    ]);
    expect(bandsOf(panelOf(found))).toEqual(['early', 'middle', 'late']);
    expect(drawn(found).note).toContain('The earliest comes first.');
  });

  it.each([
    ['beside others', ['slower', 'once', 'mute']],
    ['alone', ['mute']],
  ])('names a lesion that ends a response, %s, and lists it first', (_, types) => {
    const latencies: Readonly<Record<string, (number | null)[] | null>> = {
      ...{ none: [5, 6], slower: [7, 9], mute: null },
      once: [null, 50],
    };
    const found = findings(
      {
        reports: { cells: { ...REPORT, type: 'latency' } },
        sweep: [{ each: 'C*', group_by: ['type'], as: 'silence' }],
      },
      ['none', ...types].map((type) => {
        const trials = latencies[type]!;
        const times = trials?.filter((each) => each !== null) ?? [];
        const mean = times.reduce((sum, each) => sum + each, 0) / times.length;
        const latency_ms = trials && { mean, sd: 1, trials };
        return {
          parameters: { silence: type === 'none' ? null : { type } },
          groups: { cells: [{ neurons: 1, responding_trials: 1, latency_ms }] },
        };
      }),
    );
    const [changes, numbers] = figuresOf(found.head.experiment);
    const [change, number] = [changes, numbers].map((kind) => kind!.draw(found, ({ values }) => values[0]!));
    // A lesion that ends the response cannot be compared.
    expect(change === undefined).toBe(types.length === 1);
    expect(JSON.stringify(number)).not.toContain('n = 0');
    for (const figure of [change ?? number, number])
      expect(figure!.note).toContain('No trial has a first spike with 1 group silenced: mute.');
    if (change !== undefined) {
      expect(bandsOf(change.sections[0]!.panels[0]!)).toEqual(['slower']);
      expect(change.note).toContain('Fewer than two trials can be compared with 1 group silenced: once.');
    }
    const { shown } = numbers!.rows!(found, ({ values }) => values[0]!);
    expect(shown.map(({ condition }) => condition.parameters['silence'])).toEqual([
      null,
      ...types.toReversed().map((type) => ({ type })),
    ]);
  });

  it('compares first spikes only in the trials that both have', () => {
    const latencies: Readonly<Record<string, (number | null)[]>> = {
      none: [35, 12, 36, 34],
      fewer: [null, 12, null, null],
      slower: [36, 13, 37, 35],
    };
    const found = findings(
      {
        reports: { cells: { ...REPORT, type: 'latency' } },
        sweep: [{ each: 'C*', group_by: ['type'], as: 'silence' }],
        trials: 4,
      },
      Object.entries(latencies).map(([type, trials]) => {
        const times = trials.filter((each) => each !== null);
        const mean = times.reduce((sum, each) => sum + each, 0) / times.length;
        const latency_ms = { mean, sd: 0, trials };
        return {
          parameters: { silence: type === 'none' ? null : { type } },
          groups: { cells: [{ neurons: 1, responding_trials: times.length, latency_ms }] },
        };
      }),
    );
    const [, numbers] = figuresOf(found.head.experiment);
    const figure = numbers!.draw(found, ({ values }) => values[0]!)!;
    const { bands } = figure.sections[0]!.panels[0]!.y as { bands: readonly { note: string }[] };
    expect(bands.map(({ note }) => note)).toEqual(['29.3 ± 0', '30.3 ± 0 (+1.0)', '12.0 ± 0, n = 1']);
    expect(figure.note).toContain('Changes are those in the trials that have both numbers.');
  });

  it.each([1, 2])('draws a screen of %d trials without reports that select nothing', (trials) => {
    const sweep = [{ each: 'C*', group_by: ['type'], as: 'silence' }] as const;
    const reports = { none: REPORT_OF_RATES, cells: REPORT_OF_RATES };
    const found = (cells: GroupResult[]) =>
      findings(
        { reports, sweep, trials },
        [null, { type: 'C1' }].map((silence) => ({ parameters: { silence }, groups: { none: [], cells } })),
      );
    for (const kind of figuresOf(found([]).head.experiment)) {
      const first = ({ values }: { values: readonly string[] }) => values[0] ?? '';
      expect(kind.draw(found([spread(5, 1, [4, 6])]), first)!.label).toContain('of cells');
      expect(kind.draw(found([]), first)).toBeUndefined();
      expect(kind.rows?.(found([]), first) ?? { all: 0 }).toMatchObject({ all: 0 });
    }
    expect(figureOfFile(found([])).note).toContain('There is nothing to draw');
  });

  it('gives controls the colour of the line that they belong to', () => {
    const control = { mean: 3, sd: 1, values: [2, 4], incomplete: [], p: 1 / 3, q: 1 / 3 };
    const found = findings(
      { sweep: [{ set: 'seed', values: [0, 1] }], controls: { shuffle: 'weights', count: 2 } },
      [0, 1].map((seed) => ({
        parameters: { seed },
        groups: {
          cells: ['left', 'right'].map((side) => spread(30, 2, [28, 32], { side, control })),
        },
      })),
    );
    const [panel] = panelsOf(found);
    expect(panel!.legend!.slice(0, 4).map(({ label, paint }) => [label, paint])).toEqual([
      ['left', 0],
      ['left, controls (n = 2)', 0],
      ['right', 2],
      ['right, controls (n = 2)', 2],
    ]);
    const all = figuresOf(found.head.experiment).find(({ name }) => name === 'this wiring among controls')!;
    const { note, sections } = all.draw(found, ({ values }) => values[0]!)!;
    expect(note).toContain('p 0.333 is the smallest that 2 controls allow.');
    expect(sections[0]!.panels[0]!.legend!.map(({ label }) => label)).toEqual([
      'this wiring, mean of n = 2 trials',
      'controls, n = 2',
    ]);
  });

  const among = (found: Findings) =>
    figuresOf(found.head.experiment)
      .find(({ name }) => name === 'this wiring among controls')!
      .draw(found, ({ values }) => values[0]!)!;

  it('draws those of very many comparisons that have the lowest p, then the furthest from their controls', () => {
    const controlOf = (p: number, mean: number) => ({
      ...{ mean, sd: 1, values: [mean], incomplete: [], p, q: 0.5 },
    });
    const found = findings(
      { sweep: [{ set: 'seed', values: [0, 1] }], controls: { shuffle: 'weights', count: 1 } },
      [0, 1].map((seed) => ({
        parameters: { seed },
        groups: {
          cells: Array.from({ length: 20 }, (_, at) =>
            spread(50, 1, [49, 51], {
              type: `T${at}`,
              control: controlOf(at < 17 ? 1 : 0.5, 50 - at - seed),
            }),
          ),
        },
      })),
    );
    const { note, sections } = among(found);
    const titles = sections[0]!.panels.map(({ title }) => title);
    expect(titles).toHaveLength(12);
    expect(titles.slice(0, 8)).toEqual(
      ['T19, seed 1', 'T19, seed 0', 'T18, seed 1', 'T18, seed 0', 'T17, seed 1', 'T17, seed 0']
        .concat(['T16, seed 1', 'T16, seed 0'])
        .map((title) => `cells ${title}`),
    );
    expect(note).toContain(
      'The 12 of 40 groups with the lowest p are drawn; of equal p, those furthest from the mean of their controls.',
    );
  });

  it('has the comparisons of a sweep in a file, too', () => {
    const control = { mean: 3, sd: 1, values: [2, 4], incomplete: [], p: 1 / 3, q: 1 / 3 };
    const sweep = [{ set: 'seed', values: [0, 1] }];
    const found = findings(
      { sweep, controls: { shuffle: 'weights', count: 2 } },
      [0, 1].map((seed) => ({
        parameters: { seed },
        groups: { cells: [spread(30, 2, [28, 32], { control })] },
      })),
    );
    const titles = figureOfFile(found).sections.flatMap(({ panels }) => panels.map(({ title }) => title));
    expect(titles).toEqual(['cells (Hz)', 'cells, seed 0', 'cells, seed 1']);
    expect(figureOfFile(findings({ sweep }, found.conditions)).sections).toHaveLength(1);
  });

  it('has the first kind that has something to draw, without the comparisons twice', () => {
    const spikes = { ...REPORT, type: 'spikes' };
    const table = {
      table: 'spikes',
      trials: Uint8Array.of(0),
      steps: Uint16Array.of(5),
      neurons: Uint32Array.of(2),
      columns: [],
      truncated: true,
    };
    const control = { mean: 3, sd: 1, values: [2, 4], incomplete: [], p: 1 / 3, q: 1 / 3 };
    const found = (rate: GroupResult) =>
      findings(
        {
          reports: { cells: REPORT_OF_RATES, raster: spikes },
          sweep: [{ set: 'seed', values: [0, 1] }],
          controls: { shuffle: 'weights', count: 2 },
        },
        [0, 1].map((seed) => ({
          parameters: { seed },
          groups: { cells: [rate] },
          tables: { raster: table },
        })),
      );
    const titles = (each: Findings) =>
      figureOfFile(each).sections.flatMap(({ panels }) => panels.map(({ title }) => title));
    // Trials that were stopped have no rates.
    const stopped = found(group({}, null));
    expect(figuresOf(stopped.head.experiment)[0]!.draw(stopped, ({ values }) => values[0]!)).toBeUndefined();
    expect(titles(stopped)).toEqual(new Array(2).fill('raster: the first 1 spikes of 1 neuron'));
    expect(figureOfFile(stopped).note).toContain('Rows of events beyond the limit of the service');
    expect(titles(found(spread(30, 2, [28, 32], { control })))).toEqual([
      'cells (Hz)',
      'cells, seed 0',
      'cells, seed 1',
    ]);
  });

  it('says that nothing is drawn, and that a job is not finished', () => {
    const { label, sections, note } = figureOfFile({ ...findings({}, []), isPartial: true });
    expect([label, sections]).toEqual(['', []]);
    expect(note).toBe(
      'There is nothing to draw: no condition that is done has a number or an event. ' +
        'The job is not finished: only the conditions that are done are drawn.',
    );
  });

  it('is as wide in a file as on the page, and has a largest height with a note of what is left out', () => {
    const names = Array.from({ length: 60 }, (_, at) => `report_${at}`);
    const reports = Object.fromEntries(names.map((name) => [name, REPORT_OF_RATES]));
    const found = findings(
      { reports, sweep: [{ set: 'seed', values: [0, 1] }] },
      [0, 1].map((seed) => ({
        parameters: { seed },
        groups: Object.fromEntries(names.map((name) => [name, [spread(30, 2, [28, 32])]])),
      })),
    );
    const figure = figureOfFile(found);
    expect(figure.sections[0]!.panels).toHaveLength(60);
    const { svg, widthMm } = figureFile(figure, {});
    expect(widthMm).toBeCloseTo(183);
    expect(svg).toMatch(/^<svg [^>]*width="183[.\d]*mm"/);
    const [, omitted] = /(\d+) of 60 panels are left out/.exec(svg)!.map(Number);
    expect(svg.match(/class="mean"/g)).toHaveLength(60 - omitted!);
    const [, height] = /viewBox="0 0 \d+ (\d+)"/.exec(svg)!.map(Number);
    expect(height).toBeLessThan(4300);
    expect(omitted).toBeGreaterThan(0);
    expect(omitted).toBeLessThan(60);
  });

  it('shows the numbers of a comparison whole, even if its title is cut', () => {
    const control = { mean: 3, sd: 1, values: [2, 4], incomplete: [], p: 1 / 3, q: 1 / 3 };
    const reports = { [`long_${'x'.repeat(80)}`]: REPORT_OF_RATES };
    const groups = Object.fromEntries(
      Object.keys(reports).map((name) => [name, [spread(30.25, 1, [29, 31], { control })]]),
    );
    const found = findings({ reports, controls: { shuffle: 'weights', count: 2 } }, [{ groups }]);
    const svg = drawSvg(among(found), 400);
    expect(svg).toContain('>30.3 Hz, p 0.333, q 0.333</text>');
    expect(svg).toMatch(/>long_x+…<\/text>/);
  });

  it('says of controls that are all silent that they are', () => {
    const control = { mean: 0, sd: 0, values: [0, 0], incomplete: [], p: 1 / 3, q: 1 / 3 };
    const found = findings({ controls: { shuffle: 'weights', count: 2 } }, [
      { groups: { cells: [spread(30, 2, [28, 32], { control })] } },
    ]);
    const all = figuresOf(found.head.experiment).find(({ name }) => name === 'this wiring among controls')!;
    const [panel] = all.draw(found, ({ values }) => values[0]!)!.sections[0]!.panels;
    expect(panel!.legend!.at(-1)!.label).toBe('all controls are silent, n = 2');
  });

  it('opens an experiment that reads only courses on the course', () => {
    const reports = { bins: { ...REPORT, type: 'histogram', bin_ms: 20 } as const };
    const [first] = figuresOf(findings({ reports }, []).head.experiment);
    expect(first!.name).toBe('rates in time');
    const [swept] = figuresOf(
      findings({ reports, sweep: [{ set: 'seed', values: [0, 1] }] }, []).head.experiment,
    );
    expect(swept!.name).toBe('mean rate');
  });

  it('mentions sides only if it shows them', () => {
    const note = (label: object) =>
      figureOfFile(findings({}, [{ groups: { cells: [group(label, 2)] } }])).note;
    expect(note({ side: 'left' })).toContain('Left is left.');
    expect(note({ type: 'A' })).not.toContain('Left is left.');
  });

  it('is a histogram over the window, with the stimulation and the lesion below on the same axis', () => {
    const inputs = {
      ramp: {
        node_set: 'A',
        module: 'poisson',
        rate_hz: { times_ms: [0, 10, 30], values: [0, 50, 100] },
        delay_ms: 0,
        duration_ms: 40,
      },
      train: { node_set: 'B', module: 'spikes', times_ms: [5, 15, 45], delay_ms: 10, duration_ms: 90 },
    };
    const bins = { ...REPORT, type: 'histogram', start_ms: 5, end_ms: 50, bin_ms: 20 } as const;
    const found = findings(
      {
        inputs: inputs as never,
        reports: { bins },
        silence: [{ node_set: 'C', start_ms: 20, end_ms: null }],
      },
      [{ groups: { bins: [spread(4, 1, [1, 2], { bins_hz: [10, 0, 30] })] } }],
    );
    const kind = figuresOf(found.head.experiment).find(({ name }) => name === 'rates in time')!;
    const [section] = kind.draw(found, ({ values }) => values[0]!)!.sections;
    const [histogram, stimulus] = section!.panels;
    expect(section!.sharesX).toBe(true);
    expect([histogram!.x, stimulus!.x]).toMatchObject([{ domain: [5, 50] }, { domain: [5, 50] }]);
    const [line] = marksOf(histogram!, 'line');
    expect(line!.points).toEqual([
      [5, 10],
      [25, 10],
      [25, 0],
      [45, 0],
      [45, 30],
      [50, 30],
    ]);
    expect(legendOf(histogram!)).toEqual(['mean over neurons and n = 2 trials, bins of 20 ms']);
    expect(stimulus!.y).toMatchObject({
      bands: [
        { label: 'ramp', note: 'up to 100 Hz' },
        { label: 'train', note: 'events' },
        { label: 'C silenced' },
      ],
    });
    expect(marksOf(stimulus!, 'rect').map(({ x }) => x)).toEqual([
      [10, 30],
      [30, 40],
      [20, 50],
    ]);
    const without = {
      ...found,
      conditions: found.conditions.map((each) => ({ ...each, parameters: { 'inputs.ramp': null } })),
    };
    const [, baseline] = kind.draw(without, ({ values }) => values[0]!)!.sections[0]!.panels;
    expect(baseline!.y).toMatchObject({ bands: [{ label: 'train' }, { label: 'C silenced' }] });
    const [half, full] = marksOf(stimulus!, 'rect').map(({ y: [top, bottom] }) => bottom - top);
    expect(half! / full!).toBeCloseTo((0.08 + 0.72 / 2) / 0.8);
    expect(marksOf(stimulus!, 'ticks')[0]).toMatchObject({ x: [15, 45], rows: [1, 1] });
  });

  it('points out the neurons of a report among all others of a raster', () => {
    const table = {
      table: 'spikes',
      trials: new Uint8Array(100),
      steps: Uint16Array.from({ length: 100 }, (_, at) => at),
      neurons: Uint32Array.from({ length: 100 }, (_, at) => at),
      columns: [],
      truncated: false,
    } as const;
    const found = findings({ reports: { mine: REPORT_OF_RATES, all: { ...REPORT, type: 'spikes' } } }, [
      { tables: { all: table } },
    ]);
    const resolved = {
      'reports.mine': { neurons: 2, sides: {}, types: { 'type 7': 2 }, missing: [] },
      'reports.all': { neurons: 100, sides: {}, types: { 'type 8': 2 }, missing: [] },
    };
    const raster = figuresOf(found.head.experiment).find(({ name }) => name === 'spikes')!;
    const drawn = raster.draw({ ...found, head: { ...found.head, resolved } }, ({ values }) => values[0]!);
    const [panel] = drawn!.sections[0]!.panels;
    const marked = 'bands' in panel!.y ? panel!.y.bands.filter(({ isMarked }) => isMarked) : [];
    expect(marked.map(({ label }) => label)).toEqual(['type 7']);
    expect(marksOf(panel!, 'ticks').map(({ paint, rows }) => [paint, rows.length])).toEqual([
      ['text', 98],
      [0, 2],
    ]);
    // Rows of 5.6 pixels are too thin for labels, except for that of a reported neuron.
    const svg = drawSvg({ label: '', note: '', sections: [{ panels: [panel!], smallestWidth: 1 }] }, 600);
    expect([...svg.matchAll(/>(type \d+)<\/text>/g)].map(([, label]) => label)).toContain('type 7');
  });
});
