/**
 * Draws every spike as a stroke, with time to the right and neurons down. Rows are grouped by super class, from senses to
 * muscles, or by cell type, the most active first. Dragging zooms.
 */
import type { CompactAtlas } from '../../../src/engine/connectome/atlas-binary.js';
import { STEPS_PER_MS } from '../../../src/engine/simulation/network.js';
import type { Mark } from '../../../src/experiments/figures/figure.js';
import { labelOfType, spoken } from '../selection.js';
import type { Run } from '../service/run-result.js';
import { SUPER_CLASSES, superClassIndex } from '../theme.js';
import { type Range, type TimePanel, TimePlot } from './time-plot.js';

export type RasterOrder = 'super class' | 'type';

const HEIGHT_PX = 290;
const LABEL_CHARACTERS = 12;
/** More strokes slow the page down, and cannot be told apart. */
const MAX_SPIKES = 50_000;

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

interface RasterContent {
  readonly run: Run;
  readonly kept: Run | undefined;
  readonly order: RasterOrder;
  /** Only these neurons, or all that spike. */
  readonly only: ReadonlySet<number> | undefined;
  /** Describes the raster to readers who cannot see it. */
  readonly label: string;
}

/** The visible part, from the first row to the one after the last. */
interface View {
  readonly ms: Range;
  readonly rows: Range;
}

export class SpikeRaster {
  readonly #plot: TimePlot;
  #content: RasterContent | undefined;
  #rows: Rows = { of: new Map(), bands: [] };
  #whole: View = { ms: [0, 0], rows: [0, 0] };
  #view = this.#whole;

  constructor(container: HTMLElement, onSeek: (timeMs: number) => void) {
    this.#plot = new TimePlot(container, onSeek, ({ x, y }) => {
      const [first, end] = partOf(this.#view.rows, y);
      this.#look({ ms: partOf(this.#view.ms, x), rows: [Math.floor(first), Math.ceil(end)] });
    });
  }

  show(content: RasterContent, atlas: CompactAtlas): void {
    const { run, kept } = content;
    const runs = kept === undefined ? [run] : [run, kept];
    this.#content = content;
    this.#rows = rowsOf(runs, content, atlas);
    const durationMs = Math.max(...runs.map(({ response }) => response.duration_ms));
    this.#whole = { ms: [0, durationMs], rows: [0, this.#rows.of.size] };
    this.reset();
  }

  /** Zooms the time axis around a moment, up to the whole run. */
  zoom(factor: number, aroundMs: number): void {
    const [from, to] = this.#view.ms;
    const lengthMs = (to - from) / factor;
    const startMs = Math.max(0, Math.min(aroundMs - lengthMs / 2, this.#whole.ms[1] - lengthMs));
    this.#look({ ...this.#view, ms: [startMs, startMs + lengthMs] });
  }

  reset(): void {
    this.#look(this.#whole);
  }

  moveTo(timeMs: number): void {
    this.#plot.moveTo(timeMs);
  }

  #look(view: View): void {
    if (this.#content === undefined) return;
    this.#view = view;
    const { run, kept, label } = this.#content;
    this.#plot.draw(rasterPanel(run, kept, this.#rows, view), label);
  }
}

function partOf([from, to]: Range, [low, high]: Range): Range {
  return [from + low * (to - from), from + high * (to - from)];
}

function rasterPanel(run: Run, kept: Run | undefined, rows: Rows, view: View): TimePanel {
  const [top, bottom] = view.rows;
  // The run is drawn over the kept one. Their colours are those of the first two series.
  const runs = [...(kept === undefined ? [] : [{ of: kept, paint: 1 }]), { of: run, paint: 0 }];
  const visible = runs.map(({ of }) => spikesIn(of, rows, view));
  const stride = Math.ceil(Math.max(1, visible.flat().length) / MAX_SPIKES);
  const strokes = runs.map(({ of: { raster }, paint }, at): Mark => {
    const drawn = visible[at]!.filter((_, place) => place % stride === 0);
    return {
      mark: 'ticks',
      x: drawn.map((spike) => raster.steps[spike]! / STEPS_PER_MS),
      rows: drawn.map((spike) => rows.of.get(raster.neurons[spike]!)! - top),
      paint,
    };
  });
  const bands = rows.bands
    .filter(({ from, to }) => to > top && from < bottom)
    .map(({ name, from, to }) => ({ name, from: Math.max(from, top) - top, to: Math.min(to, bottom) - top }));
  // A reader who points at a band sees its name, also if it has no room for a label.
  const named = bands.map(({ name, from, to }): Mark => {
    return { mark: 'rect', name: 'neurons', x: view.ms, y: [from, to], paint: 'none', title: name };
  });
  return {
    title: '',
    height: HEIGHT_PX,
    x: { label: stride > 1 ? `Time (ms); one spike in ${stride} is drawn` : 'Time (ms)', domain: view.ms },
    y: { label: '', bands: bands.map(({ name, from, to }) => ({ label: shortened(name), size: to - from })) },
    marks: [...named, ...strokes],
  };
}

/** The places of the visible spikes in the raster of a run. */
function spikesIn(
  { raster: { steps, neurons } }: Run,
  rows: Rows,
  { ms, rows: [top, bottom] }: View,
): number[] {
  const [from, to] = [STEPS_PER_MS * ms[0], STEPS_PER_MS * ms[1]];
  return [...steps.keys()].filter((spike) => {
    const row = rows.of.get(neurons[spike]!) ?? -1;
    return row >= top && row < bottom && steps[spike]! >= from && steps[spike]! <= to;
  });
}

function shortened(name: string): string {
  return name.length > LABEL_CHARACTERS ? `${name.slice(0, LABEL_CHARACTERS - 1)}…` : name;
}

/** Rows grouped by super class, or by type with the one that has most spikes in all runs at the top. */
function rowsOf(
  runs: readonly Run[],
  { order, only }: RasterContent,
  { types, typeIndices }: CompactAtlas,
): Rows {
  const isByType = order === 'type';
  const groupOf = (neuron: number): number =>
    isByType ? typeIndices[neuron]! : superClassIndex(types[typeIndices[neuron]!]!.superClass);
  const nameOf = (group: number): string =>
    isByType ? labelOfType(types[group]!) : spoken(SUPER_CLASSES[group] ?? 'other');
  const spikes = new Map<number, number>();
  for (const [neuron, count] of runs.flatMap(({ counts }) => [...counts])) {
    spikes.set(groupOf(neuron), (spikes.get(groupOf(neuron)) ?? 0) + count);
  }
  const rankOf = (group: number): number => (isByType ? -spikes.get(group)! : group);
  const spiking = new Set(runs.flatMap(({ counts }) => [...counts.keys()]));
  const neurons = [...spiking]
    .filter((neuron) => only?.has(neuron) ?? true)
    .map((neuron) => ({ neuron, group: groupOf(neuron) }))
    .sort((a, b) => rankOf(a.group) - rankOf(b.group) || a.group - b.group || a.neuron - b.neuron);
  const bands: Band[] = [];
  neurons.forEach(({ group }, row) => {
    const isNew = group !== neurons[row - 1]?.group;
    const from = isNew ? row : bands.pop()!.from;
    bands.push({ name: nameOf(group), from, to: row + 1 });
  });
  return { of: new Map(neurons.map(({ neuron }, row) => [neuron, row])), bands };
}
