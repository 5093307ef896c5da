import type { Connectome } from '../../connectome/connectome.js';
import { requestGpuAdapter } from '../../engine/backends/gpu/adapter.js';
import { GpuEngine } from '../../engine/backends/gpu/gpu-engine.js';
import type { SimulationEngine, Trial } from '../../engine/simulation.js';
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
    const { name, largestArrayBytes, largestBufferBytes } = await requestGpuAdapter({ allowSoftware });
    const engine = new GpuEngine(connectome, { mode: 'webgpu', largestArrayBytes, largestBufferBytes });
    const batches = new GpuBatches({ adapter: name, widths: engine.room.widths }, engine, options);
    await batches.#check(checks);
    return batches;
  }

  async simulate(protocols: readonly Protocol[]): Promise<BatchResult> {
    const trials = protocols.map((options) => ({ events: this.#draw(options), options }));
    const runs = await this.engine.simulateBatch(trials);
    return runs.map((run) => (run?.certified === true ? run.trial : undefined));
  }

  #draw(protocol: Protocol): InputEvents {
    const { draw, connectome } = this.options;
    return draw(protocol, (i) => connectome.neuronId(i));
  }

  async #check(protocols: readonly Protocol[]): Promise<void> {
    for (const protocol of protocols) {
      const [trial] = await this.simulate([protocol]);
      if (trial === undefined) continue;
      const expected = this.options.cpu.simulate(this.#draw(protocol), protocol);
      if (areEqual(trial, expected)) return;
      throw new CodedError(
        'GPU_UNAVAILABLE',
        `${this.description.adapter} computes ${trial.steps.length} spikes where the CPU computes ${expected.steps.length}; it is not used.`,
      );
    }
    throw new CodedError(
      'GPU_UNAVAILABLE',
      `None of ${protocols.length} runs on ${this.description.adapter} was certified; it is not used.`,
    );
  }
}

/** Spikes, synaptic events and the step in which the budget ended the trial. */
function areEqual(a: Trial, b: Trial): boolean {
  return (
    a.deliveredEvents === b.deliveredEvents &&
    a.stoppedAtStep === b.stoppedAtStep &&
    a.steps.length === b.steps.length &&
    a.steps.every((step, spike) => step === b.steps[spike]) &&
    a.neurons.every((neuron, spike) => neuron === b.neurons[spike])
  );
}
