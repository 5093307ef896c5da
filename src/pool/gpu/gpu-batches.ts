import type { Connectome } from '../../connectome/connectome.js';
import { requestGpuAdapter } from '../../engine/backends/gpu/adapter.js';
import { GpuEngine } from '../../engine/backends/gpu/gpu-engine.js';
import type { Experiment } from '../../answers/v1/experiment.js';
import { FIELDS } from '../../answers/v1/fields.js';
import { STEPS_PER_MS } from '../../engine/network.js';
import { rasterDigest } from '../../answers/v1/readout.js';
import { trialExperiment } from '../../answers/v1/presets.js';
import type { ExperimentRunner } from '../../answers/v1/run-body.js';
import { CodedError } from '../../errors.js';
import type { BatchResult, GpuDescription } from '../task.js';

/** Seeds that are tried until one has a certificate and can be compared. */
const CHECK_SEEDS = [1, 2, 3, 4];
const CHECK_DURATION_MS = FIELDS.duration_ms.allowed[0];

/** The GPU of a worker: takes experiments, gives the rasters that are certified. */
export class GpuBatches {
  private constructor(
    readonly description: GpuDescription,
    private readonly engine: GpuEngine,
    private readonly runner: ExperimentRunner,
  ) {}

  /**
   * Opens the adapter and compares a run on this very connectome with the CPU's, spike by spike.
   * @param runner of the same connectome, with the CPU engine
   * @throws CodedError GPU_UNAVAILABLE when there is no adapter to be used, or it computes something else
   */
  static async open(
    connectome: Connectome,
    runner: ExperimentRunner,
    { allowSoftware }: { readonly allowSoftware: boolean },
  ): Promise<GpuBatches> {
    const { name, largestArrayBytes } = await requestGpuAdapter({ allowSoftware });
    const engine = new GpuEngine(connectome, { mode: 'webgpu', largestArrayBytes });
    const batches = new GpuBatches({ adapter: name, widths: engine.widths }, engine, runner);
    await batches.#check(trialExperiment(connectome.metadata));
    return batches;
  }

  async simulate(experiments: readonly Experiment[]): Promise<BatchResult> {
    const results = new Array<BatchResult[number]>(experiments.length).fill(undefined);
    for (const durationMs of new Set(experiments.map((each) => each.duration_ms))) {
      const places = experiments.flatMap((each, place) => (each.duration_ms === durationMs ? [place] : []));
      const trains = places.map((place) => this.runner.inputEventsOf(experiments[place]!));
      const runs = await this.engine.simulateBatch(trains, durationMs * STEPS_PER_MS);
      runs.forEach(({ raster, certified }, i) => (results[places[i]!] = certified ? raster : undefined));
    }
    return results;
  }

  async #check(trial: Experiment): Promise<void> {
    for (const seed of CHECK_SEEDS) {
      const experiment = { ...trial, duration_ms: CHECK_DURATION_MS, seed };
      const [raster] = await this.simulate([experiment]);
      if (raster === undefined) continue;
      const expected = this.runner.simulate(experiment, this.runner.inputEventsOf(experiment));
      if (rasterDigest(raster) === rasterDigest(expected)) return;
      throw new CodedError(
        'GPU_UNAVAILABLE',
        `${this.description.adapter} computes ${raster.steps.length} spikes where the CPU computes ${expected.steps.length}; it is not used.`,
      );
    }
    throw new CodedError(
      'GPU_UNAVAILABLE',
      `None of ${CHECK_SEEDS.length} runs on ${this.description.adapter} was certified; it is not used.`,
    );
  }
}
