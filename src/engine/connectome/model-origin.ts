/** The licence, citations and sign rule of a connectome, for answers, pages and files that describe it. */
import type { ConnectomeMetadata, SignRule } from './connectome.js';
import { isFlyWire } from './model-id.js';
import type { Citation } from './populations.js';

/** The citations of FlyWire. Files that were compiled from its tables do not repeat them. */
export const FLYWIRE_CITATIONS: readonly Citation[] = [
  { text: 'Dorkenwald et al. 2024', doi: '10.1038/s41586-024-07558-y', subject: 'the connectome' },
  { text: 'Schlegel et al. 2024', doi: '10.1038/s41586-024-07686-5', subject: 'the cell types' },
  { text: 'Eckstein, Bates et al. 2024', doi: '10.1016/j.cell.2024.03.016', subject: 'the transmitters' },
];
/** The source of the network's equations and constants. */
export const MODEL_CITATION: Citation = {
  text: 'Shiu et al. 2024',
  doi: '10.1038/s41586-024-07763-9',
  subject: 'the network model',
};
/** The limits of the synthetic brain that ships. docs/wiring.md explains how they were measured. */
export const SYNTHETIC_REACH =
  'It answers for the ten stimuli and for large cell types, not for descending neurons, motor neurons or sides: of the ' +
  'descending types that fire, 82 % have a rate within 1.5 times that on the measured wiring for the ten stimuli, and 48 % ' +
  'for eight other stimuli.';
const FLYWIRE_LICENCE = 'CC-BY-NC-4.0';
/** SPDX's identifier if no licence is known. */
const NO_LICENCE = 'NOASSERTION';

export const SIGN_RULE_TEXTS: Readonly<Record<SignRule, string>> = {
  predicted:
    'By the transmitter predicted for each neuron: GABA and glutamate are inhibitory, as are photoreceptors ' +
    '(histamine); all others are excitatory. Where the table names no transmitter, that with the largest mean ' +
    'probability counts; a neuron without any prediction is excitatory.',
  corrected:
    'By the predicted transmitter (where the table names none, that with the largest mean probability), with three ' +
    'corrections: all photoreceptors, including the ocellar ones, are ' +
    'inhibitory; local neurons of the antennal lobe predicted to be dopaminergic or serotonergic are inhibitory, ' +
    'because their lineages are largely GABAergic; all other sensory neurons are excitatory. The corrections are an ' +
    'inference.',
  fast:
    'By the transmitter of each neuron: acetylcholine excites; GABA, glutamate and histamine inhibit; neurons with ' +
    'monoamines, and those whose transmitter is unclear, have no fast effect.',
  'as given':
    'As given for each neuron by the source of the wiring: the column Excitatory of a connectivity file in the form of ' +
    'Shiu et al. 2024, or a column of signs. A neuron to which these give no sign excites.',
};

/** @returns an SPDX identifier */
export function licenceOf(metadata: Pick<ConnectomeMetadata, 'dataset' | 'licence'>): string {
  return metadata.licence?.spdx ?? (isFlyWire(metadata) ? FLYWIRE_LICENCE : NO_LICENCE);
}

/** @returns the publications of the data set, without those of the network model */
export function dataCitations(metadata: ConnectomeMetadata): readonly Citation[] {
  return [...(isFlyWire(metadata) ? FLYWIRE_CITATIONS : []), ...(metadata.citations ?? [])];
}
