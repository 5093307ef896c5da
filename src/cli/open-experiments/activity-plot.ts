/** The activity in single conditions: rasters of their first trial, histograms, bars of rates. */
import type { SpikeTable } from '../../answers/v2/result.js';
import type { LabelledNeurons } from '../../answers/v2/formats/tables.js';
import { STEPS_PER_MS } from '../../experiment/protocol.js';
import { COLOURS } from '../../plot/svg.js';
import { LEGEND, rasterPanel, type Band, type Panel } from '../raster-panel.js';
import {
  groupIn,
  parametersText,
  type CollectedAnswer,
  type CollectedCondition,
  type Series,
} from './collected-answer.js';

const WIDTH = 640;
const GAP = 120;
const MOST_RASTERS = 2;
const MOST_BANDS = 20;
const MOST_BARS = 40;
const BAR_HEIGHT = 14;
const HISTOGRAM_HEIGHT = 60;

/** Side by side, for the first report of spikes. */
export function rasterPanels({ head, conditions }: CollectedAnswer, neurons: LabelledNeurons): Panel[] {
  const { inputs, duration_ms: durationMs } = head.experiment;
  const stimulated = new Set(
    Object.keys(inputs).flatMap((name) => Object.keys(head.resolved[`inputs.${name}`]!.types)),
  );
  const shown = conditions.slice(0, MOST_RASTERS).flatMap((condition) => {
    const table = Object.values(condition.tables).find(({ table: kind }) => kind === 'spikes');
    return table === undefined ? [] : [{ condition, table }];
  });
  if (shown.length === 0) return [];
  const width = shown.length === 1 ? WIDTH : (WIDTH - GAP) / 2;
  const panels = shown.map(({ condition, table }) => {
    const spikes = firstTrial(table);
    return rasterPanel({
      title: `${parametersText(condition) || 'spikes'}, trial 0`,
      width,
      durationMs: (condition.parameters['duration_ms'] as number | undefined) ?? durationMs,
      bands: bandsOf(spikes, neurons, stimulated),
      spikes,
    });
  });
  return [{ hconcat: panels, spacing: GAP }];
}

function firstTrial({ trials, steps, neurons }: SpikeTable): { ms: number; neuron: number }[] {
  const end = trials.findIndex((trial) => trial > 0);
  return Array.from(steps.subarray(0, end < 0 ? steps.length : end), (step, row) => ({
    ms: step / STEPS_PER_MS,
    neuron: neurons[row]!,
  }));
}

/** Neurons of one cell type stand together, the busiest type on top; what is beyond the first types is one band. */
function bandsOf(
  spikes: readonly { readonly neuron: number }[],
  { metadata, typeIndices }: LabelledNeurons,
  stimulated: ReadonlySet<string>,
): Band[] {
  const spikesOfType = new Map<number, number>();
  for (const { neuron } of spikes) {
    const type = typeIndices[neuron]!;
    spikesOfType.set(type, (spikesOfType.get(type) ?? 0) + 1);
  }
  const ranked = [...spikesOfType].sort(([a, most], [b, more]) => more - most || a - b).map(([type]) => type);
  const top = new Set(ranked.slice(0, MOST_BANDS));
  const responding = Int32Array.from(new Set(spikes.map(({ neuron }) => neuron))).sort();
  const isOf = (type: number | undefined) => (neuron: number) =>
    type === undefined ? !top.has(typeIndices[neuron]!) : typeIndices[neuron] === type;
  return [...top, undefined]
    .map((type) => {
      const name = type === undefined ? 'others' : metadata.types[type]!.name;
      return {
        name: name || 'without a type',
        isStimulated: type !== undefined && stimulated.has(name),
        neurons: [...responding.filter(isOf(type))],
      };
    })
    .filter(({ neurons }) => neurons.length > 0);
}

/** One for each group of a histogram, each on its own scale; the conditions are colours. */
export function histogramPanels({ head, conditions }: CollectedAnswer, series: readonly Series[]): Panel[] {
  const shown = conditions.slice(0, COLOURS.length);
  const names = shown.map((condition) => parametersText(condition) || 'rate');
  return series.map((each, at) => {
    const { start_ms: startMs, end_ms: endMs, bin_ms: binMs } = head.experiment.reports[each.report]!;
    const isLast = at === series.length - 1;
    const values = shown.flatMap((condition, of) => {
      const bins = groupIn(condition, each).bins_hz ?? [];
      // A last point closes the step of the last bin.
      return [...bins, bins.at(-1) ?? 0].map((hz, bin) => ({
        ms: bin === bins.length && endMs !== null ? endMs : startMs + bin * binMs!,
        hz,
        condition: names[of],
      }));
    });
    return {
      width: WIDTH,
      height: HISTOGRAM_HEIGHT,
      data: { values },
      mark: { type: 'line', interpolate: 'step-after', strokeWidth: 1.2 },
      encoding: {
        x: {
          field: 'ms',
          type: 'quantitative',
          scale: { nice: false },
          axis: { title: isLast ? 'time (ms)' : null, labels: isLast, grid: false },
        },
        y: {
          field: 'hz',
          type: 'quantitative',
          axis: { title: `${each.name} (Hz)`, titleAngle: 0, titleAlign: 'right', titleX: -42, tickCount: 2 },
        },
        color: {
          field: 'condition',
          type: 'nominal',
          sort: names,
          legend: names.length === 1 || !isLast ? null : LEGEND,
        },
      },
    };
  });
}

/** The rates of the most active groups. */
export function ratePanel(condition: CollectedCondition, series: readonly Series[]): Panel {
  const values = series
    .flatMap((each) => {
      const rate = groupIn(condition, each).rate_hz;
      return rate === null ? [] : [{ name: each.name, ...rate }];
    })
    .sort((a, b) => b.mean - a.mean)
    .slice(0, MOST_BARS)
    .map(({ name, mean, sd }) => ({ name, mean, low: Math.max(0, mean - sd), high: mean + sd }));
  const y = { field: 'name', type: 'nominal', sort: values.map(({ name }) => name), axis: { title: null } };
  const x = { field: 'mean', type: 'quantitative', axis: { title: 'rate (Hz)' } };
  return {
    width: WIDTH,
    height: Math.max(1, values.length) * BAR_HEIGHT,
    title: { text: parametersText(condition), fontSize: 11, fontWeight: 'normal', offset: 4 },
    data: { values },
    layer: [
      { mark: { type: 'bar', color: COLOURS[0] }, encoding: { x, y } },
      {
        mark: { type: 'rule' },
        encoding: { x: { field: 'low', type: 'quantitative' }, x2: { field: 'high' }, y },
      },
    ],
  };
}
