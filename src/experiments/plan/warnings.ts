/** What a reader has to know before they use a number. */
import type { Connectome } from '../../connectome/connectome.js';
import type { ResolvedDocument } from './resolve-document.js';
import type { ExperimentWarning } from './result.js';
import type { Grid } from './sweep.js';

/** Of release 783: pairs of neurons with 5 synapses or more (Dorkenwald et al. 2024, doi:10.1038/s41586-024-07558-y). */
const RELEASE = { release: 783, minimumSynapses: 5, pairs: 2_700_513 };

/** More responding neurons than any stimulus of the release is known to recruit: activity that feeds itself. */
export const RUNAWAY_NEURONS = 5000;
const LISTED_AT_MOST = 10;

interface ReadNeurons {
  readonly name: string;
  readonly document: { readonly type: string };
  readonly neurons: Uint32Array;
}

/** The warnings that need no trial, in the order of WARNING_CODES. */
export function warningsBefore(
  { metadata, neuronCount }: Connectome,
  { missing, substituted }: ResolvedDocument,
  inputs: readonly Uint32Array[],
  reports: readonly ReadNeurons[],
  { axes }: Grid,
): ExperimentWarning[] {
  const warnings: ExperimentWarning[] = [];
  if (metadata.wiring === 'synthetic') {
    warnings.push({
      code: 'SYNTHETIC_WIRING',
      message:
        'The wiring was sampled from statistics of cell types. Its single connections were not measured, so nothing ' +
        'can be said of single neurons of a large type.',
    });
  }
  const partial = partialWiring(metadata);
  if (partial !== undefined) warnings.push({ code: 'PARTIAL_WIRING', message: partial });

  const stimulated = new Uint8Array(neuronCount);
  const mark = (neurons: Uint32Array) => {
    for (const neuron of neurons) stimulated[neuron] = 1;
  };
  inputs.forEach(mark);
  for (const axis of axes) {
    if (axis.kind !== 'groups' || axis.name === 'silence') continue;
    for (let group = 0; group < axis.groups.count; group++) mark(axis.groups.neuronsOf(group));
  }
  for (const { name, document, neurons } of reports) {
    if (document.type === 'inputs') continue;
    // A table of all spikes is no readout: whoever asks for it wants those of the stimulated neurons as well.
    if (document.type === 'spikes' && neurons.length === neuronCount) continue;
    let count = 0;
    for (const neuron of neurons) count += stimulated[neuron]!;
    if (count > 0) {
      warnings.push({
        code: 'READOUT_STIMULATED',
        message:
          `The report ${name} reads ${count} of ${neurons.length} neurons that an input stimulates: ` +
          'their spikes are the stimulus, not a response.',
      });
    }
  }
  if (missing.length > 0) {
    warnings.push({ code: 'MISSING_SKIPPED', message: `The model lacks ${listed(missing)}; skipped.` });
  }
  if (substituted.length > 0) {
    warnings.push({
      code: 'SUBSTITUTED',
      message: `This brain has no measured cells: cell types stand for those of ${listed(substituted)}.`,
    });
  }
  return warnings;
}

/** @param conditions in which more neurons responded, in any trial */
export function runawayWarning(conditions: readonly number[]): ExperimentWarning {
  const where = conditions.length === 1 ? 'condition' : 'conditions';
  return {
    code: 'RUNAWAY',
    message:
      `In ${where} ${listed(conditions.map(String))} more than ${RUNAWAY_NEURONS} neurons responded: activity that ` +
      'feeds itself, which says little about the stimulus.',
  };
}

/** @returns which pairs the wiring lacks, if the metadata shows that it lacks some */
function partialWiring(metadata: Connectome['metadata']): string | undefined {
  const { release, minimumSynapses, connectionCount } = metadata;
  if (minimumSynapses > RELEASE.minimumSynapses) {
    return `Pairs of neurons with fewer than ${minimumSynapses} synapses are left out.`;
  }
  // A lower minimum only adds pairs, so fewer pairs than this are too few in any case.
  if (release !== RELEASE.release || connectionCount >= RELEASE.pairs) return undefined;
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

function listed(names: readonly string[]): string {
  const more = names.length - LISTED_AT_MOST;
  return names.slice(0, LISTED_AT_MOST).join(', ') + (more > 0 ? ` and ${more} more` : '');
}
