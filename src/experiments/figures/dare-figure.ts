/** The preview of a dare: the drives of an intact fly beside those of a fly without some cell types. */
import type { Figure, Panel } from './figure.js';
import { drawFigure } from './draw.js';
import { PAPER } from './palette.js';
import { type Bar, barsPanel } from './panels.js';
import { element, svgText } from './svg.js';

/** Size that sites show beside a link. */
const [WIDTH, HEIGHT] = [1200, 630];
const MARGIN = 30;
/** Width of the figure in its own units, so its text is twice as large as on a page. */
const FIGURE_WIDTH = 570;
const MAX_DRIVES = 6;

type Drives = Readonly<Record<string, number>>;

export interface DarePicture {
  /** The label of the stimulus. */
  readonly stimulus: string;
  readonly types: readonly string[];
  readonly model: string;
  readonly intact: Drives;
  readonly lesioned: Drives;
}

/** @returns an SVG; equal dares give equal text */
export function darePicture({ stimulus, types, model, intact, lesioned }: DarePicture): string {
  const names = types.join(' and ');
  const strength = (id: string) => Math.max(Math.abs(intact[id]!), Math.abs(lesioned[id]!));
  const ids = Object.keys(intact).filter((id) => strength(id) > 0);
  const shown = ids.sort((a, b) => strength(b) - strength(a)).slice(0, MAX_DRIVES);
  const panels = [panelOf('Intact', shown, intact, 0), panelOf(`Without ${names}`, shown, lesioned, 1)];
  const figure: Figure = {
    title: `A dare: silence ${names}`,
    subtitles: [
      `Stimulus: ${stimulus}. What does the fly still do?`,
      `Simulated by ${model}. Drives are engineered.`,
    ],
    label: `Drives of a fly with and without ${names}`,
    sections: [{ panels, smallestWidth: 200 }],
    note: '',
  };
  const { tag, attributes, children } = drawFigure(figure, FIGURE_WIDTH, { font: 'sans-serif' });
  const place = { x: MARGIN, y: MARGIN, width: WIDTH - 2 * MARGIN, height: HEIGHT - 2 * MARGIN };
  return svgText(
    element(
      'svg',
      { xmlns: 'http://www.w3.org/2000/svg', width: WIDTH, height: HEIGHT },
      element('rect', { width: WIDTH, height: HEIGHT, fill: PAPER.background }),
      element(tag, { ...attributes, ...place }, ...children),
    ),
  );
}

function panelOf(title: string, ids: readonly string[], drives: Drives, paint: number): Panel {
  const bars = ids.map((id): Bar => {
    const drive = Math.abs(drives[id]!);
    return { label: id, note: drive.toFixed(2), ends: [0, drive], paint };
  });
  return barsPanel(title, bars, 'Drive', [0, 1], []);
}
