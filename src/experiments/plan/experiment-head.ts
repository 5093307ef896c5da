/** The head of an answer: the complete document, its id, the model, and the citations. */
import { sha256Hex } from '#platform';
import type { Connectome } from '../../engine/connectome/connectome.js';
import { isFlyWire, modelId } from '../../engine/connectome/model-id.js';
import { FLYWIRE_CITATIONS, MODEL_CITATION } from '../../engine/connectome/model-origin.js';
import type { ExperimentDocument } from '../document/document.js';
import type { ExperimentHead } from '../document/result.js';

/** Part of every id. Increment it if any result may change. */
export const ANSWER_VERSION = '3';
const ID_HEX_DIGITS = 32;
/** Members whose names a client chooses. Numbers do not depend on their order. */
const NAMED_MEMBERS = ['node_sets', 'inputs', 'connection_overrides', 'reports'] as const;

export function experimentHead(
  connectome: Connectome,
  document: ExperimentDocument,
  resolved: ExperimentHead['resolved'],
  isRewired: boolean,
): ExperimentHead {
  const { metadata, digest } = connectome;
  const wiring = isRewired ? 'rewired' : metadata.wiring;
  return {
    id: experimentId(digest, document),
    model: modelId({ metadata: { ...metadata, wiring }, digest }),
    wiring,
    ...(metadata.licence && { licence: metadata.licence.spdx }),
    side_convention: sideConvention(connectome),
    experiment: document,
    resolved,
  };
}

/**
 * The first 32 hex digits of the SHA-256 of lines, each ended by a line feed: the connectome's digest, the version of
 * the answers, the complete document as JSON, with the names in each of its members in the order of their code units.
 * Equal experiments have equal ids on every machine, also after a program has sorted their names.
 */
export function experimentId(connectomeDigest: string, document: ExperimentDocument): string {
  const lines = [connectomeDigest, ANSWER_VERSION, JSON.stringify(withSortedNames(document))];
  return sha256Hex(lines.map((line) => `${line}\n`).join('')).slice(0, ID_HEX_DIGITS);
}

function withSortedNames(document: ExperimentDocument): object {
  const byName = ([a]: [string, unknown], [b]: [string, unknown]) => (a < b ? -1 : 1);
  const members = Object.entries(document).map(([member, value]: [string, unknown]) => {
    const isNamed = (NAMED_MEMBERS as readonly string[]).includes(member);
    return [member, isNamed ? Object.fromEntries(Object.entries(value as object).sort(byName)) : value];
  });
  return Object.fromEntries(members) as object;
}

/** The names of a document in their order, which its answer follows and its id does not. */
export function orderOfNames(document: ExperimentDocument): string {
  return JSON.stringify(NAMED_MEMBERS.map((member) => Object.keys(document[member] ?? {})));
}

function sideConvention({ metadata }: Connectome): string {
  if (!isFlyWire(metadata))
    return `Left and right are those of ${metadata.dataset}, as the model was compiled.`;
  const release = metadata.release === null ? '' : ` release ${metadata.release}`;
  return (
    `Left and right are those of the classification of ${metadata.dataset}${release}, the fly's ` +
    'own. Shiu et al. 2024 name them the other way round: their "right" sugar neurons are on the left here.'
  );
}

/** Titles of publications, by DOI. */
const TITLES: Readonly<Record<string, string>> = {
  '10.1038/s41586-024-07558-y': 'Neuronal wiring diagram of an adult brain',
  '10.1038/s41586-024-07686-5': 'Whole-brain annotation and multi-connectome cell typing of Drosophila',
  '10.1016/j.cell.2024.03.016':
    'Neurotransmitter classification from electron microscopy images at synaptic sites in Drosophila melanogaster',
  '10.1038/s41586-024-07763-9': 'A Drosophila computational brain model reveals sensorimotor processing',
};

/**
 * References for a result: those of the connectome, then the sources of node sets.
 * @param sources of the published node sets that the document names
 */
export function citationsOf(
  { metadata }: Pick<Connectome, 'metadata'>,
  sources: readonly string[],
): string[] {
  const hasTypes = metadata.types.some(({ name }) => name !== '');
  // The file of Shiu et al. does not name the rule of its signs, but they come from the predictions of FlyWire.
  const flyWire = isFlyWire(metadata)
    ? FLYWIRE_CITATIONS.filter(({ subject }) => hasTypes || subject !== 'the cell types')
    : [];
  return [
    ...(metadata.citations ?? []).map(({ text, doi }) => `${text}, doi:${doi}`),
    ...[...flyWire, MODEL_CITATION].map(({ text, doi }) => `${text}, ${TITLES[doi]}, doi:${doi}`),
    ...sources,
  ];
}
