/** What to cite for a result: one list, of which each connectome has its part, then the sources of node sets. */
import type { Connectome, ConnectomeMetadata } from '../../connectome/connectome.js';

interface Citation {
  readonly text: string;
  readonly appliesTo: (metadata: ConnectomeMetadata) => boolean;
}

const CITATIONS: readonly Citation[] = [
  {
    text: 'Dorkenwald et al. 2024, Neuronal wiring diagram of an adult brain, doi:10.1038/s41586-024-07558-y',
    appliesTo: isFlyWire,
  },
  {
    text: 'Schlegel et al. 2024, Whole-brain annotation and multi-connectome cell typing of Drosophila, doi:10.1038/s41586-024-07686-5',
    appliesTo: (metadata) => isFlyWire(metadata) && metadata.types.some(({ name }) => name !== ''),
  },
  {
    text: 'Eckstein, Bates et al. 2024, Neurotransmitter classification from electron microscopy images at synaptic sites in Drosophila melanogaster, doi:10.1016/j.cell.2024.03.016',
    // The file of Shiu et al. gives signs without their rule; they come from the same predictions.
    appliesTo: isFlyWire,
  },
  {
    text: 'Shiu et al. 2024, A Drosophila computational brain model reveals sensorimotor processing, doi:10.1038/s41586-024-07763-9',
    // The network itself: equations and constants.
    appliesTo: () => true,
  },
];

/** @param sources of the published node sets that the document names */
export function citationsOf(
  { metadata }: Pick<Connectome, 'metadata'>,
  sources: readonly string[],
): string[] {
  return [...CITATIONS.filter(({ appliesTo }) => appliesTo(metadata)).map(({ text }) => text), ...sources];
}

function isFlyWire({ dataset }: ConnectomeMetadata): boolean {
  return dataset.startsWith('FlyWire');
}
