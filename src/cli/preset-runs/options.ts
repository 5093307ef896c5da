/** The options of `npm run experiment` for runs of version 1. */
import { QUERY_FIELDS } from '../../answers/v1/fields.js';
import { ARM_OPTIONS } from './arms.js';

export const PRESET_OPTIONS = {
  ...ARM_OPTIONS,
  compare: { type: 'string', value: 'NAME', help: 'Compare with a second stimulus.' },
  silence: {
    type: 'string',
    value: 'TYPE',
    multiple: true,
    help: 'Compare with this cell type silenced (outputs removed).',
  },
  connectome: { type: 'string', value: 'FILE', help: 'Connectome to use; by default CONNECTOME_FILE.' },
  url: { type: 'string', value: 'URL', help: 'Use the service at this URL instead.' },
  json: { type: 'boolean', help: 'Print the HTTP body, or a summary of several runs.' },
  view: {
    type: 'string',
    choices: QUERY_FIELDS.view.allowed,
    default: QUERY_FIELDS.view.default,
    help: 'Members of the HTTP body.',
  },
  csv: { type: 'string', value: 'FILE', help: 'Write a CSV file with a row for each spike.' },
  plot: {
    type: 'string',
    value: 'FILE',
    help: 'Write an SVG plot of spikes and rates (.svg).',
  },
} as const;
