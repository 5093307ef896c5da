/** Names in the literature of cell types that release 783 calls otherwise: data/synonyms.json. */
import { fileURLToPath } from 'node:url';
import { readChecked } from './checked-json.js';
import type { Publication } from './node-sets.js';
import type { NeuronIndex } from './neuron-index.js';

/** Cell types that a name stands for. */
export interface Synonym {
  readonly types: readonly string[];
  /** Publications, by authors, year and DOI. */
  readonly sources: readonly string[];
}

interface SynonymFile {
  readonly publications: Readonly<Record<string, Publication>>;
  readonly synonyms: readonly Readonly<Record<'names' | 'types' | 'publications', readonly string[]>>[];
}

const SYNONYMS_FILE = fileURLToPath(new URL('../../data/synonyms.json', import.meta.url));

/**
 * Finds a name in the file, which is read once. `*` counts as nothing, upper and lower case are equal.
 * @param neurons of a model
 * @returns undefined where the name stands for no type of the model
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
  const { publications, synonyms } = readChecked<SynonymFile>(SYNONYMS_FILE, 'INTERNAL');
  for (const { names, types, publications: keys } of synonyms) {
    const sources = keys.map((key) => `${publications[key]!.text}, doi:${publications[key]!.doi}`);
    for (const name of names) yield [keyOf(name), { types, sources }];
  }
}

function keyOf(name: string): string {
  return name.replaceAll('*', '').toLowerCase();
}
