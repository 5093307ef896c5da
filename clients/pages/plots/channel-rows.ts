/**
 * Plots the rate of each channel in frames of 5 ms. Each channel has its own scale, because a channel of two cells
 * makes steps of 100 Hz. With several seeds, the line is the mean and the band one population standard deviation to
 * each side. Silent channels are named below.
 */
import type { Channel } from '../service/client.js';
import { meanSd, type MeanSd } from '../../../src/experiments/kinds/mean-sd.js';
import { element } from '../dom.js';
import type { Run } from '../service/run-result.js';

const WIDTH = 1000;
const HEIGHT = 40;

/** One experiment: its run, then runs with further seeds. */
export type Trials = readonly [Run, ...Run[]];

/** @returns a function that moves the line of the current moment; undefined hides it */
export function fillChannelRows(
  container: HTMLElement,
  trials: Trials,
  kept: Trials | undefined,
  channels: readonly Channel[],
  onSeek: (timeMs: number) => void,
): (timeMs: number) => void {
  const conditions = [
    { className: 'run', trials },
    ...(kept === undefined ? [] : [{ className: 'kept', trials: kept }]),
  ];
  const durationMs = Math.max(...conditions.map(({ trials: [run] }) => run.response.duration_ms));
  const rows: HTMLElement[] = [];
  const silent: string[] = [];
  const playheads: SVGLineElement[] = [];
  for (const { id, label, neuron_count } of channels) {
    const series = conditions.map(({ className, trials: each }) => ({
      className,
      rates: frameRates(each, id),
      frameMs: frameMsOf(each[0]),
    }));
    const highest = Math.max(...series.flatMap(({ rates }) => rates.map(({ mean, sd }) => mean + sd)));
    if (highest === 0) {
      silent.push(label);
      continue;
    }
    const svg = svgElement('svg', {
      viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
      preserveAspectRatio: 'none',
      'aria-hidden': 'true',
    });
    for (const { className, rates, frameMs } of series) {
      const x = (frame: number): number => (frame * frameMs * WIDTH) / durationMs;
      const y = (rate: number): number => HEIGHT - (Math.max(0, rate) / highest) * (HEIGHT - 2) - 1;
      if (rates.some(({ sd }) => sd > 0)) {
        const upper = steps(
          rates.map(({ mean, sd }) => y(mean + sd)),
          x,
        );
        const lower = steps(
          rates.map(({ mean, sd }) => y(mean - sd)),
          x,
          true,
        );
        svg.append(svgElement('path', { class: `${className} band`, d: `M${upper}L${lower}Z` }));
      }
      const line = steps(
        rates.map(({ mean }) => y(mean)),
        x,
      );
      svg.append(svgElement('path', { class: `${className} line`, d: `M${line}` }));
    }
    const playhead = svgElement('line', { class: 'now', y1: '0', y2: String(HEIGHT), x1: '-9', x2: '-9' });
    svg.append(playhead);
    playheads.push(playhead);
    svg.addEventListener('click', (event) => {
      const { left, width } = svg.getBoundingClientRect();
      onSeek(((event.clientX - left) / width) * durationMs);
    });
    const cells = `${neuron_count} ${neuron_count === 1 ? 'neuron' : 'neurons'}`;
    const scale = element('span', { class: 'scale' }, `${Number(highest.toPrecision(3))} Hz`);
    rows.push(
      element(
        'div',
        { class: 'channel-row' },
        element('span', {}, label, element('small', {}, cells)),
        svg,
        scale,
      ),
    );
  }
  const notes = [];
  if (rows.length === 0) notes.push('All channels are silent.');
  else if (silent.length > 0) notes.push(`Silent: ${silent.join(', ')}.`);
  container.replaceChildren(
    ...rows,
    ...(rows.length === 0
      ? []
      : [
          element(
            'div',
            { class: 'time-axis' },
            element('span', {}, '0 ms'),
            element('span', {}, `${durationMs} ms`),
          ),
        ]),
    ...notes.map((note) => element('p', { class: 'hint' }, note)),
  );
  return (timeMs) => {
    const x = String((timeMs * WIDTH) / durationMs);
    for (const line of playheads) {
      line.setAttribute('x1', x);
      line.setAttribute('x2', x);
    }
  };
}

function frameMsOf({ response }: Run): number {
  return response.duration_ms / response.frames.length;
}

/** Rates of each frame over the runs. */
function frameRates(trials: Trials, channel: string): MeanSd[] {
  return trials[0].response.frames.map((_, frame) =>
    meanSd(trials.map(({ response }) => response.frames[frame]?.channels[channel] ?? 0)),
  );
}

/** A stepped line through one height for each frame. */
function steps(heights: readonly number[], x: (frame: number) => number, backwards = false): string {
  const points = heights.flatMap((y, frame) => [
    `${round(x(frame))} ${round(y)}`,
    `${round(x(frame + 1))} ${round(y)}`,
  ]);
  return (backwards ? points.reverse() : points).join('L');
}

function round(value: number): number {
  return Math.round(100 * value) / 100;
}

function svgElement<K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes: Readonly<Record<string, string>>,
): SVGElementTagNameMap[K] {
  const created = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(attributes)) created.setAttribute(name, value);
  return created;
}
