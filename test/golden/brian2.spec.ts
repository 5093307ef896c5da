import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { Connectome } from '../../src/connectome/connectome.js';
import { openConnectome } from '../../src/connectome/format.js';
import { compareSpikes, neuronIndexById, parseGolden } from '../../src/engine/golden.js';
import { connectomeFile } from '../support/connectomes.js';
import { ENGINES } from '../support/engines.js';
import { describeWith, GOLDEN_DIR } from '../support/requirements.js';

/** With a cold cache the brain is compiled first. */
jest.setTimeout(300_000);

const runs = [
  ['sugar-100ms', 2892],
  ['loom-100ms', 6820],
  ['food-100ms', 22897],
  ['heat-200ms', 17947],
] as const;

describeWith(['golden'], 'the whole brain against Brian 2, spike for spike', () => {
  let connectome: Connectome;
  let indexById: Map<string, number>;

  beforeAll(async () => {
    const file = await connectomeFile('golden-predicted');
    connectome = openConnectome(new Uint8Array(readFileSync(file)).buffer);
    indexById = neuronIndexById(connectome);
  });

  describe.each(ENGINES)('$name', ({ build }) => {
    it.each(runs)('%s: all %d spikes, none missing, none extra', (name, spikes) => {
      const csv = gunzipSync(readFileSync(resolve(GOLDEN_DIR, `${name}.csv.gz`))).toString();
      const golden = parseGolden(csv, name, indexById);
      const simulated = build(connectome).simulate(golden.kicks, golden.durationSteps);
      expect(compareSpikes(golden.spikes, simulated)).toEqual({ spikes, missing: 0, extra: 0 });
    });
  });
});
