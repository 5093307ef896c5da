import { CodedError, shown } from '../errors.js';
import type { Connectome } from './connectome.js';
import { nearestNames } from './nearest-names.js';
import { wildcard } from './wildcard.js';

/**
 * The neurons of all types that match one of the patterns.
 * @throws CodedError INVALID_PARAMETER for a pattern that matches no type, with near matches by name
 */
export function neuronsOfTypes(connectome: Connectome, patterns: readonly string[]): Uint32Array {
  const { types } = connectome.metadata;
  const isChosen = new Uint8Array(types.length);
  for (const pattern of patterns) {
    const matches = wildcard(pattern);
    const found = types.flatMap(({ name }, type) => (name !== '' && matches.test(name) ? [type] : []));
    if (found.length === 0) {
      const near = nearestNames(
        pattern,
        types.map(({ name }) => name),
      );
      throw new CodedError(
        'INVALID_PARAMETER',
        `No neuron has the type ${shown(pattern)}` +
          (near.length === 0 ? '.' : `; near matches: ${near.join(', ')}.`),
      );
    }
    for (const type of found) isChosen[type] = 1;
  }
  const neurons: number[] = [];
  connectome.typeIndices.forEach((type, i) => {
    if (isChosen[type] === 1) neurons.push(i);
  });
  return Uint32Array.from(neurons);
}
