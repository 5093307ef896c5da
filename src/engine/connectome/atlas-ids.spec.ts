import { decodeIds, encodeIds } from './atlas-ids.js';
import type { Connectome } from './connectome.js';

function encoded(ids: readonly string[]): string {
  return encodeIds({ neuronCount: ids.length, neuronId: (i: number) => ids[i]! } as Connectome);
}

it.each([
  ['ids of a release', ['720575940596125868', '720575940597856265', '720575940596125867']],
  ['ids of a synthetic brain', ['LC4_L_0009', 'LC4_L_0010', 'LC4_R_0001', 'LC4_R_0002', 'PPL1-2_L_9999']],
  ['numbers that become longer', ['8', '9', '10', '11', '099', '100', '00']],
  ['any text', ['a', 'a', '', '=', '==1', '-3', 'ä7', 'ä8', '\r', '']],
  ['no neuron', []],
])('has again %s', (_, ids) => {
  expect(decodeIds(encoded(ids))).toEqual(ids);
});

it('has little of ids that follow each other', () => {
  expect(encoded(['LC4_L_0001', 'LC4_L_0002', 'LC4_L_0003'])).toBe('=LC4_L_0001\n\n\n');
  expect(encoded(['720575940596125868', '720575940597856265'])).toBe('=720575940596125868\n1730397\n');
});
