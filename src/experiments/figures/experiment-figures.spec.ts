import type { ExperimentDocument } from '../document/document.js';
import type { ExperimentHead, GroupResult } from '../run/result.js';
import { drawSvg, PAPER } from './draw.js';
import { figureOfFile, figuresOf } from './experiment-figures.js';
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

it('draws membrane potentials as a line for each of the first neurons of a trial, not as a raster', () => {
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
  const found = findings({ reports }, [{ tables: { mine: table } }]);
  expect(figuresOf(found.head.experiment).map(({ name, table: of }) => [name, of])).toEqual([
    ['membrane potentials', 'membrane'],
    ['spikes', 'spikes'],
  ]);
  const [panel] = panelsOf(found);
  expect(panel).toMatchObject({
    title: 'mine: Membrane potential (mV)',
    x: { domain: [0, 2] },
    // Ends of six of the seven neurons in the first of two trials.
    y: { domain: [-52, -49] },
  });
  expect(panel!.legend!.map(({ label }) => label)).toEqual([1, 1, 2, 2, 3, 3].map((type) => `type ${type}`));
  const lines = marksOf(panel!, 'line').map(({ points }) => points);
  expect(lines).toHaveLength(6);
  expect(lines[5]).toEqual([
    [1, -50.75],
    [2, -49],
  ]);
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

  it('draws the lines that change most where there are too many', () => {
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

  it('leaves silent lines out where there are too many, and says how many it draws', () => {
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

  it('names the network without a lesion, and shortens ids where titles have them whole', () => {
    const id = '720575940640589171';
    const found = findings({ sweep: [{ each: 'CB*', group_by: ['neuron', 'type'], as: 'silence' }] }, [
      { parameters: { silence: null }, groups: { cells: [spread(50, 1, [49, 51])] } },
      {
        parameters: { silence: { root_id: id, type: 'DNge031' } },
        groups: { cells: [spread(80, 1, [79, 81])] },
      },
    ]);
    const [panel] = panelsOf(found);
    expect(panel!.y).toMatchObject({ bands: [{ label: 'nothing silenced' }, { label: `${id} DNge031` }] });
    expect(legendOf(panel!)).toEqual([
      'lower than with nothing silenced, n = 2 trials',
      'higher',
      '± population sd',
      'nothing silenced',
    ]);
    const svg = drawSvg(figureOfFile(found), 600);
    expect(svg).toContain('>…640589171 DNge031</text>');
    expect(svg).toContain(`<title>${id} DNge031: 80.0 ± 1.0 Hz</title>`);
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
    // Rows of 5.6 pixels are too thin for labels, but for that of a neuron that is read.
    const svg = drawSvg({ label: '', note: '', sections: [{ panels: [panel!], smallestWidth: 1 }] }, 600);
    expect([...svg.matchAll(/>(type \d+)<\/text>/g)].map(([, label]) => label)).toContain('type 7');
  });
});
