/**
 * Figures as SVG, without a browser: a Vega-Lite description goes in, text comes out. The command line and the
 * validation document draw with it, so that figures look alike.
 */
import type { TopLevelSpec } from 'vega-lite';
import { CodedError } from '../errors.js';

/** Colours that people with any kind of colour vision tell apart (Okabe & Ito), dark enough for thin lines. */
export const COLOURS = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#56b4e9', '#e69f00', '#000000'] as const;
export const MUTED_COLOUR = '#8a8a8a';

const FONT = 'Helvetica, Arial, sans-serif';
const CONFIG = {
  font: FONT,
  background: '#ffffff',
  view: { stroke: null },
  axis: {
    labelFontSize: 10,
    titleFontSize: 11,
    titleFontWeight: 'normal',
    gridColor: '#ebebeb',
    domainColor: '#888888',
    tickColor: '#888888',
  },
  header: { labelFontSize: 11, titleFontSize: 11, titleFontWeight: 'normal' },
  title: { fontSize: 14, subtitleFontSize: 11, subtitleColor: '#555555', anchor: 'start', offset: 12 },
  range: { category: [...COLOURS] },
} as const;

/**
 * @param spec without a config, unless it differs from the common one
 * @returns one svg element; equal descriptions give equal text
 * @throws CodedError USAGE as plottingLibrary does
 */
export async function renderSvg(spec: TopLevelSpec): Promise<string> {
  const { vega, vegaLite } = await plottingLibrary();
  const { spec: compiled } = vegaLite.compile({ config: CONFIG, ...spec } as TopLevelSpec, {
    logger: vega.logger(vega.Error),
  });
  // Names of clip paths are counted through the life of a process.
  vega.resetSVGDefIds();
  const view = new vega.View(vega.parse(compiled), { renderer: 'none', logLevel: vega.Error });
  try {
    return `${await view.toSVG()}\n`;
  } finally {
    view.finalize();
  }
}

/**
 * Imported on demand, because the service does not need it. Commands call this before a long computation.
 * @throws CodedError USAGE if it is not installed
 */
export async function plottingLibrary() {
  try {
    return { vega: await import('vega'), vegaLite: await import('vega-lite') };
  } catch (error) {
    throw new CodedError(
      'USAGE',
      'Plots need vega and vega-lite, which production installations and container images omit (24 MB). ' +
        'Run the command in a checkout after npm ci; a running service can compute for it with --url.',
      { cause: error },
    );
  }
}
