import { existsSync } from 'node:fs';
import { nearestNames } from '../compiler/nearest-names.js';
import { SIDES, type Connectome } from '../connectome/connectome.js';
import { readConnectomeFile } from '../connectome/connectome-file.js';
import { openConnectome } from '../connectome/format.js';
import { wildcard } from '../connectome/wildcard.js';
import type { Experiment } from '../engine/experiment.js';
import { labelOfType } from '../engine/readout.js';
import { ExperimentRunner, type View } from '../engine/run-body.js';
import type { SimulationEngine } from '../engine/simulation.js';
import { CodedError, shown } from '../errors.js';
import { compiledDrawing } from '../experiment/compiled-drawing.js';
import { compileDrawingKernel } from '../pool/kernel-file.js';
import type { ExperimentSource, NeuronLabels } from './experiment-source.js';

/** Runs experiments in this process. */
export class LocalExperiments implements ExperimentSource {
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

  modelName(): Promise<string> {
    return Promise.resolve(this.connectome.metadata.name);
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
 * The neurons of all types that match one of the patterns.
 * @throws CodedError INVALID_PARAMETER for a pattern that matches no type, with near matches by name
 */
export function neuronsOfTypes(connectome: Connectome, patterns: readonly string[]): Uint32Array {
  const { types } = connectome.metadata;
  const isChosen = new Uint8Array(types.length);
  for (const pattern of patterns) {
    const matches = wildcard(pattern);
    const found = types.flatMap(({ name }, type) => (name !== '' && matches.test(name) ? [type] : []));
    if (found.length === 0) {
      const near = nearestNames(
        pattern,
        types.map(({ name }) => name),
      );
      throw new CodedError(
        'INVALID_PARAMETER',
        `No neuron has the type ${shown(pattern)}` +
          (near.length === 0 ? '.' : `; near matches: ${near.join(', ')}.`),
      );
    }
    for (const type of found) isChosen[type] = 1;
  }
  const neurons: number[] = [];
  connectome.typeIndices.forEach((type, i) => {
    if (isChosen[type] === 1) neurons.push(i);
  });
  return Uint32Array.from(neurons);
}
