import type { GivenTrain, Input, Protocol, Train } from './protocol.js';
import { stepsOf } from './thinned-train.js';
import { poissonTrain, v1Train, type LayeredTrain } from './trains.js';

/** What the trains of a protocol come to: the events that its neurons get. */
export interface InputEvents {
  /** Every neuron of any input, each once, also those without an event: their refractory period is 0. */
  readonly stimulated: Uint32Array;
  /** Step at whose end each event is added to v, ascending. */
  readonly steps: Uint16Array;
  /** Its neuron, one of the stimulated; ascending within a step. A pair stands twice where two inputs meet. */
  readonly neurons: Uint32Array;
}

/** @param neuronId the connectome's; asked for the neurons of trains of the kind poisson alone */
export type DrawInputEvents = (
  protocol: Pick<Protocol, 'inputs' | 'durationSteps'>,
  neuronId: (neuron: number) => string,
) => InputEvents;

/** Draws a protocol, written to be read; compiled-drawing.ts does the same, faster. */
export const drawInputEvents: DrawInputEvents = ({ inputs, durationSteps }, neuronId) => {
  const neuronsOfStep = new Map<number, number[]>();
  let count = 0;
  for (const { neurons: stimulated, train } of inputs) {
    const stepsFor = trainOf(train, durationSteps, neuronId);
    stimulated.forEach((neuron, place) => {
      for (const step of stepsFor(neuron, place)) {
        const neurons = neuronsOfStep.get(step);
        if (neurons === undefined) neuronsOfStep.set(step, [neuron]);
        else neurons.push(neuron);
        count++;
      }
    });
  }
  const events = {
    stimulated: stimulatedBy(inputs),
    steps: new Uint16Array(count),
    neurons: new Uint32Array(count),
  };
  let at = 0;
  for (const step of Uint16Array.from(neuronsOfStep.keys()).sort()) {
    const neurons = Uint32Array.from(neuronsOfStep.get(step)!).sort();
    events.steps.fill(step, at, at + neurons.length);
    events.neurons.set(neurons, at);
    at += neurons.length;
  }
  return events;
};

/** @returns the steps at which a neuron gets an event, none twice, for the neuron and its place in the input */
function trainOf(
  train: Train,
  durationSteps: number,
  neuronId: (neuron: number) => string,
): (neuron: number, place: number) => Iterable<number> {
  if (train.kind === 'spikes') {
    return (_, place) => givenSteps(train, place).filter((step) => step < durationSteps);
  }
  const { layers, startStep, endStep, streamOf } = layeredTrain(train);
  const end = Math.min(durationSteps, endStep);
  return (neuron, place) => {
    const stream = streamOf(place, () => neuronId(neuron));
    const steps = layers.flatMap((layer) => stepsOf(layer, stream, end));
    return new Set(steps.filter((step) => step >= startStep));
  };
}

export function layeredTrain(train: Exclude<Train, GivenTrain>): LayeredTrain {
  return train.kind === 'v1' ? v1Train(train) : poissonTrain(train);
}

export function givenSteps({ steps }: GivenTrain, place: number): Uint16Array {
  return steps instanceof Uint16Array ? steps : steps[place]!;
}

/** The neurons of all inputs, each once; those of several inputs ascend. */
export function stimulatedBy(inputs: readonly Input[]): Uint32Array {
  if (inputs.length === 1) return inputs[0]!.neurons;
  return Uint32Array.from(new Set(inputs.flatMap(({ neurons }) => [...neurons]))).sort();
}
