/** Channel rates in each frame of 5 ms, as steps. Channels that stay silent are left out. */
import uPlot from 'uplot';
import type { Run } from '../service/run-result.js';
import type { Theme } from '../theme.js';
import { timePlotOptions } from './time-plot.js';

export function plotChannelRates(
  container: HTMLElement,
  run: Run,
  kept: Run | undefined,
  channels: readonly { readonly id: string; readonly label: string }[],
  theme: Theme,
  onSeek: (timeMs: number) => void,
): uPlot {
  const durationMs = Math.max(run.response.duration_ms, kept?.response.duration_ms ?? 0);
  const frames = [run, kept].map((each) => each?.response.frames ?? []);
  const longest = frames[0]!.length >= frames[1]!.length ? frames[0]! : frames[1]!;
  const data: (number | null)[][] = [[...longest.map(({ t }) => t), durationMs]];
  const series: uPlot.Series[] = [{ value: (_, ms) => (ms === null ? '' : `${ms} ms`), label: 'Frame from' }];
  // A colour for each channel that is drawn, the same for both runs; there are fewer colours than channels.
  const drawn = channels.filter(({ id }) =>
    frames.some((each) => each.some((frame) => (frame.channels[id] ?? 0) > 0)),
  );
  frames.forEach((each, which) => {
    drawn.forEach(({ id, label }, at) => {
      const rates = each.map((frame) => frame.channels[id] ?? 0);
      if (rates.every((rate) => rate === 0)) return;
      // A step needs an end: the last rate holds until the run is over.
      data.push(data[0]!.map((_, i) => rates[i] ?? (i === rates.length ? rates.at(-1)! : null)));
      series.push({
        label: which === 0 ? label : `${label} (kept)`,
        stroke: theme.series[at % theme.series.length]!,
        width: which === 0 ? 2 : 1.3,
        ...(which === 0 ? {} : { dash: [5, 4] }),
        paths: uPlot.paths.stepped!({ align: 1 }),
        points: { show: false },
        value: (_, rate) => (rate === null ? '' : `${rate} Hz`),
      });
    });
  });
  const options = timePlotOptions(container, durationMs, theme, onSeek);
  return new uPlot(
    {
      ...options,
      height: 250,
      series,
      axes: [
        ...options.axes,
        {
          stroke: theme.muted,
          size: 56,
          grid: { stroke: theme.line, width: 1 },
          ticks: { show: false },
          values: (_, splits) => splits.map((rate) => `${rate} Hz`),
        },
      ],
    },
    data as uPlot.AlignedData,
    container,
  );
}
