/**
 * Experiments as a figure: the raster of each condition (its first seed), and under them the rate of every
 * channel that is not silent, as mean and standard deviation over the seeds.
 */
import type { TopLevelSpec } from 'vega-lite';
import { STEPS_PER_MS } from '../../engine/network.js';
import { FRAME_MS } from '../../answers/v1/readout.js';
import { COLOURS } from '../../plot/svg.js';
import type { NeuronLabels, RunBody } from './source.js';
import { labelOf, roundedSpread, type Condition } from './summary.js';

const WIDTH = 640;
const GAP = 120;
const RASTER_HEIGHT = 340;
const CHANNEL_HEIGHT = 30;
const SMALLEST_LABELLED_BAND = 9;
const SMALLEST_SPIKE = 2;
const STIMULATED = 'cell types with stimulated neurons';
const OTHERS = 'other cell types';
const [OTHER_COLOUR, STIMULATED_COLOUR, FIRST_COLOUR, SECOND_COLOUR] = COLOURS;

const LEGEND = { title: null, orient: 'bottom', symbolType: 'square', labelLimit: 300 };

/** A part of a Vega-Lite description; the library checks the whole when it compiles it. */
type Panel = Record<string, unknown>;

export function plotOf(
  conditions: readonly Condition[],
  labels: NeuronLabels,
  modelName: string,
): TopLevelSpec {
  const rasterWidth = conditions.length === 1 ? WIDTH : (WIDTH - GAP) / 2;
  const { experiment, seeds, runs } = conditions[0]!;
  const seedText = seeds.length === 1 ? `seed ${seeds[0]!}` : `seeds ${seeds[0]!} to ${seeds.at(-1)!}`;
  const spec = {
    title: {
      text: conditions.map(labelOf).join(' / '),
      subtitle: [
        `${experiment.duration_ms} ms, intensity ${experiment.intensity}, ${seedText}`,
        `${modelName}; first run ${runs[0]!.id}`,
      ],
    },
    vconcat: [
      { hconcat: conditions.map((condition) => raster(condition, labels, rasterWidth)), spacing: GAP },
      ...channelPanels(conditions),
    ],
    spacing: 12,
    resolve: { scale: { color: 'independent' } },
  };
  return spec as unknown as TopLevelSpec;
}

/** Every spike as a short upright line; neurons of one cell type stand together, the busiest type on top. */
function raster(condition: Condition, labels: NeuronLabels, width: number): Panel {
  const run = condition.runs[0]!;
  const bands = bandsOf(run, labels);
  const rowOf = new Map(
    bands.flatMap(({ neurons, from }) => neurons.map((neuron, at) => [neuron, from + at])),
  );
  const kindOf = new Map(bands.flatMap(({ neurons, kind }) => neurons.map((neuron) => [neuron, kind])));
  const rows = Math.max(1, rowOf.size);
  // Where rows are thinner than a pixel, a spike still has to be seen.
  const halfHeight = Math.max(0.5, (SMALLEST_SPIKE * rows) / RASTER_HEIGHT / 2);
  const ticks = (run.frames ?? []).flatMap(({ steps, spikes }) =>
    steps.flatMap((step, at) => {
      const [row, kind] = [rowOf.get(spikes[at]!)!, kindOf.get(spikes[at]!)!];
      const ms = step / STEPS_PER_MS;
      // The row without a time ends the line, so that all spikes of a kind are one path.
      return [
        { ms, row: row + 0.5 - halfHeight, kind },
        { ms, row: row + 0.5 + halfHeight, kind },
        { ms: null, row, kind },
      ];
    }),
  );
  const labelled = bands.filter(
    ({ neurons }) => (neurons.length / rows) * RASTER_HEIGHT >= SMALLEST_LABELLED_BAND,
  );
  const y = { type: 'quantitative', scale: { domain: [rows, 0], nice: false }, axis: null };
  return {
    width,
    height: RASTER_HEIGHT,
    title: {
      text: `${labelOf(condition)}, seed ${condition.seeds[0]!}`,
      fontSize: 11,
      fontWeight: 'normal',
      offset: 4,
    },
    layer: [
      {
        data: {
          values: labelled.flatMap(({ from, neurons }) => [{ row: from }, { row: from + neurons.length }]),
        },
        mark: { type: 'rule', color: '#e4e4e4' },
        encoding: { y: { field: 'row', ...y } },
      },
      {
        data: {
          values: labelled.map(({ name, from, neurons }) => ({ row: from + neurons.length / 2, name })),
        },
        mark: { type: 'text', align: 'right', baseline: 'middle', fontSize: 9, dx: -5, color: '#333333' },
        encoding: { x: { value: 0 }, y: { field: 'row', ...y }, text: { field: 'name' } },
      },
      {
        data: { values: ticks },
        mark: { type: 'line', strokeWidth: 0.9, invalid: 'break-paths-filter-domains' },
        encoding: {
          x: {
            field: 'ms',
            type: 'quantitative',
            scale: { domain: [0, condition.experiment.duration_ms], nice: false },
            axis: { title: 'time (ms)', grid: false },
          },
          y: { field: 'row', ...y },
          color: {
            field: 'kind',
            type: 'nominal',
            scale: { domain: [STIMULATED, OTHERS], range: [STIMULATED_COLOUR, OTHER_COLOUR] },
            legend: LEGEND,
          },
          order: { value: null },
        },
      },
    ],
  };
}

interface Band {
  readonly name: string;
  readonly kind: typeof STIMULATED | typeof OTHERS;
  /** First row. */
  readonly from: number;
  readonly neurons: readonly number[];
}

/** The responding neurons by cell type, in the order of top_types; the types beyond it are one last band. */
function bandsOf({ frames = [], top_types: topTypes = [] }: RunBody, labels: NeuronLabels): Band[] {
  const top = new Map(topTypes.map(({ type, stimulated }) => [type, stimulated > 0]));
  const neuronsOf = new Map<string, number[]>([...top.keys(), ''].map((type) => [type, []]));
  const responding = Int32Array.from(new Set(frames.flatMap(({ spikes }) => spikes))).sort();
  for (const neuron of responding) {
    const label = labels.typeLabel(neuron);
    neuronsOf.get(top.has(label) ? label : '')!.push(neuron);
  }
  let from = 0;
  const bands: Band[] = [];
  for (const [type, neurons] of neuronsOf) {
    if (neurons.length === 0) continue;
    bands.push({ name: type || 'others', kind: top.get(type) ? STIMULATED : OTHERS, from, neurons });
    from += neurons.length;
  }
  return bands;
}

/** One panel for each channel, so that each has its own scale. */
function channelPanels(conditions: readonly Condition[]): Panel[] {
  const active = Object.keys(conditions[0]!.runs[0]!.channels).filter((id) =>
    conditions.some(({ runs }) => runs.some(({ channels }) => channels[id]! > 0)),
  );
  return active.map((channel, at) => channelPanel(conditions, channel, at === active.length - 1));
}

function channelPanel(conditions: readonly Condition[], channel: string, isLast: boolean): Panel {
  const names = conditions.map(labelOf);
  const { duration_ms: durationMs } = conditions[0]!.experiment;
  const axis = {
    title: channel,
    titleAngle: 0,
    titleAlign: 'right',
    titleBaseline: 'middle',
    titleX: -42,
    titleY: CHANNEL_HEIGHT / 2,
    tickCount: 2,
  };
  return {
    width: WIDTH,
    height: CHANNEL_HEIGHT,
    data: { values: conditions.flatMap((condition) => frameRates(condition, channel)) },
    encoding: {
      x: {
        field: 'ms',
        type: 'quantitative',
        scale: { domain: [0, durationMs], nice: false },
        axis: {
          title: isLast ? 'time (ms); channels in Hz, in frames of 5 ms' : null,
          labels: isLast,
          grid: false,
        },
      },
      color: {
        field: 'condition',
        type: 'nominal',
        scale: { domain: names, range: names.length === 1 ? [OTHER_COLOUR] : [FIRST_COLOUR, SECOND_COLOUR] },
        legend: names.length === 1 || !isLast ? null : LEGEND,
      },
    },
    layer: [
      {
        mark: { type: 'area', interpolate: 'step-after', opacity: 0.25 },
        encoding: { y: { field: 'low', type: 'quantitative', axis }, y2: { field: 'high' } },
      },
      {
        mark: { type: 'line', interpolate: 'step-after', strokeWidth: 1.2 },
        encoding: { y: { field: 'mean', type: 'quantitative', axis } },
      },
    ],
  };
}

/** Rate of a channel in each frame, over the seeds: mean, and one standard deviation to either side. */
function frameRates(condition: Condition, channel: string): Panel[] {
  const frameCount = condition.experiment.duration_ms / FRAME_MS;
  // A last point closes the step of the last frame.
  return Array.from({ length: frameCount + 1 }, (_, at) => {
    const frame = Math.min(at, frameCount - 1);
    const rates = condition.runs.map(({ frames }) => frames![frame]!.channels[channel]!);
    const { mean, sd } = roundedSpread(rates, (rate) => rate);
    const spread = sd ?? 0;
    return {
      condition: labelOf(condition),
      ms: at * FRAME_MS,
      mean,
      low: Math.max(0, mean - spread),
      high: mean + spread,
    };
  });
}
