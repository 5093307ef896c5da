/** Every spike as a dot: time along, neurons down, grouped by super class from the senses to the muscles. */
import uPlot from 'uplot';
import type { CompactAtlas } from '../../../connectome/atlas-binary.js';
import { STEPS_PER_MS } from '../../../engine/network.js';
import type { Run } from '../service/run-result.js';
import { SUPER_CLASSES, superClassIndex, type Theme } from '../theme.js';
import { timePlotOptions } from './time-plot.js';

/** A super class with a smaller share of the rows gets no label of its own. */
const SMALLEST_LABELLED_SHARE = 0.045;

interface Band {
  readonly name: string;
  readonly from: number;
  readonly to: number;
}

interface Rows {
  /** Row of each neuron that spiked, from the top. */
  readonly of: Map<number, number>;
  readonly bands: readonly Band[];
}

export function plotRaster(
  container: HTMLElement,
  run: Run,
  kept: Run | undefined,
  atlas: CompactAtlas,
  theme: Theme,
  onSeek: (timeMs: number) => void,
): uPlot {
  const rows = rowsOf(kept === undefined ? [run] : [run, kept], atlas);
  const durationMs = Math.max(run.response.duration_ms, kept?.response.duration_ms ?? 0);
  const labelled = rows.bands.filter(({ from, to }) => to - from >= SMALLEST_LABELLED_SHARE * rows.of.size);
  const centres = labelled.map(({ from, to }) => (from + to) / 2);
  const options = timePlotOptions(container, durationMs, theme, onSeek);
  return new uPlot(
    {
      ...options,
      height: 320,
      legend: { show: false },
      scales: { ...options.scales, y: { range: [0, Math.max(1, rows.of.size)], dir: -1 } },
      series: [{}, { paths: () => null, points: { show: false } }],
      axes: [
        ...options.axes,
        {
          stroke: theme.muted,
          size: 108,
          grid: { show: false },
          ticks: { show: false },
          splits: () => centres,
          values: () => labelled.map(({ name }) => name.replaceAll('_', ' ')),
        },
      ],
      hooks: {
        draw: [
          (plot) => {
            drawBands(plot, rows.bands, theme);
            if (kept !== undefined) drawSpikes(plot, kept, rows, theme.kept);
            drawSpikes(plot, run, rows, theme.run);
          },
        ],
      },
    },
    [
      [0, durationMs],
      [0, 0],
    ],
    container,
  );
}

function rowsOf(runs: readonly Run[], { types, typeIndices }: CompactAtlas): Rows {
  const classOf = (neuron: number): number => superClassIndex(types[typeIndices[neuron]!]!.superClass);
  const spiking = [...new Set(runs.flatMap(({ raster }) => Array.from(new Set(raster.neurons))))];
  spiking.sort((a, b) => classOf(a) - classOf(b) || a - b);
  const bands: Band[] = [];
  spiking.forEach((neuron, row) => {
    const name = SUPER_CLASSES[classOf(neuron)] ?? 'other';
    const last = bands.at(-1);
    if (last?.name === name) bands[bands.length - 1] = { ...last, to: row + 1 };
    else bands.push({ name, from: row, to: row + 1 });
  });
  return { of: new Map(spiking.map((neuron, row) => [neuron, row])), bands };
}

function drawBands(plot: uPlot, bands: readonly Band[], theme: Theme): void {
  const { ctx, bbox } = plot;
  ctx.fillStyle = theme.line;
  for (const { from } of bands.slice(1)) {
    ctx.fillRect(bbox.left, Math.round(plot.valToPos(from, 'y', true)), bbox.width, devicePixelRatio);
  }
}

function drawSpikes(plot: uPlot, { raster }: Run, rows: Rows, colour: string): void {
  const { ctx, bbox } = plot;
  const { steps, neurons } = raster;
  const pixelsPerStep = (plot.valToPos(1, 'x', true) - plot.valToPos(0, 'x', true)) / STEPS_PER_MS;
  const rowHeight = bbox.height / Math.max(1, rows.of.size);
  const width = 1.6 * devicePixelRatio;
  const height = Math.min(3 * devicePixelRatio, Math.max(1.2 * devicePixelRatio, 0.8 * rowHeight));
  // Where spikes are dense they must not merge into one block.
  ctx.globalAlpha = Math.min(
    1,
    Math.max(0.25, (0.5 * bbox.width * bbox.height) / (steps.length * width * height)),
  );
  ctx.fillStyle = colour;
  for (let spike = 0; spike < steps.length; spike++) {
    const x = bbox.left + steps[spike]! * pixelsPerStep;
    const y = bbox.top + rows.of.get(neurons[spike]!)! * rowHeight;
    ctx.fillRect(x, y, width, height);
  }
  ctx.globalAlpha = 1;
}
