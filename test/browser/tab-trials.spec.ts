/** Trials of a brain in the tab that has a helper. Here both are this thread, with a real port between them. */
import { readFileSync } from 'node:fs';
import { Computer, type Kernels } from '../../clients/tab/computer.js';
import { serveTrials, trialsIn } from '../../clients/tab/trials.js';
import { encodeConnectome, openConnectome } from '../../src/engine/connectome/format.js';
import { MAX_TRIAL_STEPS } from '../../src/engine/stimulus/protocol.js';
import type { TrialTask } from '../../src/experiments/plan/trial.js';
import { smallConnectome } from '../support/small-connectome.js';

const kernelOf = (folder: string) =>
  Uint8Array.from(readFileSync(`dist/engine/${folder}/kernel/kernel.wasm`)).buffer;
const KERNELS: Kernels = {
  simulation: kernelOf('simulation'),
  rewiring: kernelOf('simulation/rewiring'),
  drawing: kernelOf('stimulus'),
};

function trialOf(durationSteps: number): TrialTask {
  const neurons = Uint32Array.of(0, 1, 2);
  const train = { kind: 'poisson', name: '', rateHz: 100, seed: 1, trial: 0 } as const;
  return {
    protocol: {
      inputs: [{ neurons, train: { ...train, startStep: 0, endStep: durationSteps } }],
      silenced: new Uint32Array(0),
      durationSteps,
    },
    reports: [],
    countsAll: false,
  };
}

it('stop in a helper, too, after an abort', async () => {
  const connectome = openConnectome(encodeConnectome(smallConnectome()).buffer);
  const computer = new Computer(connectome, KERNELS);
  const { port1, port2 } = new MessageChannel();
  serveTrials(computer, port2);
  const trials = trialsIn(computer, [port1]);
  const stop = new AbortController();
  // Without the abort they would take minutes.
  const endless = [1, 2, 3, 4].map(() => trials.run(trialOf(100 * MAX_TRIAL_STEPS), stop.signal));
  setTimeout(() => stop.abort(new Error('enough')), 50);
  const outcomes = await Promise.allSettled(endless);
  expect(outcomes).toEqual(Array(4).fill({ status: 'rejected', reason: stop.signal.reason }));

  const { signal } = new AbortController();
  const [here, there] = await Promise.all([1, 2].map(() => trials.run(trialOf(10_000), signal)));
  expect(here!.spikes).toBeGreaterThan(0);
  expect(there).toEqual(here);
  port1.close();
});
