/** The answer in README.md is shortened, but its remaining lines are real. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { openConnectome } from '../../src/engine/connectome/format.js';
import { KernelEngine } from '../../src/engine/simulation/cpu/kernel-engine.js';
import { DEFAULT_EXPERIMENT } from '../../src/experiments/presets/experiment.js';
import { ExperimentRunner } from '../../src/experiments/presets/run-body.js';
import { compileKernel } from '../../src/workers/pool/kernel-file.js';
import { connectomeFile } from '../support/connectomes.js';

const text = readFileSync(resolve('README.md'), 'utf8');

it('README.md shows the answers of the brain that ships', async () => {
  const shown = JSON.parse(/```json\n([^]*?)```/.exec(text)![1]!) as Record<string, unknown>;
  const request = JSON.parse(/-d '(.*)'/.exec(text)![1]!) as { stimulus: 'loom' };
  const connectome = openConnectome(new Uint8Array(readFileSync(await connectomeFile('default'))).buffer);
  const runner = new ExperimentRunner(connectome, new KernelEngine(compileKernel(), connectome));
  const experiment = { ...DEFAULT_EXPERIMENT, ...request };
  const { bytes } = runner.body(experiment, 'full', runner.simulate(experiment));
  const answer = JSON.parse(new TextDecoder().decode(bytes)) as Record<string, unknown[]>;
  const first = {
    ...answer,
    frames: answer['frames']!.slice(0, 1),
    top_types: answer['top_types']!.slice(0, 1),
  };
  expect(Object.keys(shown)).toEqual(Object.keys(answer));
  expect(first).toMatchObject(shown);
});
