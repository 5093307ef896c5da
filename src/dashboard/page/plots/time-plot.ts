/** What the plots over time have in common: the axis, its colours, a playhead, and a click that goes there. */
import type uPlot from 'uplot';
import type { Theme } from '../theme.js';

type TimePlotOptions = Pick<uPlot.Options, 'width' | 'cursor'> & {
  readonly scales: uPlot.Scales;
  readonly axes: uPlot.Axis[];
  readonly plugins: uPlot.Plugin[];
};

const playheads = new WeakMap<uPlot, HTMLElement>();

export function timePlotOptions(
  container: HTMLElement,
  durationMs: number,
  theme: Theme,
  onSeek: (timeMs: number) => void,
): TimePlotOptions {
  return {
    width: container.clientWidth,
    cursor: { drag: { x: false, y: false }, y: false },
    scales: { x: { time: false, range: [0, durationMs] } },
    axes: [
      {
        stroke: theme.muted,
        grid: { stroke: theme.line, width: 1 },
        ticks: { stroke: theme.line, width: 1 },
        values: (_, splits) => splits.map((ms) => `${ms} ms`),
      },
    ],
    plugins: [
      {
        hooks: {
          ready: (plot) => {
            const playhead = document.createElement('div');
            playhead.className = 'playhead';
            plot.over.append(playhead);
            playheads.set(plot, playhead);
            plot.over.addEventListener('click', (event) => {
              onSeek(plot.posToVal(event.clientX - plot.over.getBoundingClientRect().left, 'x'));
            });
          },
        },
      },
    ],
  };
}

/** Moves the line that shows the moment of the playback, without drawing the plot again. */
export function movePlayhead(plot: uPlot, timeMs: number): void {
  const playhead = playheads.get(plot);
  if (playhead === undefined) return;
  const x = plot.valToPos(timeMs, 'x');
  playhead.style.transform = `translateX(${x}px)`;
  playhead.hidden = x > plot.over.clientWidth;
}
