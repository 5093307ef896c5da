/** Parts of every plot over time: the axis, its colours, a playhead, and a click that seeks to its moment. */
import type uPlot from 'uplot';
import type { Theme } from '../theme.js';

type TimePlotOptions = Pick<uPlot.Options, 'width' | 'cursor'> & {
  readonly axes: uPlot.Axis[];
  readonly plugins: uPlot.Plugin[];
};

/** If the pointer moves farther between press and release, it is a drag. */
const CLICK_PIXELS = 5;

const playheads = new WeakMap<uPlot, HTMLElement>();

export function timePlotOptions(
  container: HTMLElement,
  theme: Theme,
  onSeek: (timeMs: number) => void,
): TimePlotOptions {
  return {
    width: container.clientWidth,
    cursor: { y: false },
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
            let pressedAt = NaN;
            plot.over.addEventListener('mousedown', ({ clientX }) => (pressedAt = clientX));
            plot.over.addEventListener('click', ({ clientX }) => {
              // The end of a drag also fires a click.
              if (Math.abs(clientX - pressedAt) > CLICK_PIXELS) return;
              onSeek(plot.posToVal(clientX - plot.over.getBoundingClientRect().left, 'x'));
            });
          },
        },
      },
    ],
  };
}

/** Moves the line of the current moment, without drawing the plot again. */
export function movePlayhead(plot: uPlot, timeMs: number): void {
  const playhead = playheads.get(plot);
  if (playhead === undefined) return;
  playhead.style.transform = `translateX(${plot.valToPos(timeMs, 'x')}px)`;
  const { min = 0, max = 0 } = plot.scales['x']!;
  playhead.hidden = timeMs < min || timeMs > max;
}
