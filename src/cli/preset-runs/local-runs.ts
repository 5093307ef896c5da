import { SIDES, type Connectome } from '../../connectome/connectome.js';
import type { Experiment, View } from '../../answers/v1/experiment.js';
import { labelOfType } from '../../answers/v1/readout.js';
import { ExperimentRunner } from '../../answers/v1/run-body.js';
import type { SimulationEngine } from '../../engine/simulation.js';
import { compiledDrawing } from '../../experiment/compiled-drawing.js';
import { compileDrawingKernel } from '../../pool/kernel-file.js';
import type { RunSource, ModelSummary, NeuronLabels } from './source.js';

/** Runs experiments in this process. */
export class LocalRuns implements RunSource {
  readonly #runner: ExperimentRunner;

  /** @param silenced neurons whose outputs are cut */
  constructor(
    private readonly connectome: Connectome,
    engine: SimulationEngine,
    silenced?: Uint32Array,
  ) {
    this.#runner = new ExperimentRunner(connectome, engine, {
      draw: compiledDrawing(compileDrawingKernel()),
      ...(silenced && { silenced }),
    });
  }

  model(): Promise<ModelSummary> {
    const { name, channels } = this.connectome.metadata;
    return Promise.resolve({ name, kindOf: (channel) => channels.find(({ id }) => id === channel)?.kind });
  }

  run(experiment: Experiment, view: View): Promise<Uint8Array> {
    const inputEvents = this.#runner.inputEventsOf(experiment);
    const raster = this.#runner.simulate(experiment, inputEvents);
    return Promise.resolve(this.#runner.body(experiment, view, inputEvents, raster));
  }

  labels(): Promise<NeuronLabels> {
    const { connectome } = this;
    const typeOf = (i: number) => connectome.metadata.types[connectome.typeIndices[i]!]!;
    return Promise.resolve({
      id: (i) => connectome.neuronId(i),
      type: (i) => typeOf(i).name,
      typeLabel: (i) => labelOfType(typeOf(i)),
      side: (i) => SIDES[connectome.sides[i]!]!,
    });
  }
}
