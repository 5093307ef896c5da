/** Names of cell types in the literature that differ from those of release 783: data/synonyms.json. */
import { publishedFile } from '#platform';
import type { Publication } from './node-sets.js';
import type { NeuronIndex } from './neuron-index.js';

/** The cell types that a name stands for. */
export interface Synonym {
  readonly types: readonly string[];
  /** The publications, by authors, year and DOI. */
  readonly sources: readonly string[];
}

interface SynonymFile {
  readonly publications: Readonly<Record<string, Publication>>;
  readonly synonyms: readonly Readonly<Record<'names' | 'types' | 'publications', readonly string[]>>[];
}

/**
 * Finds a name in the file, which is read only once. It ignores `*` and case.
 * @param neurons the index of a model
 * @returns undefined if the name stands for no type of the model
 * @throws CodedError INTERNAL
 */
export function synonymOf(name: string, neurons: NeuronIndex): Synonym | undefined {
  byName ??= new Map(readSynonyms());
  const found = byName.get(keyOf(name));
  const types = found?.types.filter((type) => neurons.matchingLabels('type', type).length > 0) ?? [];
  return types.length === 0 ? undefined : { types, sources: found!.sources };
}

let byName: ReadonlyMap<string, Synonym> | undefined;

function* readSynonyms(): Iterable<[string, Synonym]> {
  const { publications, synonyms } = publishedFile('synonyms') as SynonymFile;
  for (const { names, types, publications: keys } of synonyms) {
    const sources = keys.map((key) => `${publications[key]!.text}, doi:${publications[key]!.doi}`);
    for (const name of names) yield [keyOf(name), { types, sources }];
  }
}

function keyOf(name: string): string {
  return name.replaceAll('*', '').toLowerCase();
}
