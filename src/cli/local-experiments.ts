import { existsSync } from 'node:fs';
import { SIDES, type Connectome } from '../connectome/connectome.js';
import { readConnectomeFile } from '../connectome/connectome-file.js';
import { openConnectome } from '../connectome/format.js';
import { lesioned } from '../connectome/lesion.js';
import { labelledNeurons, NeuronSelection } from '../connectome/selection.js';
import { KernelEngine } from '../engine/backends/cpu/kernel-engine.js';
import type { Experiment } from '../engine/experiment.js';
import { labelOfType } from '../engine/readout.js';
import { ExperimentRunner, type View } from '../engine/run-body.js';
import { CodedError, shown } from '../errors.js';
import { compileKernel } from '../pool/kernel-file.js';
import type { ExperimentSource, NeuronLabels } from './experiment-source.js';

/** Runs experiments in this process. */
export class LocalExperiments implements ExperimentSource {
  readonly #runner: ExperimentRunner;

  constructor(private readonly connectome: Connectome) {
    this.#runner = new ExperimentRunner(connectome, new KernelEngine(compileKernel(), connectome));
  }

  modelName(): Promise<string> {
    return Promise.resolve(this.connectome.metadata.name);
  }

  run(experiment: Experiment, view: View): Promise<Uint8Array> {
    const kicks = this.#runner.kicksOf(experiment);
    const raster = this.#runner.simulate(experiment, kicks);
    return Promise.resolve(this.#runner.body(experiment, view, kicks, raster));
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

/** @throws CodedError CONNECTOME_MISSING, CONNECTOME_INVALID */
export async function readConnectome(path: string): Promise<Connectome> {
  if (!existsSync(path)) {
    throw new CodedError(
      'CONNECTOME_MISSING',
      `There is no connectome file ${path}. npm run up makes the default one, npm run model:compile makes others.`,
    );
  }
  return openConnectome(await readConnectomeFile(path));
}

/**
 * The neurons of all types that match one of the patterns, ascending.
 * @throws CodedError INVALID_PARAMETER for a pattern that matches no type, with near matches by name
 */
export function neuronsOfTypes(connectome: Connectome, patterns: readonly string[]): Uint32Array {
  const selection = new NeuronSelection(labelledNeurons(connectome));
  const chosen = patterns.flatMap((type) => {
    const found = selection.matching({ type });
    if (found.length === 0) {
      const near = selection.nearestLabels('type', type);
      throw new CodedError(
        'INVALID_PARAMETER',
        `No neuron has the type ${shown(type)}` +
          (near.length === 0 ? '.' : `; near matches: ${near.join(', ')}.`),
      );
    }
    return found;
  });
  return Uint32Array.from(new Set(chosen)).sort();
}

/** The connectome without the outputs of all neurons whose type matches one of the patterns. */
export function silenced(connectome: Connectome, patterns: readonly string[]): Connectome {
  return lesioned(connectome, neuronsOfTypes(connectome, patterns));
}
