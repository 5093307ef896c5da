/** Names for fields of neurons: cell types, published sets and sets of the document. */
import { completeNames } from '../completion.js';
import { byId } from '../dom.js';
import { service, typesLike } from '../service/client.js';

/** Id of the list of names that these fields offer. */
export const NAMES = 'neuron-names';

/** @param ownNames names of the sets that the document defines, which come first */
export function offerNames(ownNames: () => readonly string[]): void {
  completeNames({
    list: byId<HTMLDataListElement>(NAMES),
    async namesLike(start, signal) {
      if (start.includes(':')) return [];
      if (!start.startsWith('@')) return [...ownNames(), ...(await typesLike(start, signal))];
      const { node_sets: sets } = await service.nodeSets({ signal });
      return [...ownNames(), ...sets.filter(({ neurons }) => neurons > 0).map(({ name }) => name)];
    },
  });
}
