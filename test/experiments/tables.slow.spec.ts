import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { openConnectome } from '../../src/engine/connectome/format.js';
import type { Connectome } from '../../src/engine/connectome/connectome.js';
import { connectomeFile } from '../support/connectomes.js';
import { describeWith } from '../support/requirements.js';
import { STIMULUS_SIZES } from '../support/stimulus-sizes.js';

/** With a cold cache both brains are compiled first. */
jest.setTimeout(300_000);

describeWith(['tables'], 'the tables, compiled', () => {
  const opened = new Map<string, Promise<Connectome>>();
  const open = (name: 'measured-predicted' | 'measured-corrected') => {
    const known = opened.get(name) ?? connectomeFile(name).then(read);
    opened.set(name, known);
    return known;
  };

  it.each(['measured-predicted', 'measured-corrected'] as const)(
    '%s has the size of the tables',
    async (name) => {
      const { metadata, positionEstimated } = await open(name);
      expect(metadata).toMatchObject({
        neuronCount: 139_255,
        connectionCount: 2_313_358,
        synapseCount: 28_451_730,
        wiring: 'measured',
        minimumSynapses: 5,
      });
      expect(Object.fromEntries(metadata.stimuli.map(({ id, neuronCount }) => [id, neuronCount]))).toEqual(
        STIMULUS_SIZES,
      );
      expect(positionEstimated.filter((flag) => flag === 0)).toHaveLength(36_676);
    },
  );

  it('differs between the sign rules only in the signs, and there only if the rules say so', async () => {
    const predicted = await open('measured-predicted');
    const corrected = await open('measured-corrected');
    expect(digestOf(corrected.targets)).toBe(digestOf(predicted.targets));
    expect(digestOf(corrected.synapseCounts)).toBe(digestOf(predicted.synapseCounts));
    const inhibitory = (connectome: Connectome) => connectome.signs.filter((sign) => sign < 0).length;
    expect([inhibitory(predicted), inhibitory(corrected)]).toEqual([49_893, 50_099]);
    const turned = (to: number) =>
      corrected.signs.filter((sign, i) => sign === to && predicted.signs[i] !== to).length;
    expect({ toExcitation: turned(1), toInhibition: turned(-1) }).toEqual({
      toExcitation: 115,
      toInhibition: 321,
    });
  });

  it('names the sources with their digests', async () => {
    const { metadata } = await open('measured-corrected');
    expect(metadata.sources.map(({ file }) => file)).toEqual([
      'neurons.csv.gz',
      'classification.csv.gz',
      'consolidated_cell_types.csv.gz',
      'coordinates.csv.gz',
      'estimated_positions.csv.gz',
      'connections.csv.gz',
    ]);
    for (const { sha256 } of metadata.sources) {
      expect(sha256).toMatch(/^[0-9a-f]{64}$/);
    }
  });
});

async function read(path: string): Promise<Connectome> {
  return openConnectome(new Uint8Array(readFileSync(path)).buffer);
}

function digestOf(values: Uint32Array | Uint16Array): string {
  return createHash('sha256')
    .update(new Uint8Array(values.buffer, values.byteOffset, values.byteLength))
    .digest('hex');
}
