/** Protocols on a GPU: what it returns is what the CPU computes. */
import { protocolOf } from '../../src/answers/v1/protocol.js';
import { DEFAULT_EXPERIMENT } from '../../src/answers/v1/experiment.js';
import { encodeConnectome, openConnectome } from '../../src/connectome/format.js';
import { ReferenceEngine } from '../../src/engine/reference-engine.js';
import { drawInputEvents } from '../../src/experiment/input-events.js';
import type { Input, Protocol } from '../../src/experiment/protocol.js';
import type { GpuBatches } from '../../src/pool/gpu/gpu-batches.js';
import { describeWith } from '../support/requirements.js';
import { smallConnectome } from '../support/small-connectome.js';

const connectome = openConnectome(encodeConnectome(smallConnectome()).buffer);
const cpu = new ReferenceEngine(connectome);
const neuronId = (i: number) => connectome.neuronId(i);

const trialOnCpu = (protocol: Protocol) => cpu.simulate(drawInputEvents(protocol, neuronId), protocol);

const v1 = (seed: number, durationMs: 50 | 100 = 50) =>
  protocolOf(connectome, { ...DEFAULT_EXPERIMENT, stimulus: 'loom', duration_ms: durationMs, seed });

/** Input events in given steps. */
const given = (neurons: number[], steps: number[]): Input => ({
  neurons: Uint32Array.from(neurons),
  train: { kind: 'spikes', steps: Uint16Array.from(steps) },
});
const open = (...inputs: Input[]): Protocol => ({
  inputs,
  silenced: new Uint32Array(0),
  durationSteps: 500,
});

describeWith(['gpu'], 'GpuBatches', () => {
  let batches: GpuBatches;

  beforeAll(async () => {
    // Loads the GPU's packages.
    const { GpuBatches } = await import('../../src/pool/gpu/gpu-batches.js');
    const checks = [1, 2, 3, 4].map((seed) => v1(seed));
    batches = await GpuBatches.open({
      connectome,
      cpu,
      checks,
      draw: drawInputEvents,
      allowSoftware: true,
    });
  }, 120_000);

  it('simulates protocols of any version and of several durations, spike for spike as the CPU', async () => {
    const protocols = [v1(1), open(given([0, 1, 2, 3, 4, 5], [10, 60, 110, 160, 210])), v1(2, 100), v1(3)];
    const trials = await batches.simulate(protocols);
    const simulated = trials.filter((trial) => trial !== undefined);
    // Some may lack a certificate.
    expect(simulated.length).toBeGreaterThan(1);
    expect(trials[2] ?? trials[0]).toBeDefined();
    trials.forEach((trial, i) => {
      if (trial !== undefined) expect(trial).toEqual(trialOnCpu(protocols[i]!));
    });
  }, 120_000);

  it('simulates silenced neurons, budgets and inputs that meet in a step', async () => {
    const protocol = v1(1);
    const protocols: Protocol[] = [
      { ...protocol, silenced: Uint32Array.of(1, 2, 3) },
      { ...protocol, eventBudget: 100 },
      open(given([0, 1], [10, 20]), given([1, 2], [20, 30])),
      open(),
    ];
    const trials = await batches.simulate(protocols);
    const expected = protocols.map(trialOnCpu);
    expect(expected[1]!.stoppedAtStep).toBeLessThan(499);
    expect(trials.filter((trial) => trial !== undefined).length).toBeGreaterThan(1);
    trials.forEach((trial, i) => {
      if (trial !== undefined) expect(trial).toEqual(expected[i]);
    });
  }, 120_000);
});
