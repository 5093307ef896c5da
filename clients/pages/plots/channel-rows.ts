/**
 * Plots the rate of each channel in frames of 5 ms. Each channel has its own scale, because a channel of two cells
 * makes steps of 100 Hz. With several seeds, the line is the mean and the band one population standard deviation to
 * each side.
 */
import { meanSd, type MeanSd } from '../../../src/experiments/kinds/mean-sd.js';
import type { Mark } from '../../../src/experiments/figures/figure.js';
import type { Channel } from '../service/client.js';
import type { Run } from '../service/run-result.js';
import type { TimePanel } from './time-plot.js';

const ROW_PX = 40;
/** Share of a row's height for the highest rate. */
const HIGHEST = 0.92;

/** One experiment: its run, then runs with further seeds. */
export type Trials = readonly [Run, ...Run[]];

/** @returns the panel, which has no rows if all channels are silent, and the labels of the silent ones */
export function channelPanel(trials: Trials, kept: Trials | undefined, channels: readonly Channel[]) {
  // Their colours are those of the first two series.
  const conditions = [trials, ...(kept === undefined ? [] : [kept])];
  const durationMs = Math.max(...conditions.map(([{ response }]) => response.duration_ms));
  const rows = channels.map(({ id, label, neuron_count: neurons }) => {
    const rates = conditions.map((each) => frameRates(each, id));
    const highest = Math.max(...rates.flat().map(({ mean, sd }) => mean + sd));
    return { label, neurons, rates, highest };
  });
  const loud = rows.filter(({ highest }) => highest > 0);
  const marks = loud.flatMap(({ label, neurons, rates, highest }, row): Mark[] => {
    const base = row + 1;
    const y = (rateHz: number) => base - (HIGHEST * Math.max(0, rateHz)) / highest;
    const x = [0, durationMs] as const;
    const title = `${label}: ${neurons} ${neurons === 1 ? 'neuron' : 'neurons'}`;
    return [
      { mark: 'rect', name: 'channel', x, y: [row, base], paint: 'none', title },
      { mark: 'line', points: x.map((ms) => [ms, base]), paint: 'line' },
      ...rates.flatMap((each, paint) => linesOf(each, frameMsOf(conditions[paint]!), y, paint)),
    ];
  });
  const bands = loud.map(({ label, highest }) => ({ label, note: `${Number(highest.toPrecision(3))} Hz` }));
  const panel: TimePanel = {
    title: '',
    height: ROW_PX * loud.length,
    x: { label: 'Time (ms)', domain: [0, durationMs] },
    y: { label: '', bands },
    marks,
  };
  return { panel, silent: rows.filter(({ highest }) => highest === 0).map(({ label }) => label) };
}

/** The line of the means, and a band if the seeds differ. */
function linesOf(
  rates: readonly MeanSd[],
  frameMs: number,
  y: (rateHz: number) => number,
  paint: number,
): Mark[] {
  const stepped = <T>(of: (rate: MeanSd, ms: number) => T): T[] =>
    rates.flatMap((rate, frame) => [of(rate, frame * frameMs), of(rate, (frame + 1) * frameMs)]);
  const line: Mark = {
    mark: 'line',
    name: 'mean',
    points: stepped(({ mean }, ms) => [ms, y(mean)] as const),
    paint,
  };
  if (rates.every(({ sd }) => sd === 0)) return [line];
  const points = stepped(({ mean, sd }, ms) => [ms, y(mean - sd), y(mean + sd)] as const);
  return [{ mark: 'area', points, paint }, line];
}

function frameMsOf([{ response }]: Trials): number {
  return response.duration_ms / response.frames.length;
}

/** Rates of each frame over the runs. */
function frameRates(trials: Trials, channel: string): MeanSd[] {
  return trials[0].response.frames.map((_, frame) =>
    meanSd(trials.map(({ response }) => response.frames[frame]?.channels[channel] ?? 0)),
  );
}
