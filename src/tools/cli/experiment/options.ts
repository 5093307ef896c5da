/** The options of `npm run experiment`. Their texts are short, because --help has 80 columns. */
import { extname } from 'node:path';
import { GROUP_LABELS } from '../../../experiments/kinds/fields.js';
import { GREY, USUAL_WIDTH_MM } from '../../../experiments/figures/figure-file.js';
import { COLUMN_NAMES, TABLE_FORMATS } from '../../../experiments/formats/formats.js';
import { TABLES } from '../../../experiments/kinds/report-kinds.js';
import { address, choice, flag, integer, type OptionValues, passing, text } from '../command.js';

const MAX_WORKERS = 256;

/** @returns the extension in lower case, which decides the format of the file */
export function extensionOf(path: string): string {
  return extname(path).slice(1).toLowerCase();
}

const endingIn = (...extensions: readonly string[]) =>
  passing(
    (path) => extensions.includes(extensionOf(path)),
    `a file that ends in ${extensions.map((each) => `.${each}`).join(', ')}`,
  );

/** Names of other formats. Any other name is allowed, such as /dev/stdout. */
const NOT_CSV = ['arrow', 'feather', 'parquet'];
const CSV = passing(
  (path) => !NOT_CSV.includes(extensionOf(path)),
  `a file of CSV, which cannot end in ${NOT_CSV.map((each) => `.${each}`).join(', ')}`,
);

const COLOURS = passing(
  (given) => given === GREY || /^#[0-9a-f]{6}(,#[0-9a-f]{6})*$/i.test(given),
  `${GREY}, or colours such as #b93c0a,#0a5fa8`,
);

const LIST = { multiple: true } as const;
const OF_PLOT = { needs: 'plot' } as const;

export const OPTIONS = {
  // These options change the document or add to it.
  stimulate: text('[NAME=]WHO[@HZ]', 'Neurons that get input events.', LIST),
  rates: text('[NAME=]FILE', 'CSV with rate_hz of each node_set or root_id.', LIST),
  window: text('MS+MS', 'Start and length of events of --stimulate.', LIST),
  silence: text('WHO', 'Neurons whose outputs are cut.', LIST),
  constant: text('NAME=VALUE', 'A constant of the network, such as synapse_mv=0.3.', LIST),
  override: text('[NAME=]WHO>WHO*WEIGHT', 'Connections that are multiplied, such as LC4>DNp01*0.5.', LIST),
  wiring: text('KIND[:SEED]', 'Another wiring: sampled signs, resampled counts, or a shuffle.'),
  report: text(
    '[NAME=]WHO[/BY][@START+LENGTH]',
    `Neurons to read, in a window in ms, by ${GROUP_LABELS.join(', ')}.`,
    LIST,
  ),
  membrane: text('[NAME=]WHO[@MS]', 'Membrane potentials for --csv or --plot, by default every 1 ms.', LIST),
  sweep: text('WHAT=VALUES', 'Values that are tried in turn.', LIST),
  controls: text(
    'KIND[:COUNT]',
    'matched neurons in place of groups, resampled counts, sampled signs, or a shuffle.',
  ),
  duration: text('MS', 'Length of a trial.'),
  trials: text('T', 'Repetitions of each condition.'),
  seed: text('N', 'Seed of the random input events.'),
  name: text('TEXT', 'Name of the experiment.'),
  // All other options choose the machine, the part to run and the output.
  from: integer('First condition to run.', undefined, { default: 0 }),
  'dry-run': flag('Describe the experiment, and run nothing.'),
  'print-document': flag('Print the document of these options.'),
  json: flag('Print the answer as HTTP gives it.'),
  csv: text('FILE', 'Write the rates as CSV.', CSV),
  table: choice(TABLES, `${TABLES.join(', ')}.`, { value: 'TABLE', needs: 'csv' }),
  spikes: text('FILE', 'Write the spikes (.parquet, .arrow, .csv).', endingIn(...TABLE_FORMATS)),
  names: choice(COLUMN_NAMES, 'Names of the columns in --spikes.', { needs: 'spikes' }),
  plot: text('FILE', 'Write a plot (.svg, .png, .pdf).', endingIn('svg', 'png', 'pdf')),
  'plot-width': integer(`Width of the plot in mm, by default ${USUAL_WIDTH_MM}.`, [60, 400], OF_PLOT),
  'font-size': integer('Text of the plot in points, by default 9.', [4, 24], OF_PLOT),
  font: text('FONT', 'A family in SVG; a .ttf or .otf file for PNG and PDF.', OF_PLOT),
  colours: text('COLOURS', 'grey, or #rrggbb of each series.', { ...OF_PLOT, ...COLOURS }),
  dpi: integer('Resolution of PNG, by default 300.', [72, 1200], OF_PLOT),
  lines: text('FILE', 'Driver lines of cell types, for the table and --html.'),
  html: text('FILE', 'Write a report with figures and tables.', endingIn('html')),
  connectome: text('FILE', 'Connectome, by default CONNECTOME_FILE.'),
  url: address('Let a service compute, as a job if it is large.'),
  workers: integer('Threads, by default one for each core.', [1, MAX_WORKERS]),
};

export type ExperimentOptions = OptionValues<typeof OPTIONS>;
