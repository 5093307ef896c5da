/** Warnings for those who use a number. */
import type { Connectome } from '../../connectome/connectome.js';
import { isFlyWire } from '../../connectome/model-id.js';
import { editKindOf } from '../kinds/edit-kinds.js';
import { kindOf } from '../kinds/report-kinds.js';
import type { ExperimentWarning } from '../run/result.js';
import { alwaysStimulatedBy, countMarked, markedNeurons } from './expected-inputs.js';
import { allGroups } from './groups.js';
import type { ExperimentPlan } from './plan.js';
import type { ResolvedDocument } from './resolve-document.js';

/**
 * Number, in release 783, of pairs of neurons with 5 synapses or more (Dorkenwald et al. 2024,
 * doi:10.1038/s41586-024-07558-y).
 */
const RELEASE = { release: 783, minimumSynapses: 5, pairs: 2_700_513 };

/** More responding neurons than any stimulus of the release is known to recruit: activity that feeds itself. */
export const RUNAWAY_NEURONS = 5000;
const LISTED_AT_MOST = 10;

/** The highest q that is taken for a finding, as a rule. */
const MAXIMUM_Q = 0.05;

/** The warnings that need no trial, in the order of their codes in run/result.ts. */
export function warningsBefore(
  { connectome, inputs, reports, grid, isRewired }: ExperimentPlan,
  { missing, substituted }: ResolvedDocument,
): ExperimentWarning[] {
  const { metadata, neuronCount } = connectome;
  const warnings: ExperimentWarning[] = [];
  const warn = (code: ExperimentWarning['code'], message: string) => warnings.push({ code, message });
  if (metadata.wiring === 'synthetic') {
    warn(
      'SYNTHETIC_WIRING',
      'The wiring was sampled from statistics of cell types. Its single connections were not measured, so nothing ' +
        'can be said of single neurons of a large type.',
    );
  }
  const partial = partialWiring(metadata);
  if (partial !== undefined) warn('PARTIAL_WIRING', partial);
  if (isRewired) {
    warn(
      'REWIRED_WIRING',
      'The experiment changes the wiring of the model: what it finds is a control, or a bound on what does not depend ' +
        'on the wiring, and nothing that the brain of the data set does.',
    );
  }
  if (grid.controls > 0 && 1 + grid.controls <= 1 / MAXIMUM_Q) {
    warn(
      'FEW_CONTROLS',
      `The count of controls, ${grid.controls}, is too small for any q below ${MAXIMUM_Q}: p is 1/${1 + grid.controls} at ` +
        `least. ${1 / MAXIMUM_Q} controls make one possible, and more are needed where a few of many groups differ.`,
    );
  }

  // Where groups take the place of an input's neurons, these are never stimulated.
  const stimulated = markedNeurons(connectome, [
    ...alwaysStimulatedBy(inputs),
    ...grid.axes.flatMap((axis) =>
      axis.kind === 'groups' && editKindOf(axis.name) === undefined ? allGroups(axis.groups) : [],
    ),
  ]);
  for (const report of reports) {
    const { name, document, neurons } = report;
    const kind = kindOf(document);
    if (kind.shape === 'events' && kind.isReadout?.(report, neuronCount) !== true) continue;
    const count = countMarked(neurons, stimulated);
    if (count === 0) continue;
    warn(
      'READOUT_STIMULATED',
      `The report ${name} reads ${count} of ${neurons.length} neurons that an input stimulates: ` +
        'their spikes are the stimulus, not a response.',
    );
  }
  if (missing.length > 0) warn('MISSING_SKIPPED', `The model lacks ${listed(missing)}; skipped.`);
  if (substituted.length > 0) {
    const cells = metadata.wiring === 'synthetic' ? 'no measured cells' : 'other cells';
    warn('SUBSTITUTED', `This brain has ${cells}: cell types stand for those of ${listed(substituted)}.`);
  }
  return warnings;
}

/** @param conditions in which more neurons responded, in any trial */
export function runawayWarning(conditions: readonly number[]): ExperimentWarning {
  return {
    code: 'RUNAWAY',
    message:
      `In ${listedConditions(conditions)} more than ${RUNAWAY_NEURONS} neurons responded: activity that ` +
      'feeds itself, which says little about the stimulus.',
  };
}

/** @param conditions of which rows were left out, because the request has truncate=true */
export function truncatedWarning(conditions: readonly number[]): ExperimentWarning {
  return {
    code: 'SPIKES_TRUNCATED',
    message:
      `In ${listedConditions(conditions)} rows of events beyond the limit of the answer ` +
      'were left out, as truncate=true asks. Without it they come on further pages.',
  };
}

/** @returns which pairs the wiring lacks, if the metadata shows that it lacks some */
function partialWiring(metadata: Connectome['metadata']): string | undefined {
  const { release, wiring, minimumSynapses, connectionCount } = metadata;
  if (minimumSynapses > RELEASE.minimumSynapses) {
    return `Pairs of neurons with fewer than ${minimumSynapses} synapses are left out.`;
  }
  // A lower minimum only adds pairs, so fewer pairs than this are too few in any case.
  const isOfRelease =
    isFlyWire(metadata) &&
    release === RELEASE.release &&
    wiring !== 'custom' &&
    metadata.synapses === undefined;
  if (!isOfRelease || connectionCount >= RELEASE.pairs) return undefined;
  return (
    `The wiring holds ${connectionCount} of the ${RELEASE.pairs} pairs of neurons with ${RELEASE.minimumSynapses} ` +
    `synapses or more in release ${RELEASE.release}; ${missingShare(connectionCount)} are missing. Neurons that stay silent may lack ` +
    'their connections.'
  );
}

/** In whole percent; 0 and 100 would say that none or all are missing. */
function missingShare(connectionCount: number): string {
  const percent = Math.round(100 * (1 - connectionCount / RELEASE.pairs));
  if (percent === 0) return 'less than 1 %';
  return percent === 100 && connectionCount > 0 ? 'more than 99 %' : `${percent} %`;
}

function listedConditions(conditions: readonly number[]): string {
  return `condition${conditions.length === 1 ? '' : 's'} ${listed(conditions.map(String))}`;
}

function listed(names: readonly string[]): string {
  const more = names.length - LISTED_AT_MOST;
  return names.slice(0, LISTED_AT_MOST).join(', ') + (more > 0 ? ` and ${more} more` : '');
}
