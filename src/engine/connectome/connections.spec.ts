import fc from 'fast-check';
import { smallConnectome } from '../../../test/support/small-connectome.js';
import { withoutPauses } from '../parts.js';
import { type ConnectionQuestion, type ConnectionRow, connectionsBetween } from './connections.js';
import { encodeConnectome, openConnectome } from './format.js';

/** The small brain, in which every seventh neuron has no fast effect. */
const small = smallConnectome();
const signed = { ...small, signs: small.signs.map((sign, neuron) => (neuron % 7 === 0 ? 0 : sign)) };
const connectome = openConnectome(encodeConnectome(signed).buffer);
const { neuronCount, rowStart, targets, synapseCounts, signs, typeIndices, metadata } = connectome;
const ALL = Uint32Array.from({ length: neuronCount }, (_, i) => i);
const typeOf = (neuron: number) => metadata.types[typeIndices[neuron]!]!.name;

function answer(question: Partial<ConnectionQuestion>) {
  const whole = { sources: ALL, targets: ALL, groupBy: 'neuron' as const, from: 0, limit: 1e6 };
  return withoutPauses(connectionsBetween(connectome, { ...whole, ...question }));
}

/** The rows of a question, computed one connection at a time in a map. */
function counted(sources: Uint32Array, posts: Uint32Array, groupBy: 'type' | 'neuron'): ConnectionRow[] {
  const first = (neuron: number) =>
    groupBy === 'neuron' ? neuron : ALL.find((each) => typeOf(each) === typeOf(neuron))!;
  const rows = new Map<string, { -readonly [K in keyof ConnectionRow]: ConnectionRow[K] }>();
  for (const pre of sources) {
    for (let at = rowStart[pre]!; at < rowStart[pre + 1]!; at++) {
      const post = targets[at]!;
      if (!posts.includes(post)) continue;
      const [source, target] = [first(pre), first(post)];
      const key = `${source} ${target}`;
      const row = rows.get(key) ?? {
        source,
        target,
        pairs: 0,
        synapses: 0,
        excitatoryPairs: 0,
        inhibitoryPairs: 0,
      };
      row.pairs++;
      row.synapses += synapseCounts[at]!;
      if (signs[pre]! > 0) row.excitatoryPairs++;
      if (signs[pre]! < 0) row.inhibitoryPairs++;
      rows.set(key, row);
    }
  }
  return [...rows.values()].toSorted((a, b) => a.source - b.source || a.target - b.target);
}

describe('connections between two sets', () => {
  it('are those of the wiring, one by one or by type, on any page', () => {
    const sets = fc.uniqueArray(fc.nat(neuronCount - 1), { minLength: 1, maxLength: 120 });
    const ascending = sets.map((neurons) => Uint32Array.from(neurons).sort());
    fc.assert(
      fc.property(
        ascending,
        ascending,
        fc.constantFrom('type', 'neuron'),
        fc.nat(20),
        fc.nat(20),
        (sources, posts, groupBy, from, limit) => {
          const rows = counted(sources, posts, groupBy);
          const sum = (member: 'pairs' | 'synapses') => rows.reduce((total, row) => total + row[member], 0);
          expect(answer({ sources, targets: posts, groupBy, from, limit })).toEqual({
            count: rows.length,
            pairs: sum('pairs'),
            synapses: sum('synapses'),
            rows: rows.slice(from, from + limit),
          });
        },
      ),
      { numRuns: 200 },
    );
  });

  it('of neurons without a type are one group, whatever their super class', () => {
    const types = [...signed.metadata.types, { name: '', superClass: 'optic' }];
    const typeIndices = signed.typeIndices.slice();
    typeIndices[neuronCount - 1] = types.length - 1;
    const two = openConnectome(
      encodeConnectome({ ...signed, typeIndices, metadata: { ...signed.metadata, types } }).buffer,
    );
    const question = { sources: ALL, targets: ALL, groupBy: 'type' as const, from: 0, limit: 1e6 };
    expect(withoutPauses(connectionsBetween(two, question))).toEqual(answer(question));
  });

  it('add up to the whole wiring, also if a source has both signs', () => {
    const { count, pairs, synapses, rows } = answer({ groupBy: 'type' });
    expect([count, pairs, synapses]).toEqual([
      rows.length,
      connectome.connectionCount,
      metadata.synapseCount,
    ]);
    // A fifth of the interneurons inhibit, and they have no type.
    const mixed = rows.filter((row) => row.excitatoryPairs > 0 && row.inhibitoryPairs > 0);
    expect(new Set(mixed.map(({ source }) => typeOf(source)))).toEqual(new Set(['']));
  });
});
