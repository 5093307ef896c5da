/** Estimates the work of drawing trains of input events, both for a document and for the task of a trial. */
import {
  STEPS_PER_SECOND,
  MAX_SEGMENT_STEPS,
  MAX_WHOLE_TRIAL_STEPS,
  type RateTable,
} from '../../engine/stimulus/protocol.js';
import { rateTotals, type RateTotals, sumUpTo } from '../../engine/stimulus/rate-table.js';
import { epochsIn } from '../../engine/stimulus/trains.js';

/** So many background trains, which are drawn together, take as long as one other train. */
const BACKGROUND_TRAINS_OF_TRAIN = 40;

/** Mean work of one input in one trial, in the units of plan/prices.ts. */
export interface TrainWork {
  readonly trains: number;
  readonly inputEvents: number;
  /** Events that are drawn and then dropped: those before the window, and those above the rate. */
  readonly hiddenEvents?: number;
  /** Hidden events that are added if the trial is simulated in segments. */
  readonly redrawnEvents?: number;
  /** Events in the network, if the input is known to cause many. */
  readonly synapticEvents?: number;
}

/** The steps of an input's window, and the step from which the engine draws to find its events. */
export interface DrawnWindow {
  readonly drawnFrom: number;
  readonly startStep: number;
  /** The first step after the window. */
  readonly endStep: number;
}

/** A window whose events are drawn from the start of its epoch, because no cursor points into it. */
export function windowOfEpoch(startStep: number, endStep: number): DrawnWindow {
  const [epoch] = epochsIn(startStep, Math.min(endStep, startStep + 1));
  return { drawnFrom: epoch?.startStep ?? startStep, startStep, endStep };
}

/** Number of trains to charge: for each neuron one, and one more for each second. */
export function trainsOf(neurons: number, windowSteps: number): number {
  return neurons * (1 + windowSteps / STEPS_PER_SECOND);
}

/** Work of trains with one constant rate. */
export function steadyWork(
  neurons: number,
  rateHz: number,
  { drawnFrom, startStep, endStep }: DrawnWindow,
): TrainWork {
  return {
    trains: trainsOf(neurons, endStep - startStep),
    inputEvents: (neurons * rateHz * (endStep - startStep)) / STEPS_PER_SECOND,
    hiddenEvents: (neurons * rateHz * (startStep - drawnFrom)) / STEPS_PER_SECOND,
  };
}

export function backgroundWork(neurons: number, rateHz: number, window: DrawnWindow): TrainWork {
  const work = steadyWork(neurons, rateHz, window);
  return { ...work, trains: work.trains / BACKGROUND_TRAINS_OF_TRAIN };
}

/** Background has no cursors, so every segment that begins in a window of the first epoch draws that epoch from its start. */
export function redrawnEvents(neurons: number, rateHz: number, startStep: number, endStep: number): number {
  let steps = 0;
  const first = (Math.floor(startStep / MAX_SEGMENT_STEPS) + 1) * MAX_SEGMENT_STEPS;
  for (let at = first; at < Math.min(endStep, MAX_WHOLE_TRIAL_STEPS); at += MAX_SEGMENT_STEPS) steps += at;
  return (neurons * rateHz * steps) / STEPS_PER_SECOND;
}

/**
 * Work of trains whose rates differ or change. The engine draws each at its highest rate and drops events.
 * @param times number of copies of the work  @param scale multiplies the rates
 */
export function varyingWork(
  totals: RateTotals,
  { drawnFrom, startStep, endStep }: DrawnWindow,
  times = 1,
  scale = 1,
): TrainWork {
  const { neurons, drawnHz } = totals;
  const inputEvents =
    (times * scale * (sumUpTo(totals, endStep) - sumUpTo(totals, startStep))) / STEPS_PER_SECOND;
  const drawn = (times * scale * drawnHz * (endStep - drawnFrom)) / STEPS_PER_SECOND;
  const hiddenEvents = Math.max(0, drawn - inputEvents);
  return { trains: times * trainsOf(neurons, endStep - startStep), inputEvents, hiddenEvents };
}

/** Totals by the array of rates of a table. Conditions of a sweep and steps of a session share that array. */
const KNOWN_TOTALS = new WeakMap<
  Float64Array,
  Pick<RateTable, 'courses'> & { readonly totals: RateTotals }
>();

/** Totals over the neurons of a table, or of one neuron if all have the same rates. */
export function totalsOf(table: RateTable): RateTotals {
  const { courses, ratesHz } = table;
  const known = KNOWN_TOTALS.get(ratesHz);
  if (known !== undefined && known.courses === courses) return known.totals;
  const counts = new Uint32Array(table.starts.length - 1);
  if (courses === undefined) counts[0] = 1;
  else for (const course of courses) counts[course]!++;
  const totals = rateTotals(table, counts);
  KNOWN_TOTALS.set(ratesHz, { ...(courses && { courses }), totals });
  return totals;
}
