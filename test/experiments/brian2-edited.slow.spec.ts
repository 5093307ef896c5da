/**
 * Runs of Brian 2 with edited networks, asked for as documents: their kicks are replayed, their edits are said in
 * words.
 */
import { readFileSync } from 'node:fs';
import type { Connectome } from '../../src/engine/connectome/connectome.js';
import { openConnectome } from '../../src/engine/connectome/format.js';
import type { RunTrial } from '../../src/experiments/run/condition-run.js';
import { connectomeFile } from '../support/connectomes.js';
import { EDITED_GOLDENS, editedGoldenDocument, editedGoldenLines } from '../support/golden-documents.js';
import { answerOf, localTrials, planOf, rowsOf, tableIn } from '../support/open-experiments.js';
import { describeWith } from '../support/requirements.js';

/** With a cold cache the brain is compiled first. */
jest.setTimeout(300_000);

const MAX_DIFFERENCE_MV = 1e-9;
describeWith(['tables', 'golden'], 'documents that edit the network, against Brian 2', () => {
  let connectome: Connectome;
  let runTrial: RunTrial;

  beforeAll(async () => {
    connectome = openConnectome(
      new Uint8Array(readFileSync(await connectomeFile('measured-predicted'))).buffer,
    );
    runTrial = localTrials(connectome);
  });

  it.each(Object.entries(EDITED_GOLDENS))('%s', async (name, { spikes, pairs, traces = {} }) => {
    const lines = editedGoldenLines(name);
    const of = (event: string) => lines.filter(([each]) => each === event);
    const plan = planOf(connectome, editedGoldenDocument(name));
    const changed = plan.head.resolved['connection_overrides'] as
      | Record<string, { pairs: number }>
      | undefined;
    if (pairs !== undefined) expect(changed?.['cut']?.pairs).toBe(pairs);

    const { conditions } = await answerOf(plan, runTrial);
    const found = rowsOf(tableIn(conditions[0]!, 'spikes')).map(
      ([, step, i]) => `${step} ${connectome.neuronId(i!)}`,
    );
    expect(found).toHaveLength(spikes);
    expect(found.toSorted()).toEqual(
      of('spike')
        .map(([, step, id]) => `${step} ${id}`)
        .toSorted(),
    );

    const potentials = Object.keys(traces).flatMap((_, at) => rowsOf(tableIn(conditions[0]!, `v${at}`)));
    const golden = Object.keys(traces).length === 0 ? [] : editedGoldenLines(`${name}.membrane`);
    const goldenMv = new Map(golden.map(([step, id, mv]) => [`${step} ${id}`, Number(mv)]));
    expect(potentials).toHaveLength(golden.length);
    expect(goldenMv.size).toBe(golden.length);
    let largestMv = 0;
    for (const [, step, i, mv] of potentials) {
      const expectedMv = goldenMv.get(`${step} ${connectome.neuronId(i!)}`);
      if (expectedMv === undefined)
        throw new Error(`Brian 2 has no potential of ${connectome.neuronId(i!)} in step ${step}`);
      largestMv = Math.max(largestMv, Math.abs(mv! - expectedMv));
    }
    expect(largestMv).toBeLessThan(MAX_DIFFERENCE_MV);
  });
});
