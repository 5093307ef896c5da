import type { BackgroundTrain, GivenTrain, Input, Protocol, Train } from './protocol.js';
import { intervalOf, WORD_RANGE } from './intervals.js';
import { philox4x32 } from './philox.js';
import { courseOf, type RateCourse } from './rate-table.js';
import {
  type Epoch,
  epochsIn,
  firstBlockOf,
  idWordsOf,
  type Layer,
  layeredTrain,
  POISSON_LAYERS,
  shareOf,
  type Stream,
} from './trains.js';

/**
 * The cursors at the end of a segment (trains.ts), three words for each layer of each train:
 * - its epoch, counted from 1; 0 is an unused cursor;
 * - the last block drawn, which the next segment draws again;
 * - the step before that block, counted from the start of the epoch.
 * Trains lie input by input.
 *
 * If cursors are lost, the next segment draws its epoch from the start, with the same result.
 */
export type TrainCursors = Uint32Array;

/** The events that a protocol's trains give to its neurons. */
export interface InputEvents {
  /** Every neuron of any input, once, with or without an event: its refractory period is 0. */
  readonly stimulated: Uint32Array;
  /** The step of each event, ascending. The event is added to v at the end of that step. */
  readonly steps: Uint16Array;
  /** The neuron of each event, ascending within a step. A pair is repeated if two inputs have an event in one step. */
  readonly neurons: Uint32Array;
  /** The events of a background input, which are added after the other events of their step. */
  readonly background?: BackgroundEvents;
}

/** Events of neurons that keep their refractory period, unless another input stimulates them too. */
export interface BackgroundEvents {
  /** As InputEvents.steps. */
  readonly steps: Uint16Array;
  /** As InputEvents.neurons, but without repeated pairs. */
  readonly neurons: Uint32Array;
  /** Added to v by one event, in mV. */
  readonly eventMv: number;
}

/** A trial, or a segment of one. Then the duration is the segment's, and steps of events count from its first step. */
export type DrawnProtocol = Pick<Protocol, 'inputs' | 'durationSteps'> & { readonly startStep?: number };

/**
 * @param neuronId the connectome's function; called for neurons with a poisson or background train
 * @param cursors updated in place; pass them on to the next segment. They change no event
 */
export type DrawInputEvents = (
  protocol: DrawnProtocol,
  neuronId: (neuron: number) => string,
  cursors?: TrainCursors,
) => InputEvents;

/** Draws the events of a protocol, written to be read. compiled-drawing.ts does the same faster. */
export const drawInputEvents: DrawInputEvents = ({ inputs: all, durationSteps, startStep = 0 }, neuronId) => {
  const { inputs, background } = splitInputs(all);
  const segment = { startStep, endStep: startStep + durationSteps };
  return {
    stimulated: stimulatedBy(inputs),
    ...eventsOf(inputs, segment, neuronId),
    ...(background && {
      background: {
        ...eventsOf([background], segment, neuronId),
        eventMv: background.train.eventMv,
      },
    }),
  };
};

/** The steps from startStep to endStep - 1 of a trial. */
export interface Segment {
  readonly startStep: number;
  readonly endStep: number;
}

function eventsOf(
  inputs: readonly Input[],
  segment: Segment,
  neuronId: (neuron: number) => string,
): Pick<InputEvents, 'steps' | 'neurons'> {
  const drawn: (readonly [step: number, neuron: number])[] = [];
  for (const { neurons, train } of inputs) {
    const stepsFor = trainOf(train, segment, neuronId);
    neurons.forEach((neuron, index) => {
      for (const step of stepsFor(neuron, index)) drawn.push([step - segment.startStep, neuron]);
    });
  }
  drawn.sort(([step, neuron], [otherStep, other]) => step - otherStep || neuron - other);
  return {
    steps: Uint16Array.from(drawn, ([step]) => step),
    neurons: Uint32Array.from(drawn, ([, neuron]) => neuron),
  };
}

/** @returns a function from a neuron and its position in the input to the distinct steps of its events */
function trainOf(
  train: Train,
  segment: Segment,
  neuronId: (neuron: number) => string,
): (neuron: number, index: number) => Iterable<number> {
  if (train.kind === 'spikes') {
    return (_, index) =>
      givenSteps(train, index).filter((step) => step >= segment.startStep && step < segment.endStep);
  }
  const { layers, rateHz, startStep, endStep, streamOf } = layeredTrain(train);
  const start = Math.max(segment.startStep, startStep);
  const end = Math.min(segment.endStep, endStep);
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
 * Draws a layer in one epoch. A block has four words, two for each of two events: the interval to the event, and its
 * random number. The event stays if that number is below the layer's share at the rate of its step.
 * @returns the steps of the events that stay, ascending
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
  let position = 0;
  for (let block = firstBlockOf(layer, epoch); step < endStep; block++) {
    philox4x32(words, block, c1, c2, c3, k0, k1);
    for (let half = 0; half < 4; half += 2) {
      step += intervalOf(words[half]!, layer.intervals);
      while (changes[position + 1]! <= step) position++;
      if (step < endStep && words[half + 1]! < keepBelow[position]!) steps.push(step);
    }
  }
  return steps;
}

export function givenSteps({ steps }: GivenTrain, index: number): Uint32Array {
  return ArrayBuffer.isView(steps) ? steps : steps[index]!;
}

/** Separates the background input from the others, because its events have a list of their own. */
export function splitInputs(all: readonly Input[]): {
  readonly inputs: readonly Input[];
  readonly background: (Input & { readonly train: BackgroundTrain }) | undefined;
} {
  const isBackground = (input: Input) => input.train.kind === 'background';
  return {
    inputs: all.filter((input) => !isBackground(input)),
    background: all.find(isBackground) as ReturnType<typeof splitInputs>['background'],
  };
}

/** The neurons of all inputs, each once; ascending if there are several inputs. */
export function stimulatedBy(inputs: readonly Input[]): Uint32Array {
  if (inputs.length === 1) return inputs[0]!.neurons;
  return Uint32Array.from(new Set(inputs.flatMap(({ neurons }) => [...neurons]))).sort();
}

/** A step and a neuron, below 2^18, are one exact double. */
const STEP_STRIDE = 2 ** 18;

/** The events of a protocol from those of its inputs, each drawn by itself. */
export function joinedEvents(inputs: readonly Input[], parts: readonly InputEvents[]): InputEvents {
  if (parts.length === 1) return parts[0]!;
  const background = parts.find((part) => part.background !== undefined)?.background;
  const count = parts.reduce((sum, each) => sum + each.steps.length, 0);
  const keys = new Float64Array(count);
  let at = 0;
  for (const part of parts) {
    for (let event = 0; event < part.steps.length; event++) {
      keys[at++] = part.steps[event]! * STEP_STRIDE + part.neurons[event]!;
    }
  }
  keys.sort();
  const [steps, neurons] = [new Uint16Array(count), new Uint32Array(count)];
  for (let event = 0; event < count; event++) {
    steps[event] = keys[event]! / STEP_STRIDE;
    neurons[event] = keys[event]! - steps[event]! * STEP_STRIDE;
  }
  const stimulated = stimulatedBy(splitInputs(inputs).inputs);
  return { stimulated, steps, neurons, ...(background && { background }) };
}

/** The number of words of one train in TrainCursors. */
export const CURSOR_WORDS = 3 * POISSON_LAYERS;

/** @returns the number of trains with cursors; background trains have none */
export function trainsWithCursors(
  inputs: readonly { readonly neurons: Uint32Array; readonly train: Pick<Train, 'kind'> }[],
): number {
  return inputs.reduce(
    (sum, { neurons, train }) => sum + (train.kind === 'background' ? 0 : neurons.length),
    0,
  );
}

export function cursorBytes(trains: number): number {
  return trains * CURSOR_WORDS * Uint32Array.BYTES_PER_ELEMENT;
}
