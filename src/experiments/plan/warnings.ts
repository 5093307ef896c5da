/** Warnings about the meaning of results. */
import type { Connectome } from '../../engine/connectome/connectome.js';
import { isFlyWire } from '../../engine/connectome/model-id.js';
import { SYNTHETIC_REACH } from '../../engine/connectome/model-origin.js';
import type { ExperimentDocument } from '../document/document.js';
import { MAX_CONTROLS, MAX_Q } from '../kinds/controls.js';
import { editKindOf } from '../kinds/edit-kinds.js';
import type { PlannedEdit } from '../kinds/edit-kind.js';
import { kindOf } from '../kinds/report-kinds.js';
import { type ExperimentWarning, listed, LISTED_AT_MOST } from '../kinds/warning.js';
import type { Rewiring } from '../../engine/stimulus/protocol.js';
import { alwaysStimulatedBy, countMarked, markedNeurons } from './expected-inputs.js';
import { lengthOf } from '../kinds/grid.js';
import { allGroups } from '../kinds/groups.js';
import { asymmetricInputs } from './asymmetric-input.js';
import type { ExperimentPlan } from './plan.js';
import { controlledReports } from './planned-reports.js';
import type { ResolvedDocument } from './resolve-document.js';

/**
 * The number of pairs of neurons with at least 5 synapses in release 783 (Dorkenwald et al. 2024,
 * doi:10.1038/s41586-024-07558-y).
 */
const RELEASE = { release: 783, minimumSynapses: 5, pairs: 2_700_513 };

/**
 * The share of a brain's neurons that no stimulus recruits unless activity sustains itself; docs/science.md derives it.
 * A smaller network is a circuit that somebody chose, and half of it may well respond.
 */
const RUNAWAY_SHARE = 0.02;
const RUNAWAY_SHARE_OF_CIRCUIT = 0.5;
const MAX_CIRCUIT_NEURONS = 10_000;

/** The warnings that need no trial, in the order of their codes in kinds/warning.ts. */
export function warningsBefore(
  plan: ExperimentPlan,
  { missing, empty, substituted }: ResolvedDocument,
  edits: readonly PlannedEdit[],
  { wiring, controls }: ExperimentDocument,
): ExperimentWarning[] {
  const { connectome, isRewired } = plan;
  const { metadata } = connectome;
  const warnings: ExperimentWarning[] = [];
  const warn = (code: ExperimentWarning['code'], message: string) => warnings.push({ code, message });
  if (metadata.wiring === 'synthetic') {
    warn(
      'SYNTHETIC_WIRING',
      'The wiring was sampled from statistics of cell types. Its single connections were not measured, so nothing ' +
        `can be said of single neurons of a large type.${isFlyWire(metadata) ? ` ${SYNTHETIC_REACH}` : ''}`,
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
  warnings.push(...edits.flatMap((edit) => edit.warnings ?? []));
  const within: Rewiring['shuffle'] = 'targets_within_super_class';
  const superClasses = new Set(metadata.classes.map(({ superClass }) => superClass));
  if (superClasses.size < 2 && [wiring?.shuffle, controls?.shuffle].includes(within)) {
    warn('NO_EFFECT', `The model does not divide its neurons into super-classes, so ${within} is targets.`);
  }
  const least = controls?.shuffle === 'weights' ? fewestSynapses(connectome) : 1;
  if (least > 1) {
    warn(
      'PRUNED_CONTROLS',
      `The model has no connection of fewer than ${least} synapses. If weaker ones were left out of its tables, controls with ` +
        'shuffled weights are not the published ones. In FlyWire, relay cells then keep 33 to 69 Hz, where the paper has 3 ' +
        'to 5 Hz. Use the shuffle targets.',
    );
  }
  const few = fewControls(plan);
  if (few !== undefined) warn('FEW_CONTROLS', few);
  warnings.push(...stimulatedReadouts(plan));
  if (!isRewired) warnings.push(...asymmetricInputs(connectome, plan.reports));
  if (missing.length > 0) warn('MISSING_SKIPPED', `The model lacks ${listed(missing)}; skipped.`);
  if (empty.length > 0) {
    warn('MISSING_SKIPPED', `The model has no neuron for ${listed(empty)}; skipped.`);
  }
  if (substituted.length > 0) {
    const cells = metadata.wiring === 'synthetic' ? 'no measured cells' : 'other cells';
    warn('SUBSTITUTED', `This brain has ${cells}: cell types stand for those of ${listed(substituted)}.`);
  }
  return warnings;
}

/** Reads the connections, because the metadata name only what the compiler left out. Tables may have been pruned before. */
function fewestSynapses({ metadata, synapseCounts }: Connectome): number {
  const { minimumSynapses } = metadata;
  let least = synapseCounts[0] ?? minimumSynapses;
  for (let k = 1; k < synapseCounts.length && least > minimumSynapses; k++) {
    least = Math.min(least, synapseCounts[k]!);
  }
  return least;
}

/**
 * Says if controls are too few. The least p is 1 / (controls + 1). If only one of m tests differs, its q (Benjamini and Hochberg
 * 1995) is m times as large. Conditions correct for the groups of a report, `screen` for all comparisons.
 */
function fewControls({ grid, reports }: ExperimentPlan): string | undefined {
  const { controls, axes, matchedAxis } = grid;
  const ofAll = 1 + controls;
  const isTooMany = (tests: number) => tests / ofAll > MAX_Q;
  /** The number of controls that one of so many tests needs, if it is allowed. */
  const enough = (tests: number) => {
    const needed = Math.ceil(tests / MAX_Q) - 1;
    return needed > MAX_CONTROLS
      ? `no count up to ${MAX_CONTROLS} is enough`
      : `${needed} controls are enough`;
  };
  const compared = controls === 0 ? [] : controlledReports(reports);
  const few = compared
    .filter(({ groups }) => isTooMany(groups.count))
    .map(({ name, groups: { count } }) => {
      const least = count < ofAll ? `${count}/${ofAll}` : '1';
      return `${name} (${count === 1 ? '1 group' : `${count} groups`}: q is ${least} at least, and ${enough(count)})`;
    });
  const axis = axes[matchedAxis];
  const conditions = axis === undefined ? 0 : (grid.conditions / lengthOf(axis)) * (lengthOf(axis) - 1);
  const tests = compared.reduce((sum, { groups }) => sum + groups.count * conditions, 0);
  const extremes = Math.ceil(tests / MAX_Q / ofAll);
  const sentences: string[] = [];
  if (few.length > 0) {
    const inReports = `in the report${few.length === 1 ? '' : 's'} ${listed(few)}`;
    sentences.push(`q of at most ${MAX_Q} cannot be reached if only one group differs, ${inReports}.`);
  }
  if (isTooMany(tests)) {
    const reached =
      extremes > tests
        ? `none reaches ${MAX_Q}, even if all are further than all controls`
        : `${extremes} of them must be further than all controls to reach ${MAX_Q}`;
    const sentence = `In screen, q is corrected for up to ${tests} comparisons: ${reached}; for one of them ${enough(tests)}.`;
    sentences.push(sentence);
  }
  if (sentences.length === 0) return undefined;
  return [`With ${controls} controls p is 1/${ofAll} at least.`, ...sentences].join(' ');
}

/** Warnings of reports that read stimulated neurons. */
function stimulatedReadouts({ connectome, inputs, reports, grid }: ExperimentPlan): ExperimentWarning[] {
  // If groups replace the neurons of an input, only the groups are stimulated.
  const stimulated = markedNeurons(connectome, [
    ...alwaysStimulatedBy(inputs),
    ...grid.axes.flatMap((axis) =>
      axis.kind === 'groups' && editKindOf(axis.name) === undefined ? allGroups(axis.groups) : [],
    ),
  ]);
  return reports.flatMap((report): ExperimentWarning[] => {
    const { name, document, neurons } = report;
    const kind = kindOf(document);
    if (kind.shape === 'events' && kind.isReadout?.(report, connectome.neuronCount) !== true) return [];
    const count = countMarked(neurons, stimulated);
    if (count === 0) return [];
    const message =
      `The report ${name} reads ${count} of ${neurons.length} neurons that an input stimulates: ` +
      'their spikes are the stimulus, not a response.';
    return [{ code: 'READOUT_STIMULATED', message }];
  });
}

/** The number of neurons that no input stimulates; if more respond in a trial, it is a runaway. */
export function maxRecruited(neuronCount: number): number {
  const share = neuronCount > MAX_CIRCUIT_NEURONS ? RUNAWAY_SHARE : RUNAWAY_SHARE_OF_CIRCUIT;
  return Math.floor(neuronCount * share);
}

/** @param conditions those with a runaway trial */
export function runawayWarning(conditions: readonly number[], neuronCount: number): ExperimentWarning {
  return {
    code: 'RUNAWAY',
    message:
      `In ${listedConditions(conditions)} more than ${maxRecruited(neuronCount)} of the ${neuronCount} neurons responded without ` +
      'being stimulated: activity that feeds itself, which says little about the stimulus.',
  };
}

/**
 * @param conditions those with a control for which too few neurons matched
 * @param bins what too few neurons had, or at least one more than are listed
 * @param fewer conditions whose controls have fewer neurons than the group, with texts such as `2 of 5`
 */
export function widenedWarning(
  conditions: readonly number[],
  bins: readonly string[],
  fewer: ReadonlyMap<number, string>,
): ExperimentWarning {
  const firstBins = bins.slice(0, LISTED_AT_MOST).join('; ');
  const more = bins.length > LISTED_AT_MOST ? '; and others' : '';
  const ofFewer =
    fewer.size === 0
      ? ''
      : `In those of ${listedConditions([...fewer.keys()])} only ${listed([...fewer.values()])} neurons were free, because ` +
        'reports read the others, or the experiment stimulates or silences them. ';
  return {
    code: 'MATCH_WIDENED',
    message:
      `In controls of ${listedConditions(conditions)} too few neurons matched: others${fewer.size === 0 ? '' : ', as far as they were free,'} ` +
      'came from neighbouring bins of activity or, if these had too few as well, with other labels. ' +
      `${ofFewer}Too few had: ${firstBins}${more}.`,
  };
}

/**
 * @param conditions those with few different sets of matched neurons
 * @param canMatchLess false if all neurons match already, or are drawn although they do not
 */
export function fewSetsWarning(conditions: readonly number[], canMatchLess: boolean): ExperimentWarning {
  return {
    code: 'FEW_CONTROLS',
    message:
      `In ${listedConditions(conditions)} so few neurons ${canMatchLess ? 'match' : 'are free'} that controls repeat the same sets. ` +
      `Only different sets are compared, so p cannot be below ${MAX_Q}${canMatchLess ? ': match less' : ''}.`,
  };
}

/** @param conditions those whose rows were cut, because the request has truncate=true */
export function truncatedWarning(conditions: readonly number[]): ExperimentWarning {
  return {
    code: 'SPIKES_TRUNCATED',
    message:
      `In ${listedConditions(conditions)} rows of events beyond the limit of the answer ` +
      'were left out, as truncate=true asks. Without it they come on further pages.',
  };
}

/** @param from the first condition of the answer */
export function resumedWarning(from: number): ExperimentWarning {
  return {
    code: 'RESUMED',
    message:
      `This part of the answer begins at condition ${from}. Its cost, and warnings about the results of certain conditions, do not cover ` +
      'the conditions before it.',
  };
}

/** @returns a sentence on the missing pairs, if the metadata shows that pairs or all connections are missing */
function partialWiring(metadata: Connectome['metadata']): string | undefined {
  const { release, wiring, minimumSynapses, connectionCount } = metadata;
  if (connectionCount === 0) return 'The network has no connections, so only stimulated neurons can spike.';
  if (minimumSynapses > RELEASE.minimumSynapses) {
    return `Pairs of neurons with fewer than ${minimumSynapses} synapses are left out.`;
  }
  // RELEASE.pairs is for a minimum of 5 synapses. A lower minimum only adds pairs, so a smaller number shows a loss.
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

/** A percentage. Values that round to 0 or 100 are put in words, because they would mean none or all. */
function missingShare(connectionCount: number): string {
  const percent = Math.round(100 * (1 - connectionCount / RELEASE.pairs));
  if (percent === 0) return 'less than 1 %';
  return percent === 100 && connectionCount > 0 ? 'more than 99 %' : `${percent} %`;
}

function listedConditions(conditions: readonly number[]): string {
  return `condition${conditions.length === 1 ? '' : 's'} ${listed(conditions.map(String))}`;
}
