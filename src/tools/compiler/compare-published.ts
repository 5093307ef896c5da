/** Compares a compiled brain with the published data set, to recognise its table of synapses and report differences. */
import { basename } from 'node:path';
import type { ConnectomeMetadata } from '../../engine/connectome/connectome.js';
import type { Brain } from './brain.js';
import type { ConnectionTable, Dataset } from './dataset.js';

/** Recognises the table of connections by its digest, else by its number of pairs, else by its name. */
export function recognisedConnections(
  { files, connections }: Dataset,
  chosen: ConnectionTable,
  { sources, pairs }: Brain,
): ConnectionTable {
  const digest = sources.find(({ file }) => file === basename(chosen.file))?.sha256;
  const byDigest = files.find(({ sha256 }) => sha256 !== undefined && sha256 === digest)?.file;
  return (
    connections.find(({ file }) => file === byDigest) ??
    connections.find((each) => each.pairs?.count === pairs) ??
    chosen
  );
}

/** Sentences on files and counts that differ from the published ones. */
export function deviations(dataset: Dataset, connections: ConnectionTable, brain: Brain): string[] {
  const { files, neuron_count: neuronCount = brain.neurons.count } = dataset;
  const notes = brain.sources.flatMap(({ file, sha256 }) => {
    const published = files.find((each) => each.file === file)?.sha256;
    // The file may be another published table of synapses under this name.
    return published === undefined || files.some((each) => each.sha256 === sha256)
      ? []
      : [`${file} is not the published file: its SHA-256 is ${sha256}, expected ${published}.`];
  });
  if (brain.neurons.count !== neuronCount) {
    notes.push(`The tables have ${brain.neurons.count} neurons, expected ${neuronCount}.`);
  }
  const { count: pairs = brain.pairs } = connections.pairs ?? {};
  if (brain.pairs !== pairs) {
    notes.push(`The tables have ${brain.pairs} connected pairs of neurons, expected ${pairs}.`);
  }
  return notes;
}

/** Members of the metadata that describe a data set, and its table of synapses if that is not the default one. */
export function originOf(
  { licence, citations, sign_source: signSource, connections: [own] }: Dataset,
  { synapses, title, citations: further, ...table }: ConnectionTable,
): Pick<ConnectomeMetadata, 'licence' | 'citations' | 'signSource' | 'synapses'> {
  const cited = [...(citations ?? []), ...(further ?? [])];
  return {
    ...(licence !== undefined && { licence }),
    ...(cited.length > 0 && { citations: cited }),
    ...(signSource !== undefined && { signSource }),
    ...(table.file !== own!.file &&
      synapses !== undefined && { synapses: { id: synapses, title: title ?? synapses } }),
  };
}
