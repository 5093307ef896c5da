/** Number of spikes of the brain in each frame, as the background of the scrubber. */
import type { Frame } from '../service/client.js';

const HEIGHT = 32;

export function drawTimeline(
  svg: SVGSVGElement,
  durationMs: number,
  frames: readonly Frame[],
  keptFrames: readonly Frame[],
): void {
  const most = Math.max(1, ...[...frames, ...keptFrames].map(({ total }) => total));
  const y = (total: number): number => HEIGHT - (total / most) * (HEIGHT - 1);
  const steps = (each: readonly Frame[]): string =>
    each.map(({ t, total }, i) => `L${t} ${y(total)}${each[i + 1] ? `H${each[i + 1]!.t}` : ''}`).join('') +
    `H${2 * each.at(-1)!.t - each.at(-2)!.t}`;
  svg.setAttribute('viewBox', `0 0 ${durationMs} ${HEIGHT}`);
  const shapes = [path('run', `M0 ${HEIGHT}${steps(frames)}V${HEIGHT}Z`)];
  if (keptFrames.length > 0) shapes.push(path('kept', `M0 ${HEIGHT}${steps(keptFrames)}`));
  svg.replaceChildren(...shapes);
}

function path(className: string, d: string): SVGPathElement {
  const created = document.createElementNS('http://www.w3.org/2000/svg', 'path');
  created.setAttribute('class', className);
  created.setAttribute('d', d);
  return created;
}
