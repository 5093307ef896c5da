import type { BackgroundTrain, GivenTrain, Input, Protocol, Train } from './protocol.js';
import { intervalOf, WORD_RANGE } from './intervals.js';
import { philox4x32 } from './philox.js';
import { courseOf, type RateCourse } from './rate-table.js';
import {
  backgroundTrain,
  type Epoch,
  epochsIn,
  firstBlockOf,
  idWordsOf,
  type Layer,
  type LayeredTrain,
  poissonTrain,
  shareOf,
  type Stream,
  v1Train,
} from './trains.js';

/**
 * Where the layers of trains stand behind a part: of each its epoch, counted from 1, its last block, which the next part
 * draws again, and the step before that, counted from the start of the epoch. Nothing is lost with them but the time to
 * draw an epoch again.
 */
export type TrainCursors = Uint32Array;

/** The events that the trains of a protocol give to its neurons. */
export interface InputEvents {
  /** Every neuron of any input, each once, also those without an event: their refractory period is 0. */
  readonly stimulated: Uint32Array;
  /** Step at whose end each event is added to v, ascending. */
  readonly steps: Uint16Array;
  /** Its neuron, one of the stimulated; ascending within a step. A pair stands twice where two inputs meet. */
  readonly neurons: Uint32Array;
  /** Events of an input of background, which are added after the others of a step. */
  readonly background?: BackgroundEvents;
}

/** Events of neurons that keep their refractory period, unless another input stimulates them too. */
export interface BackgroundEvents {
  /** As those of InputEvents. */
  readonly steps: Uint16Array;
  /** As those of InputEvents, each once in a step. */
  readonly neurons: Uint32Array;
  /** Added to v by one event. */
  readonly eventMv: number;
}

/** A trial, or a part of one: its duration is that of the part, and the steps of its events count from its first one. */
export type DrawnProtocol = Pick<Protocol, 'inputs' | 'durationSteps'> & { readonly startStep?: number };

/**
 * @param neuronId the connectome's; asked for neurons with trains of the kinds poisson and background
 * @param cursors of trains that are drawn part by part, to be handed on from each to the next: they change no event
 */
export type DrawInputEvents = (
  protocol: DrawnProtocol,
  neuronId: (neuron: number) => string,
  cursors?: TrainCursors,
) => InputEvents;

/** Draws a protocol, written to be read; compiled-drawing.ts does the same, faster. */
export const drawInputEvents: DrawInputEvents = ({ inputs: all, durationSteps, startStep = 0 }, neuronId) => {
  const { inputs, background } = partedInputs(all);
  const part = { startStep, endStep: startStep + durationSteps };
  return {
    stimulated: stimulatedBy(inputs),
    ...eventsOf(inputs, part, neuronId),
    ...(background && {
      background: {
        ...eventsOf([background], part, neuronId),
        eventMv: background.train.eventMv,
      },
    }),
  };
};

/** Steps from startStep up to, not including, endStep. */
export interface Part {
  readonly startStep: number;
  readonly endStep: number;
}

function eventsOf(
  inputs: readonly Input[],
  part: Part,
  neuronId: (neuron: number) => string,
): Pick<InputEvents, 'steps' | 'neurons'> {
  const drawn: (readonly [step: number, neuron: number])[] = [];
  for (const { neurons, train } of inputs) {
    const stepsFor = trainOf(train, part, neuronId);
    neurons.forEach((neuron, index) => {
      for (const step of stepsFor(neuron, index)) drawn.push([step - part.startStep, neuron]);
    });
  }
  drawn.sort(([step, neuron], [otherStep, other]) => step - otherStep || neuron - other);
  return {
    steps: Uint16Array.from(drawn, ([step]) => step),
    neurons: Uint32Array.from(drawn, ([, neuron]) => neuron),
  };
}

/** @returns the steps at which a neuron gets an event, none twice, for the neuron and its index in the input */
function trainOf(
  train: Train,
  part: Part,
  neuronId: (neuron: number) => string,
): (neuron: number, index: number) => Iterable<number> {
  if (train.kind === 'spikes') {
    return (_, index) =>
      givenSteps(train, index).filter((step) => step >= part.startStep && step < part.endStep);
  }
  const { layers, rateHz, startStep, endStep, streamOf } = layeredTrain(train);
  const start = Math.max(part.startStep, startStep);
  const end = Math.min(part.endStep, endStep);
  return (neuron, index) => {
    const stream = streamOf(index, () => idWordsOf(neuronId(neuron)));
    const course = courseOf(rateHz, index);
    const steps = epochsIn(start, end).flatMap((epoch) =>
      layers.flatMap((layer) => stepsOf(layer, course, stream, epoch)),
    );
    return new Set(steps.filter((step) => step >= start && step < end));
  };
}

/**
 * Draws intervals, so the cost grows with the number of events, not of steps. Each event has a number of its own
 * and stays if that is below the share of the layer at the rate of its step: a higher rate only adds events, and a
 * longer trial begins with the shorter one. A block has four words: an interval, the event's number, and the same once
 * more.
 * @returns the steps of the epoch in which events stay, ascending
 */
function stepsOf(
  layer: Layer,
  { steps: changes, ratesHz }: RateCourse,
  { counter: [c1, c2, c3], key: [k0, k1] }: Stream,
  epoch: Epoch,
): number[] {
  const keepBelow = ratesHz.map((rateHz) => shareOf(layer, rateHz) * WORD_RANGE);
  const steps: number[] = [];
  if (keepBelow.every((limit) => limit <= 0)) return steps;
  const words = new Uint32Array(4);
  const { endStep } = epoch;
  let step = epoch.startStep - 1;
  let place = 0;
  for (let block = firstBlockOf(layer, epoch); step < endStep; block++) {
    philox4x32(words, block, c1, c2, c3, k0, k1);
    for (let half = 0; half < 4; half += 2) {
      step += intervalOf(words[half]!, layer.intervals);
      while (changes[place + 1]! <= step) place++;
      if (step < endStep && words[half + 1]! < keepBelow[place]!) steps.push(step);
    }
  }
  return steps;
}

export function layeredTrain(train: Exclude<Train, GivenTrain>): LayeredTrain {
  switch (train.kind) {
    case 'v1':
      return v1Train(train);
    case 'poisson':
      return poissonTrain(train);
    case 'background':
      return backgroundTrain(train);
  }
}

export function givenSteps({ steps }: GivenTrain, index: number): Uint32Array {
  return ArrayBuffer.isView(steps) ? steps : steps[index]!;
}

/** Tells apart the input of background, whose events are a list of their own. */
export function partedInputs(all: readonly Input[]): {
  readonly inputs: readonly Input[];
  readonly background: (Input & { readonly train: BackgroundTrain }) | undefined;
} {
  const isBackground = (input: Input) => input.train.kind === 'background';
  return {
    inputs: all.filter((input) => !isBackground(input)),
    background: all.find(isBackground) as ReturnType<typeof partedInputs>['background'],
  };
}

/** The neurons of all inputs, each once; those of several inputs ascend. */
export function stimulatedBy(inputs: readonly Input[]): Uint32Array {
  if (inputs.length === 1) return inputs[0]!.neurons;
  return Uint32Array.from(new Set(inputs.flatMap(({ neurons }) => [...neurons]))).sort();
}
