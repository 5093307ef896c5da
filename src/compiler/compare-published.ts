/** Compares what was compiled with what was published: which table of synapses it is, and what differs. */
import { basename } from 'node:path';
import type { ConnectomeMetadata } from '../connectome/connectome.js';
import type { Brain } from './brain.js';
import type { ConnectionTable, Dataset } from './dataset.js';

/** The table that the connections really are: by their digest, else by the number of their pairs, else as they are called. */
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

/** Sentences on files and counts that are not the published ones. */
export function deviations(dataset: Dataset, connections: ConnectionTable, brain: Brain): string[] {
  const { files, neuron_count: neuronCount = brain.neurons.count } = dataset;
  const notes = brain.sources.flatMap(({ file, sha256 }) => {
    const published = files.find((each) => each.file === file)?.sha256;
    // A table of other synapses may have the name of the data set's own.
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

/** Members of the metadata that tell of a data set, and of a table of synapses that is not its own. */
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
