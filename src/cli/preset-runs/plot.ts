/**
 * Experiments as a figure: the raster of each condition (its first seed), and under them the rate of every
 * channel that is not silent, as mean and standard deviation over the seeds.
 */
import type { TopLevelSpec } from 'vega-lite';
import { STEPS_PER_MS } from '../../engine/network.js';
import { FRAME_MS } from '../../answers/v1/readout.js';
import { COLOURS } from '../../plot/svg.js';
import { LEGEND, rasterPanel, type Band, type Panel } from '../raster-panel.js';
import type { NeuronLabels, RunBody } from './source.js';
import { labelOf, roundedSpread, type Condition } from './summary.js';

const WIDTH = 640;
const GAP = 120;
const CHANNEL_HEIGHT = 30;
const [OTHER_COLOUR, , FIRST_COLOUR, SECOND_COLOUR] = COLOURS;

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

/** Neurons of one cell type stand together, the busiest type on top. */
function raster(condition: Condition, labels: NeuronLabels, width: number): Panel {
  const run = condition.runs[0]!;
  return rasterPanel({
    title: `${labelOf(condition)}, seed ${condition.seeds[0]!}`,
    width,
    durationMs: condition.experiment.duration_ms,
    bands: bandsOf(run, labels),
    spikes: (run.frames ?? []).flatMap(({ steps, spikes }) =>
      steps.map((step, at) => ({ ms: step / STEPS_PER_MS, neuron: spikes[at]! })),
    ),
  });
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
  return [...neuronsOf]
    .filter(([, neurons]) => neurons.length > 0)
    .map(([type, neurons]) => ({
      name: type || 'others',
      isStimulated: top.get(type) === true,
      neurons,
    }));
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
