/**
 * Draws every spike as a dot, with time to the right and neurons down. Rows are grouped by super class, from senses to
 * muscles, or by cell type, the most active first. Dragging zooms.
 */
import uPlot from 'uplot';
import type { CompactAtlas } from '../../../src/engine/connectome/atlas-binary.js';
import { STEPS_PER_MS } from '../../../src/engine/simulation/network.js';
import { labelOfType, spoken } from '../selection.js';
import type { Run } from '../service/run-result.js';
import { SUPER_CLASSES, superClassIndex, type Theme } from '../theme.js';
import { timePlotOptions } from './time-plot.js';

export type RasterOrder = 'super class' | 'type';

/** A band lower than this gets no label. */
const SMALLEST_LABELLED_PIXELS = 14;
const HEIGHT = 340;
const LABEL_CHARACTERS = 15;

interface Band {
  readonly name: string;
  readonly from: number;
  readonly to: number;
}

interface Rows {
  /** Row of each visible neuron, from the top. */
  readonly of: ReadonlyMap<number, number>;
  readonly bands: readonly Band[];
}

export interface RasterContent {
  readonly run: Run;
  readonly kept: Run | undefined;
  readonly order: RasterOrder;
  /** Only these neurons, or all that spike. */
  readonly only: ReadonlySet<number> | undefined;
}

export function plotRaster(
  container: HTMLElement,
  { run, kept, order, only }: RasterContent,
  atlas: CompactAtlas,
  theme: Theme,
  onSeek: (timeMs: number) => void,
): uPlot {
  const runs = kept === undefined ? [run] : [run, kept];
  const rows = order === 'type' ? rowsByType(runs, atlas, only) : rowsBySuperClass(runs, atlas, only);
  const durationMs = Math.max(...runs.map(({ response }) => response.duration_ms));
  const count = Math.max(1, rows.of.size);
  const labelled = (plot: uPlot): Band[] => {
    const { min, max } = plot.scales['y']!;
    const pixelsPerRow = plot.bbox.height / devicePixelRatio / (max! - min!);
    return rows.bands.filter(
      ({ from, to }) =>
        to > min! &&
        from < max! &&
        (Math.min(to, max!) - Math.max(from, min!)) * pixelsPerRow >= SMALLEST_LABELLED_PIXELS,
    );
  };
  const options = timePlotOptions(container, theme, onSeek);
  return new uPlot(
    {
      ...options,
      height: HEIGHT,
      legend: { show: false },
      cursor: { ...options.cursor, drag: { x: true, y: true, uni: 20 } },
      scales: {
        x: { time: false, range: (_, min, max) => [Math.max(0, min), Math.min(durationMs, max)] },
        y: { range: (_, min, max) => [Math.max(0, min), Math.min(count, max)], dir: -1 },
      },
      series: [{}, { paths: () => null, points: { show: false } }],
      axes: [
        ...options.axes,
        {
          stroke: theme.muted,
          size: 108,
          grid: { show: false },
          ticks: { show: false },
          splits: (plot) => {
            const { min, max } = plot.scales['y']!;
            return labelled(plot).map(({ from, to }) => (Math.max(from, min!) + Math.min(to, max!)) / 2);
          },
          values: (plot) => labelled(plot).map(({ name }) => shortened(name)),
        },
      ],
      hooks: {
        draw: [
          (plot) => {
            const { ctx, bbox } = plot;
            ctx.save();
            ctx.beginPath();
            ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
            ctx.clip();
            drawBands(plot, rows.bands, theme);
            if (kept !== undefined) drawSpikes(plot, kept, rows, theme.kept);
            drawSpikes(plot, run, rows, theme.run);
            ctx.restore();
          },
        ],
      },
    },
    [
      [0, durationMs],
      [0, count],
    ],
    container,
  );
}

/** Zooms the time axis around a moment, up to the whole plot. */
export function zoomRaster(plot: uPlot, factor: number, aroundMs: number): void {
  const { min, max } = plot.scales['x']!;
  const length = (max! - min!) / factor;
  const from = Math.max(0, Math.min(aroundMs - length / 2, plot.data[0].at(-1)! - length));
  plot.setScale('x', { min: from, max: from + length });
}

export function resetRaster(plot: uPlot): void {
  plot.batch(() => {
    plot.setScale('x', { min: 0, max: plot.data[0].at(-1)! });
    plot.setScale('y', { min: 0, max: plot.data[1]!.at(-1)! });
  });
}

function shortened(name: string): string {
  return name.length > LABEL_CHARACTERS ? `${name.slice(0, LABEL_CHARACTERS - 1)}…` : name;
}

function spikingIn(runs: readonly Run[], only: ReadonlySet<number> | undefined): number[] {
  const spiking = new Set(runs.flatMap(({ counts }) => [...counts.keys()]));
  return [...spiking].filter((neuron) => only?.has(neuron) ?? true);
}

function rowsBySuperClass(
  runs: readonly Run[],
  { types, typeIndices }: CompactAtlas,
  only: ReadonlySet<number> | undefined,
): Rows {
  const classOf = (neuron: number): number => superClassIndex(types[typeIndices[neuron]!]!.superClass);
  const spiking = spikingIn(runs, only).sort((a, b) => classOf(a) - classOf(b) || a - b);
  return rowsOf(spiking, classOf, (index) => spoken(SUPER_CLASSES[index] ?? 'other'));
}

/** The type with the most spikes in all runs is at the top. */
function rowsByType(
  runs: readonly Run[],
  { types, typeIndices }: CompactAtlas,
  only: ReadonlySet<number> | undefined,
): Rows {
  const spikes = new Map<number, number>();
  for (const { counts } of runs) {
    for (const [neuron, count] of counts) {
      const type = typeIndices[neuron]!;
      spikes.set(type, (spikes.get(type) ?? 0) + count);
    }
  }
  const typeOf = (neuron: number): number => typeIndices[neuron]!;
  const spiking = spikingIn(runs, only).sort((a, b) => {
    const [one, other] = [typeOf(a), typeOf(b)];
    return spikes.get(other)! - spikes.get(one)! || one - other || a - b;
  });
  return rowsOf(spiking, typeOf, (type) => labelOfType(types[type]!));
}

function rowsOf(
  neurons: readonly number[],
  groupOf: (neuron: number) => number,
  nameOf: (group: number) => string,
): Rows {
  const bands: Band[] = [];
  let group = NaN;
  neurons.forEach((neuron, row) => {
    if (groupOf(neuron) === group) {
      bands[bands.length - 1] = { ...bands.at(-1)!, to: row + 1 };
      return;
    }
    group = groupOf(neuron);
    bands.push({ name: nameOf(group), from: row, to: row + 1 });
  });
  return { of: new Map(neurons.map((neuron, row) => [neuron, row])), bands };
}

function drawBands(plot: uPlot, bands: readonly Band[], theme: Theme): void {
  const { ctx, bbox } = plot;
  const { min, max } = plot.scales['y']!;
  // More lines than this would be a grey block.
  if (bands.length > bbox.height / (6 * devicePixelRatio) && max! - min! > bands.length / 2) return;
  ctx.fillStyle = theme.line;
  for (const { from } of bands.slice(1)) {
    ctx.fillRect(bbox.left, Math.round(plot.valToPos(from, 'y', true)), bbox.width, devicePixelRatio);
  }
}

function drawSpikes(plot: uPlot, { raster }: Run, rows: Rows, colour: string): void {
  const { ctx, bbox } = plot;
  const { steps, neurons } = raster;
  const { min, max } = plot.scales['y']!;
  const [left, top] = [plot.valToPos(0, 'x', true), plot.valToPos(0, 'y', true)];
  const pixelsPerStep = (plot.valToPos(1, 'x', true) - left) / STEPS_PER_MS;
  const rowHeight = bbox.height / (max! - min!);
  const width = 1.6 * devicePixelRatio;
  const height = Math.min(4 * devicePixelRatio, Math.max(1.2 * devicePixelRatio, 0.8 * rowHeight));
  const area = (bbox.width * bbox.height * rows.of.size) / (max! - min!);
  // Dense spikes are more transparent, so that they do not merge into one block.
  ctx.globalAlpha = Math.min(1, Math.max(0.25, (0.5 * area) / (steps.length * width * height)));
  ctx.fillStyle = colour;
  for (let spike = 0; spike < steps.length; spike++) {
    const row = rows.of.get(neurons[spike]!);
    if (row === undefined || row + 1 < min! || row > max!) continue;
    ctx.fillRect(left + steps[spike]! * pixelsPerStep, top + row * rowHeight, width, height);
  }
  ctx.globalAlpha = 1;
}
