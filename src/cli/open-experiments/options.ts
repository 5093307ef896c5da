/** The options of `npm run experiment` for open experiments. Short, because --help has 80 columns. */
import { COLUMN_NAMES, TABLES } from '../../answers/v2/formats/formats.js';

/** Change or add to the document. */
const DOCUMENT_OPTIONS = {
  stimulate: {
    type: 'string',
    value: '[NAME=]WHO[@HZ]',
    multiple: true,
    help: 'Neurons that get input events.',
  },
  window: {
    type: 'string',
    value: 'MS+MS',
    multiple: true,
    help: 'Start and length of these events.',
  },
  silence: { type: 'string', value: 'WHO', multiple: true, help: 'Neurons whose outputs are cut.' },
  report: {
    type: 'string',
    value: '[NAME=]WHO[/BY]',
    multiple: true,
    help: 'Neurons to read, by neuron,type,side,super_class.',
  },
  sweep: {
    type: 'string',
    value: 'WHAT=VALUES',
    multiple: true,
    help: 'Values that are tried in turn.',
  },
  duration: { type: 'string', value: 'MS', help: 'Length of a trial.' },
  trials: { type: 'string', value: 'T', help: 'Repetitions of each condition.' },
  seed: { type: 'string', value: 'N', help: 'Seed of the random input events.' },
  name: { type: 'string', value: 'TEXT', help: 'Name of the experiment.' },
} as const;

export const OPEN_OPTIONS = {
  ...DOCUMENT_OPTIONS,
  from: { type: 'string', value: 'N', help: 'First condition to run.' },
  'dry-run': { type: 'boolean', help: 'Say what would be run, and run nothing.' },
  'print-document': { type: 'boolean', help: 'Print the document of these options.' },
  json: { type: 'boolean', help: 'Print the answer as HTTP gives it.' },
  csv: { type: 'string', value: 'FILE', help: 'Write the rates as CSV.' },
  table: {
    type: 'string',
    value: 'TABLE',
    choices: TABLES,
    help: `Table of --csv: ${TABLES.join(', ')}.`,
  },
  spikes: { type: 'string', value: 'FILE', help: 'Write the spikes (.parquet, .arrow, .csv).' },
  names: { type: 'string', choices: COLUMN_NAMES, help: 'Names of the columns in --spikes.' },
  plot: { type: 'string', value: 'FILE', help: 'Write a plot (.svg).' },
  connectome: { type: 'string', value: 'FILE', help: 'Connectome, by default CONNECTOME_FILE.' },
  url: { type: 'string', value: 'URL', help: 'Let a service compute, as a job if it is large.' },
  workers: { type: 'string', value: 'N', help: 'Threads, by default one for each core.' },
} as const;

export const DOCUMENT_ARGUMENT = {
  name: 'DOCUMENT.json',
  help: 'Document to run; - for standard input.',
  minimum: 0,
  maximum: 1,
} as const;

/** The options that say what is run, as they were given. */
export interface DocumentOptions {
  readonly stimulate?: readonly string[] | undefined;
  readonly window?: readonly string[] | undefined;
  readonly silence?: readonly string[] | undefined;
  readonly report?: readonly string[] | undefined;
  readonly sweep?: readonly string[] | undefined;
  readonly duration?: string | undefined;
  readonly trials?: string | undefined;
  readonly seed?: string | undefined;
  readonly name?: string | undefined;
  /** A file of spikes needs a report that has them. */
  readonly spikes?: string | undefined;
  /** A file of rates needs a report that has these. */
  readonly csv?: string | undefined;
  readonly table?: string | undefined;
}
