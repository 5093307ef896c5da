import type { Connectome } from '../../connectome/connectome.js';
import { requestGpuAdapter } from '../../engine/backends/gpu/adapter.js';
import { GpuEngine } from '../../engine/backends/gpu/gpu-engine.js';
import type { SimulationEngine, SpikeRaster } from '../../engine/simulation.js';
import { CodedError } from '../../errors.js';
import type { DrawInputEvents, InputEvents } from '../../experiment/input-events.js';
import type { Protocol } from '../../experiment/protocol.js';
import type { BatchResult, GpuDescription } from '../task.js';

export interface GpuBatchesOptions {
  readonly connectome: Connectome;
  readonly draw: DrawInputEvents;
  /** Of the same connectome: what the GPU is compared with. */
  readonly cpu: SimulationEngine;
  /** Tried in turn until one has a certificate and can be compared. */
  readonly checks: readonly Protocol[];
  readonly allowSoftware: boolean;
}

/** The GPU of a worker: takes protocols and returns the rasters that are certified. */
export class GpuBatches {
  private constructor(
    readonly description: GpuDescription,
    private readonly engine: GpuEngine,
    private readonly options: GpuBatchesOptions,
  ) {}

  /**
   * Opens the adapter and compares a trial on this very connectome with the CPU's, spike by spike.
   * @throws CodedError GPU_UNAVAILABLE when there is no adapter to be used, or it computes something else
   */
  static async open(options: GpuBatchesOptions): Promise<GpuBatches> {
    const { connectome, checks, allowSoftware } = options;
    const { name, largestArrayBytes } = await requestGpuAdapter({ allowSoftware });
    const engine = new GpuEngine(connectome, { mode: 'webgpu', largestArrayBytes });
    const batches = new GpuBatches({ adapter: name, widths: engine.widths }, engine, options);
    await batches.#check(checks);
    return batches;
  }

  async simulate(protocols: readonly Protocol[]): Promise<BatchResult> {
    const results = new Array<BatchResult[number]>(protocols.length).fill(undefined);
    const events = protocols.map((protocol) => this.#draw(protocol));
    const places = [...protocols.keys()].filter((i) => isForGpu(protocols[i]!, events[i]!));
    for (const durationSteps of new Set(places.map((i) => protocols[i]!.durationSteps))) {
      const batch = places.filter((i) => protocols[i]!.durationSteps === durationSteps);
      const runs = await this.engine.simulateBatch(
        batch.map((i) => events[i]!),
        durationSteps,
      );
      runs.forEach(({ raster, certified }, i) => (results[batch[i]!] = certified ? raster : undefined));
    }
    return results;
  }

  #draw(protocol: Protocol): InputEvents {
    const { draw, connectome } = this.options;
    return draw(protocol, (i) => connectome.neuronId(i));
  }

  async #check(protocols: readonly Protocol[]): Promise<void> {
    for (const protocol of protocols) {
      const [raster] = await this.simulate([protocol]);
      if (raster === undefined) continue;
      const expected = this.options.cpu.simulate(this.#draw(protocol), protocol);
      if (areEqual(raster, expected)) return;
      throw new CodedError(
        'GPU_UNAVAILABLE',
        `${this.description.adapter} computes ${raster.steps.length} spikes where the CPU computes ${expected.steps.length}; it is not used.`,
      );
    }
    throw new CodedError(
      'GPU_UNAVAILABLE',
      `None of ${protocols.length} runs on ${this.description.adapter} was certified; it is not used.`,
    );
  }
}

/** The GPU's kernels know no silenced neurons, count no synaptic events and take one input event a neuron and step. */
function isForGpu({ silenced, eventBudget }: Protocol, { steps, neurons }: InputEvents): boolean {
  const isRepeated = (at: number) => steps[at] === steps[at + 1] && neurons[at] === neurons[at + 1];
  return silenced.length === 0 && eventBudget === undefined && !steps.some((_, at) => isRepeated(at));
}

function areEqual(a: SpikeRaster, b: SpikeRaster): boolean {
  return (
    a.steps.length === b.steps.length &&
    a.steps.every((step, spike) => step === b.steps[spike]) &&
    a.neurons.every((neuron, spike) => neuron === b.neurons[spike])
  );
}
