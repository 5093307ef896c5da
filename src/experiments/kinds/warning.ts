import { object, oneOf, type Static, text } from '../../engine/schema/json-schema.js';

export const WARNING = object('Something to bear in mind about the results.', {
  code: oneOf('For programs.', [
    'SYNTHETIC_WIRING',
    'PARTIAL_WIRING',
    'REWIRED_WIRING',
    'NO_EFFECT',
    'PRUNED_CONTROLS',
    'FEW_CONTROLS',
    'MATCH_WIDENED',
    'RUNAWAY',
    'READOUT_STIMULATED',
    'ASYMMETRIC_INPUT',
    'MISSING_SKIPPED',
    'SUBSTITUTED',
    'SPIKES_TRUNCATED',
    'RESUMED',
  ]),
  message: text('For people.'),
});
export type ExperimentWarning = Static<typeof WARNING>;

/** Maximum number of names that a warning lists. */
export const LISTED_AT_MOST = 10;

export function listed(names: readonly string[]): string {
  const more = names.length - LISTED_AT_MOST;
  return names.slice(0, LISTED_AT_MOST).join(', ') + (more > 0 ? ` and ${more} more` : '');
}
