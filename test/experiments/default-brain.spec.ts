import { readFileSync } from 'node:fs';
import { openConnectome } from '../../src/engine/connectome/format.js';
import type { Connectome } from '../../src/engine/connectome/connectome.js';
import { connectomeFile } from '../support/connectomes.js';
import { STIMULUS_SIZES } from '../support/stimulus-sizes.js';

/**
 * The brain that the service ships, sampled from data/cell-types. Its digest is part of the id of the model and of
 * every run: a change here is a new model, also when only a description in data/populations.json has changed.
 */
const DIGEST = 'd027c3ba3e068fb5f8cc8e969ff9baabe64bf071a2d782d31300da3981c1ab89';

describe('the default brain', () => {
  let connectome: Connectome;
  beforeAll(async () => {
    connectome = openConnectome(new Uint8Array(readFileSync(await connectomeFile('default'))).buffer);
  }, 120_000);

  it('has the same bytes on every machine', () => {
    expect(connectome.digest).toBe(DIGEST);
  });

  it('has the size of the tables that its statistics come from, and names itself', () => {
    expect(connectome.metadata).toMatchObject({
      neuronCount: 139_255,
      connectionCount: 2_313_358,
      synapseCount: 28_451_730,
      minimumSynapses: 5,
      wiring: 'synthetic',
      signRule: 'corrected',
    });
    expect(connectome.metadata.provenance[0]).toMatch(/^Synthetic wiring/);
    expect(connectome.metadata.sources.slice(0, 2).map(({ file }) => file)).toEqual([
      'groups.csv.gz',
      'pairs.csv.gz',
    ]);
    // The number of the tables, see tables.spec.ts.
    expect(connectome.signs.filter((sign) => sign < 0)).toHaveLength(50_099);
    expect(connectome.synapseCounts.every((count) => count >= 5)).toBe(true);
    expect(connectome.synapseCounts.includes(5)).toBe(true);
  });

  it('has every population, at the size that the tables give it', () => {
    const { stimuli, channels } = connectome.metadata;
    const sizes = [...stimuli, ...channels].map(({ id, neuronCount }) => [id, neuronCount]);
    expect(Object.fromEntries(sizes)).toEqual({
      ...STIMULUS_SIZES,
      escape: 2,
      walk: 6,
      turn_left: 2,
      turn_right: 2,
      stop: 2,
      backward: 4,
      landing: 4,
      wing: 2,
      groom: 46,
      proboscis: 12,
      courtship: 2,
      descending: 1305,
      motor: 110,
      food_relay: 6,
      pheromone_relay: 15,
      song_relay: 21,
      touch_relay: 6,
      colour_relay: 4,
      humid_relay: 8,
      heat_relay: 4,
      bitter_relay: 8,
    });
  });
});
