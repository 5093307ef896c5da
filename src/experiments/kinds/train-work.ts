/** Work of drawing trains of events, before a trial has run: of what a document says, and of the trains of a trial alike. */
import { STEPS_PER_MS, type RateTable } from '../../stimulus/protocol.js';
import { drawnRateHz, rateSums } from '../../stimulus/rate-table.js';

const STEPS_PER_SECOND = 1000 * STEPS_PER_MS;
/** As many events that are drawn and not kept take as long as a train. */
const HIDDEN_EVENTS_OF_TRAIN = 20;
/** As many trains of background, which are drawn together, take as long as a train that is drawn alone. */
const BACKGROUND_TRAINS_OF_TRAIN = 40;

/** Amounts of work of one input in one trial, on average, as prices.ts counts them. */
export interface TrainWork {
  readonly trains: number;
  readonly inputEvents: number;
  /** Those of the network, where the input alone says that there will be many. */
  readonly synapticEvents?: number;
}

/** Trains of events: one for each neuron, and one more for each second. */
export function trainsOf(neurons: number, windowSteps: number): number {
  return neurons * (1 + windowSteps / STEPS_PER_SECOND);
}

/** Work of trains of one rate. */
export function steadyWork(neurons: number, rateHz: number, windowSteps: number): TrainWork {
  return {
    trains: trainsOf(neurons, windowSteps),
    inputEvents: (neurons * rateHz * windowSteps) / STEPS_PER_SECOND,
  };
}

export function backgroundWork(neurons: number, rateHz: number, windowSteps: number): TrainWork {
  const { trains, inputEvents } = steadyWork(neurons, rateHz, windowSteps);
  return { trains: trains / BACKGROUND_TRAINS_OF_TRAIN, inputEvents };
}

/**
 * Work of trains whose rates differ or change. They are drawn at their highest rate from the start of the trial, however
 * few events stay.
 * @param counts neurons that have each course
 * @returns a function of the window, of how often all of it is done, and of what multiplies the rates
 */
export function varyingWork(
  table: RateTable,
  counts: ArrayLike<number>,
): (startStep: number, endStep: number, times?: number, scale?: number) => TrainWork {
  const sumUpTo = rateSums(table, counts);
  const drawnHz = drawnRateHz(table, counts);
  const neurons = Array.from(counts).reduce((sum, count) => sum + count, 0);
  return (startStep, endStep, times = 1, scale = 1) => {
    const inputEvents = (times * scale * (sumUpTo(endStep) - sumUpTo(startStep))) / STEPS_PER_SECOND;
    const drawn = (times * scale * drawnHz * endStep) / STEPS_PER_SECOND;
    const hidden = Math.max(0, drawn - inputEvents) / HIDDEN_EVENTS_OF_TRAIN;
    return { trains: times * trainsOf(neurons, endStep - startStep) + hidden, inputEvents };
  };
}
