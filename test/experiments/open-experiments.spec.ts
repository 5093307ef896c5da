import { readFileSync } from 'node:fs';
import { SIDES, type Connectome } from '../../src/engine/connectome/connectome.js';
import { openConnectome } from '../../src/engine/connectome/format.js';
import type { RunTrial } from '../../src/experiments/run/condition-run.js';
import { connectomeFile } from '../support/connectomes.js';
import { OPEN_GOLDENS, openGolden } from '../support/golden-documents.js';
import { answerOf, groupsIn, localTrials, planOf, rowsOf, tableIn } from '../support/open-experiments.js';
import { describeWith } from '../support/requirements.js';

/** With a cold cache the brain is compiled first. */
jest.setTimeout(300_000);

describeWith(['tables', 'golden'], 'open experiments against Brian 2, spike for spike', () => {
  let connectome: Connectome;
  let runTrial: RunTrial;

  beforeAll(async () => {
    const file = await connectomeFile('measured-predicted');
    connectome = openConnectome(new Uint8Array(readFileSync(file)).buffer);
    runTrial = localTrials(connectome);
  });

  it.each(OPEN_GOLDENS)(
    '%s: a document with its input events gives its spikes',
    async (name, durationMs, spikes) => {
      const { document, golden } = openGolden(connectome, name, durationMs);
      const plan = planOf(connectome, document);
      const { conditions } = await answerOf(plan, runTrial);
      expect(conditions[0]!.spikes).toEqual({ mean: spikes, sd: 0 });
      const { steps, neurons } = tableIn(conditions[0]!, 'all');
      // Every neuron has a super class or a side, so the table is the whole raster.
      expect(
        Buffer.from(steps.buffer).equals(Buffer.from(Uint32Array.from(golden.spikes.steps).buffer)),
      ).toBe(true);
      expect(Buffer.from(neurons.buffer).equals(Buffer.from(golden.spikes.neurons.buffer))).toBe(true);
    },
  );
});

describe('an open experiment on the default brain', () => {
  it('has the rates and responding neurons that its own table of spikes shows', async () => {
    const connectome = openConnectome(new Uint8Array(readFileSync(await connectomeFile('default'))).buffer);
    const [durationMs, trials] = [200, 3];
    const plan = planOf(connectome, {
      inputs: { sugar: { node_set: '@sugar', rate_hz: 100 } },
      duration_ms: durationMs,
      trials,
      reports: {
        proboscis: { node_set: '@channel/proboscis', group_by: ['side'] },
        all: { node_set: [{ super_class: '*' }, { side: ['left', 'right', 'center'] }], type: 'spikes' },
      },
    });
    // The neurons of the published list were not sampled; their type stands for them.
    expect(plan.warnings.map(({ code }) => code)).toContain('SUBSTITUTED');
    const { conditions } = await answerOf(plan, localTrials(connectome));
    const [condition] = conditions;
    const rows = rowsOf(tableIn(condition!, 'all'));
    const inTrials = (of: (rows: number[][]) => number) =>
      Array.from({ length: trials }, (_, trial) => of(rows.filter(([own]) => own === trial)));
    const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / trials;
    expect(rows.length).toBeGreaterThan(1000);
    expect(condition!.spikes!.mean).toBeCloseTo(rows.length / trials, 3);
    expect(condition!.responding_neurons!.mean).toBeCloseTo(
      mean(inTrials((own) => new Set(own.map(([, , neuron]) => neuron)).size)),
      3,
    );
    const proboscis = [...connectome.channelNeurons('proboscis')];
    for (const group of groupsIn(condition!, 'proboscis')) {
      const neurons = new Set(proboscis.filter((i) => SIDES[connectome.sides[i]!] === group.side));
      const counts = inTrials((own) => own.filter(([, , neuron]) => neurons.has(neuron!)).length);
      const rates = counts.map((count) => count / neurons.size / (durationMs / 1000));
      expect(group.rate_hz!.mean).toBeCloseTo(mean(rates), 3);
      expect(group.rate_hz!.mean).toBeGreaterThan(5);
      const deviations = rates.map((rate) => (rate - mean(rates)) ** 2);
      expect(group.rate_hz!.sd).toBeCloseTo(Math.sqrt(mean(deviations)), 3);
    }
  });
});
