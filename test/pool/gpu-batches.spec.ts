/** Protocols on a GPU: what it takes and what it leaves to the CPU. */
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

function rasterOnCpu(protocol: Protocol) {
  const { steps, neurons } = cpu.simulate(drawInputEvents(protocol, neuronId), protocol);
  return { steps, neurons };
}

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
    const rasters = await batches.simulate(protocols);
    const simulated = rasters.filter((raster) => raster !== undefined);
    // Some may lack a certificate.
    expect(simulated.length).toBeGreaterThan(1);
    expect(rasters[2] ?? rasters[0]).toBeDefined();
    rasters.forEach((raster, i) => {
      if (raster !== undefined) expect(raster).toEqual(rasterOnCpu(protocols[i]!));
    });
  }, 120_000);

  it('leaves to the CPU what its kernels do not know', async () => {
    const protocol = v1(1);
    const rasters = await batches.simulate([
      { ...protocol, silenced: Uint32Array.of(1) },
      { ...protocol, eventBudget: 1e6 },
      open(given([0, 1], [10, 20]), given([1, 2], [20, 30])),
      protocol,
    ]);
    expect(rasters.map((raster) => raster !== undefined)).toEqual([false, false, false, true]);
  }, 120_000);
});
