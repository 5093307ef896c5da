/**
 * Simulates the network of network.ts step by step. Only activity takes time: a neuron is visited only when input
 * arrives or when it may spike.
 *
 * Coordinates. Let h = g/3 and u = v + h. Without input, u decays only with the membrane time constant and h only with
 * the synaptic time constant, and v = u - h. Both are stored multiplied by a growth that cancels their decay
 * (factors.ts), so the stored numbers change only when input arrives.
 *
 * Which neurons will spike. The membrane time constant is four times the synaptic one. So without further input
 * v = u x - h x^4 with x = exp(-t / membrane time constant). v rises up to a peak at x^3 = u / 4h, and the peak is
 * above the threshold if u^4 > 4 h (4/3 threshold)^3. As u^4 and h decay alike, this stays true or false while no input
 * arrives. A neuron for which it is false needs no visit before it is excited, because inhibition only lowers v. The
 * formula holds while the peak lies ahead, that is for u < 4h. This is true of every neuron at or below the threshold
 * with u > 4/3 threshold (leastU). With less u, no neuron reaches the threshold.
 *
 * When they can spike. Up to the peak v is concave, so it stays below its tangent. If the tangent does not reach
 * the threshold before the next review, the neuron waits for that review.
 *
 * Invariants at the end of every step:
 *  - Every neuron that can spike in the next step is a candidate. Every other neuron that will spike unless inhibited
 *    is a candidate or is waiting. Both lists may repeat a neuron, and may contain neurons that will not spike.
 *  - A refractory neuron has u = -infinity, so it is no candidate and its input is lost. It returns to rest when its
 *    refractory period is over, before that step delivers anything.
 *  - Spikes are listed by step; within a step, excitatory neurons come before inhibitory ones.
 *
 * Segments. A long trial is simulated in segments. The functions for them have "segment" in their names.
 *
 * Speed. The compiler makes two loops over steps from one text: `run`, and `runVaried`, which also supports scales,
 * overridden connections and background. Checking a flag in one common loop would cost a trial with few spikes 16 %.
 * All functions that a step calls are methods, because only methods can be inlined. One call in each step would cost 1
 * to 3 % of such a trial.
 *
 * Loops process two connections or two neurons at a time, side by side in a vector. So rows have an even number of
 * connections, and the sentinel, a neuron that does not exist, ends lists. Lists are written without branches, because
 * a processor cannot predict the behaviour of a neuron.
 *
 * Same bytes. Sums add the same products in the same order on every machine: WebAssembly neither fuses nor reorders
 * operations.
 */
import { MARGIN, STEPS_BETWEEN_REVIEWS, computeFactors, computePartFactors, shrinkState } from './factors';
import {
  Entry,
  Events,
  Factors,
  Neuron,
  OverrideRow,
  Row,
  Spike,
  StepSpikes,
  Visit,
  backgroundNeurons,
  backgroundSteps,
  candidates,
  eventNeurons,
  eventSteps,
  neuronCount,
  recordedNeurons,
  reserveSpikes,
  samples,
  sentinel,
  spikingNeurons,
  waitingNeurons,
} from './memory';
import { writeRaster } from './raster';
import { allAtRest, leaveRest, markReached, putToRest, restoreReached } from './reached';

/** For the host: functions that it calls, and sections that it fills before a trial or reads afterwards. */
export { growthOfH, growthOfU, setFactors } from './factors';
export {
  backgroundNeurons,
  backgroundSteps,
  candidates,
  connections,
  eventNeurons,
  eventSteps,
  layOutNetwork,
  layOutOverrides,
  layOutTrial,
  overridden,
  overrideRows,
  rasterNeurons,
  rasterSteps,
  reachedNeurons,
  reachedStates,
  recordedNeurons,
  reserveSpikes,
  rows,
  samples,
  spikes,
  stepSpikes,
  waitingNeurons,
} from './memory';
export { listReached, restoreReached } from './reached';

let restMv: f64;
/** The threshold above rest. */
let thresholdMv: f64;
let threshold: v128;
/** Slightly below the threshold: a tangent that reaches this may reach the threshold. */
let nearThreshold: v128;
/** Slightly below 4 (4/3 threshold)^3; see the head of this file. */
let peakFactor: v128;
let delaySteps: u32;
let refractorySteps: u32;
/** The factors of the synapses of excitatory and of inhibitory neurons. */
let excitatoryScale: v128 = f64x2.splat(1);
let inhibitoryScale: v128 = f64x2.splat(1);
/** Added to v by one background event, in mV. */
let backgroundMv: f64;
/** False if no connection is overridden. */
let areOverridden: bool;

/**
 * With u and h, the two lists and the spikes that have not arrived, these variables are the state of a trial. The host
 * stores it between segments.
 */
export let candidateCount: u32;
export let waitingCount: u32;
/** True if more neurons became candidates than the list holds. */
export let isListIncomplete: bool;
/** The leastU of Factors in the last step. */
export let leastU: f64;
/** The number of connections through which spikes arrived. A double is exact up to 2^53, and no trial has as many. */
export let deliveredEvents: f64;

let spikingCount: u32;
let eventCount: u32;
let nextEvent: u32;
let backgroundCount: u32;
let nextBackground: u32;
/** The first step of the segment. */
let firstStep: u32;
/** The step after the last simulated one. */
export let stepCount: u32;

export function setConstants(rest: f64, thresholdAboveRestMv: f64, delay: u32, refractory: u32): void {
  restMv = rest;
  thresholdMv = thresholdAboveRestMv;
  threshold = f64x2.splat(thresholdMv);
  nearThreshold = f64x2.splat(thresholdMv * (1 - MARGIN));
  const uAtPeakMv = (4 * thresholdMv) / 3;
  peakFactor = f64x2.splat(4 * uAtPeakMv * uAtPeakMv * uAtPeakMv * (1 - MARGIN));
  delaySteps = delay;
  // Spikes are listed at the end of their step, so a refractory period ends in the next step at the earliest.
  refractorySteps = max<u32>(refractory, 1);
}

/**
 * Sets the options that only `runVaried` supports.
 * @param overridden whether any connection is overridden; looking for such connections takes 3 % of a trial in which
 *   all neurons spike
 */
export function setVariation(
  excitatory: f64,
  inhibitory: f64,
  backgroundEventMv: f64,
  overridden: bool,
): void {
  excitatoryScale = f64x2.splat(excitatory);
  inhibitoryScale = f64x2.splat(inhibitory);
  backgroundMv = backgroundEventMv;
  areOverridden = overridden;
}

/** Begins a whole trial from rest. The counts must be those that layOutTrial got. */
export function begin(durationSteps: u32, events: u32, backgroundEvents: u32): void {
  // Not at rest after a trial in segments, or after an interrupted trial.
  if (!allAtRest) restoreReached(0);
  computeFactors(durationSteps);
  candidateCount = 0;
  waitingCount = 0;
  isListIncomplete = false;
  leastU = 0;
  deliveredEvents = 0;
  StepSpikes.of(0).begin = 0;
  beginSteps(0, events, backgroundEvents);
}

/**
 * Begins the next segment of a trial, whose state the host has written. The kernel numbers the steps of a segment anew,
 * in the events too. The steps before the segment's first one hold the spikes that may not have arrived, or whose
 * neurons may be refractory.
 * @param step the number of the first step. It differs from the number in the whole trial by a multiple of
 *   STEPS_BETWEEN_REVIEWS, so reviews happen in the same steps
 */
export function beginSegment(step: u32, segmentSteps: u32, events: u32, backgroundEvents: u32): void {
  computePartFactors(step, segmentSteps);
  // Delivery reads one spike ahead, and the first step delivers before it records its own spikes.
  Spike.at(StepSpikes.of(step).begin).record(sentinel, 0);
  beginSteps(step, events, backgroundEvents);
}

function beginSteps(step: u32, events: u32, backgroundEvents: u32): void {
  leaveRest();
  firstStep = step;
  stepCount = step;
  eventCount = events;
  nextEvent = 0;
  Events.endAfter(eventSteps, events);
  backgroundCount = backgroundEvents;
  nextBackground = 0;
  Events.endAfter(backgroundSteps, backgroundEvents);
}

/**
 * Simulates at least one step, up to untilStep - 1. It stops earlier, after the step in which the total of delivered
 * events exceeds the budget. Between two calls the host may change rows and read membranes.
 * @param eventBudget the budget in the first step
 * @param growthOfBudget the increase of the budget in each further step
 * @returns whether the total is within the budget
 */
export function run(untilStep: u32, eventBudget: f64, growthOfBudget: f64): bool {
  return Steps.run(untilStep, eventBudget, growthOfBudget, false);
}

/** Like `run`, with scales, overridden connections and background. */
export function runVaried(untilStep: u32, eventBudget: f64, growthOfBudget: f64): bool {
  return Steps.run(untilStep, eventBudget, growthOfBudget, true);
}

/**
 * Records v of some neurons at the end of the last step.
 * @param firstNeuron the position of the first of them among the recorded neurons
 * @param firstSample the index of its sample
 */
export function sample(firstNeuron: u32, neurons: u32, firstSample: u32): void {
  const factors = Factors.of(stepCount - 1);
  let recorded = Entry.at(recordedNeurons, firstNeuron);
  const end = recorded.plus(neurons);
  let sample = samples + <usize>firstSample * sizeof<f64>();
  for (; recorded.plus(1).isBefore(end); recorded = recorded.plus(2)) {
    v128.store(sample, Membrane.mvOf(recorded.neuron, recorded.plus(1).neuron, factors));
    sample += 2 * sizeof<f64>();
  }
  if (recorded.isBefore(end))
    store<f64>(sample, f64x2.extract_lane(Membrane.mvOf(recorded.neuron, recorded.neuron, factors), 0));
}

/**
 * Simulates up to the last of several samples of all recorded neurons. Calls of the host for each sample would take as
 * long as the samples.
 * @param untilStep the step after the first sample
 * @param everySteps the number of steps from one sample to the next
 * @param firstSample the index of the first sample; the others follow it
 * @returns whether the total of delivered events is within the budget
 */
export function runSampled(
  untilStep: u32,
  everySteps: u32,
  sampleCount: u32,
  neurons: u32,
  firstSample: u32,
  isVaried: bool,
  eventBudget: f64,
  growthOfBudget: f64,
): bool {
  let until = untilStep;
  let index = firstSample;
  let budget = eventBudget;
  for (let taken: u32 = 0; taken < sampleCount; taken++) {
    const begin = stepCount;
    const isWithin = isVaried ? runVaried(until, budget, growthOfBudget) : run(until, budget, growthOfBudget);
    budget += growthOfBudget * (stepCount - begin);
    if (stepCount == until) sample(0, neurons, index);
    if (!isWithin) return false;
    until += everySteps;
    index += neurons;
  }
  return true;
}

class Membrane {
  /** @returns v of two neurons in mV. A refractory neuron has the resting potential */
  @inline
  static mvOf(first: Neuron, second: Neuron, factors: Factors): v128 {
    const uhOfFirst = first.uh;
    const uhOfSecond = second.uh;
    const mv = f64x2.sub(
      f64x2.mul(lowOf(uhOfFirst, uhOfSecond), factors.mvOfU),
      f64x2.mul(highOf(uhOfFirst, uhOfSecond), factors.mvOfH),
    );
    return f64x2.add(f64x2.splat(restMv), v128.andnot(mv, f64x2.eq(mv, f64x2.splat(-Infinity))));
  }
}

/**
 * Ends a whole trial, writes its raster and returns the network to rest.
 * @returns the number of spikes
 */
export function end(): u32 {
  const spikeCount = StepSpikes.of(stepCount).begin;
  putToRest(writeRaster(0, stepCount), eventCount, backgroundCount);
  return spikeCount;
}

/**
 * Ends a segment and writes its raster, whose steps count from the segment's first one. The network keeps its state.
 * @returns the number of spikes
 */
export function endSegment(): u32 {
  const firstSpike = StepSpikes.of(firstStep).begin;
  const spikeCount = StepSpikes.of(stepCount).begin - firstSpike;
  markReached(writeRaster(firstStep, stepCount), firstSpike, eventCount, backgroundCount);
  return spikeCount;
}

class Steps {
  @inline
  static run(untilStep: u32, eventBudget: f64, growthOfBudget: f64, isVaried: bool): bool {
    let step = stepCount;
    let least = leastU;
    let delivered = deliveredEvents;
    let budget = eventBudget - growthOfBudget;
    do {
      budget += growthOfBudget;
      const factors = Factors.of(step);
      // leastU grows from step to step, except if the growth was shrunk.
      if (factors.leastU < least) shrinkState();
      least = factors.leastU;
      if (step >= refractorySteps) Spiking.endRefractoriness(StepSpikes.of(step - refractorySteps));
      Candidates.findSpikes(step, factors);
      if (step >= delaySteps) {
        const arriving = StepSpikes.of(step - delaySteps);
        Delivery.excite(arriving.begin, arriving.firstInhibitory, factors, isVaried);
        Delivery.inhibit(arriving.firstInhibitory, arriving.end, factors, isVaried);
        if (isVaried && areOverridden) {
          Delivery.deliverOverridden(arriving.begin, arriving.firstInhibitory, factors, excitatoryScale);
          Delivery.deliverOverridden(arriving.firstInhibitory, arriving.end, factors, inhibitoryScale);
        }
        delivered += arriving.connectionCount;
      }
      Delivery.addInputEvents(step, factors);
      if (isVaried) Delivery.addBackground(step, factors);
      Spiking.reset(step);
    } while (++step < untilStep && delivered <= budget);
    stepCount = step;
    leastU = least;
    deliveredEvents = delivered;
    return delivered <= budget;
  }
}

class Candidates {
  /**
   * Makes each waiting neuron a candidate once. A neuron is listed as waiting each time it is excited; dropping the
   * repetitions here costs a fifth of the instructions of a visit.
   */
  @inline
  static review(): void {
    const visit = Visit.next();
    let end = Entry.at(candidates, candidateCount);
    const endOfWaiting = Entry.at(waitingNeurons, waitingCount);
    for (let waiting = Entry.at(waitingNeurons, 0); waiting != endOfWaiting; waiting = waiting.plus(1)) {
      const neuron = waiting.neuron;
      end.neuron = neuron;
      end = end.plus(Visit.record(neuron, visit));
    }
    candidateCount = end.indexIn(candidates);
    waitingCount = 0;
  }

  /** Visits every candidate once. It spikes, remains a candidate, waits for the next review, or is dropped. */
  @inline
  static findSpikes(step: u32, factors: Factors): void {
    if (isListIncomplete || candidateCount + waitingCount > neuronCount) listCandidates(factors);
    if (step % STEPS_BETWEEN_REVIEWS == 0) Candidates.review();
    const visit = Visit.next();
    const mvOfU = factors.mvOfU;
    const mvOfH = factors.mvOfH;
    const boundMvOfU = factors.boundMvOfU;
    const boundMvOfH = factors.boundMvOfH;
    const leastU = factors.leastUOfBoth;
    // Local copies: a loop reads a local variable from a register, and a global one from memory.
    const thresholdMvOfBoth = threshold;
    const nearThresholdMvOfBoth = nearThreshold;
    const peakFactorOfBoth = peakFactor;
    let spiking = Entry.at(spikingNeurons, 0);
    let waiting = Entry.at(waitingNeurons, waitingCount);
    let kept = Entry.at(candidates, 0);
    const end = Entry.at(candidates, candidateCount);
    end.neuron = sentinel;
    for (let candidate = kept; candidate.isBefore(end); candidate = candidate.plus(2)) {
      const first = candidate.neuron;
      const second = candidate.plus(1).neuron;
      const uhOfFirst = first.uh;
      const uhOfSecond = second.uh;
      const isFirstVisit = Visit.record(first, visit) + 2 * Visit.record(second, visit);

      const u = lowOf(uhOfFirst, uhOfSecond);
      const h = highOf(uhOfFirst, uhOfSecond);
      const mv = f64x2.sub(f64x2.mul(u, mvOfU), f64x2.mul(h, mvOfH));
      const isSpiking = f64x2.gt(mv, thresholdMvOfBoth);
      const uu = f64x2.mul(u, u);
      const peaksAbove = v128.and(
        f64x2.gt(u, leastU),
        f64x2.gt(f64x2.mul(uu, uu), f64x2.mul(h, peakFactorOfBoth)),
      );
      const willSpike = v128.andnot(peaksAbove, isSpiking);
      const boundMv = f64x2.sub(f64x2.mul(u, boundMvOfU), f64x2.mul(h, boundMvOfH));
      const isNear = f64x2.gt(boundMv, nearThresholdMvOfBoth);

      // Both neurons are written to every list, and only the list that they belong to gets longer.
      const spikingBits = i64x2.bitmask(isSpiking) & isFirstVisit;
      spiking.neuron = first;
      spiking = spiking.plus(spikingBits & 1);
      spiking.neuron = second;
      spiking = spiking.plus(spikingBits >> 1);
      const nearBits = i64x2.bitmask(v128.and(willSpike, isNear)) & isFirstVisit;
      kept.neuron = first;
      kept = kept.plus(nearBits & 1);
      kept.neuron = second;
      kept = kept.plus(nearBits >> 1);
      const farBits = i64x2.bitmask(v128.andnot(willSpike, isNear)) & isFirstVisit;
      waiting.neuron = first;
      waiting = waiting.plus(farBits & 1);
      waiting.neuron = second;
      waiting = waiting.plus(farBits >> 1);
    }
    spikingCount = spiking.indexIn(spikingNeurons);
    candidateCount = kept.indexIn(candidates);
    waitingCount = waiting.indexIn(waitingNeurons);
  }
}

/**
 * Lists the candidates again from the state of all neurons. This happens when the lists are about to outgrow their
 * memory. Visiting such long lists would cost as much as visiting all neurons, so it takes no extra time.
 */
function listCandidates(factors: Factors): void {
  isListIncomplete = false;
  waitingCount = 0;
  let end = Entry.at(candidates, 0);
  for (let neuron = Neuron.at(0); neuron != sentinel; neuron = neuron.next) {
    const mv = f64x2.mul(neuron.uh, factors.mvOfUh);
    // A neuron with an input event may spike even if its u is small.
    const isSpiking = f64x2.extract_lane(mv, 0) - f64x2.extract_lane(mv, 1) > thresholdMv;
    end.neuron = neuron;
    end = end.plus(<u32>(isSpiking || neuron.u > factors.leastU));
  }
  candidateCount = end.indexIn(candidates);
}

/** @returns the first halves of two vectors: u of two neurons, or one number twice */
function lowOf(a: v128, b: v128): v128 {
  return v128.shuffle<f64>(a, b, 0, 2);
}

/** @returns the second halves of two vectors: h of two neurons, or one number twice */
function highOf(a: v128, b: v128): v128 {
  return v128.shuffle<f64>(a, b, 1, 3);
}

class Delivery {
  /**
   * Delivers to both targets of a pair, and lists those with enough u after the candidates.
   * @returns the end of the candidates
   */
  @inline
  static toBoth<P>(pair: P, uhOfSynapse: v128, leastUh: v128, candidate: Entry): Entry {
    const synapses = pair.signedSynapses;
    const first = pair.firstTarget;
    const uhOfFirst = f64x2.add(first.uh, f64x2.mul(lowOf(synapses, synapses), uhOfSynapse));
    first.uh = uhOfFirst;
    const second = pair.secondTarget;
    const uhOfSecond = f64x2.add(second.uh, f64x2.mul(highOf(synapses, synapses), uhOfSynapse));
    second.uh = uhOfSecond;
    candidate.neuron = first;
    const next = candidate.plus(i64x2.bitmask(f64x2.gt(uhOfFirst, leastUh)));
    next.neuron = second;
    return next.plus(i64x2.bitmask(f64x2.gt(uhOfSecond, leastUh)));
  }

  /** Delivers excitatory spikes. Every target with enough u becomes a candidate. */
  @inline
  static excite(firstSpike: u32, endSpike: u32, factors: Factors, isVaried: bool): void {
    const uhOfSynapse = isVaried ? f64x2.mul(factors.uhOfSynapse, excitatoryScale) : factors.uhOfSynapse;
    // No h exceeds infinity, so the comparison gives only the bit of u.
    const leastUh = f64x2.replace_lane(f64x2.splat(Infinity), 0, factors.leastU);
    const limit = Entry.at(candidates, neuronCount);
    let candidate = Entry.at(candidates, candidateCount);
    const endOfSpikes = Spike.at(endSpike);
    let spike = Spike.at(firstSpike);
    let row = Row.of(spike.neuron);
    while (spike != endOfSpikes) {
      const begin = row.begin;
      const end = row.end;
      spike = spike.next;
      row = Row.of(spike.neuron);
      row.begin.fetch();
      for (let pair = begin; pair != end; pair = pair.next) {
        candidate = Delivery.toBoth(pair, uhOfSynapse, leastUh, candidate);
      }
      if (limit.isBefore(candidate)) {
        isListIncomplete = true;
        candidate = Entry.at(candidates, 0);
      }
    }
    candidateCount = candidate.indexIn(candidates);
  }

  /** Delivers inhibitory spikes, which make no neuron a candidate. */
  @inline
  static inhibit(firstSpike: u32, endSpike: u32, factors: Factors, isVaried: bool): void {
    const uhOfSynapse = isVaried ? f64x2.mul(factors.uhOfSynapse, inhibitoryScale) : factors.uhOfSynapse;
    const endOfSpikes = Spike.at(endSpike);
    let spike = Spike.at(firstSpike);
    let row = Row.of(spike.neuron);
    while (spike != endOfSpikes) {
      const begin = row.begin;
      const end = row.end;
      spike = spike.next;
      row = Row.of(spike.neuron);
      row.begin.fetch();
      for (let pair = begin; pair != end; pair = pair.next) {
        const synapses = pair.signedSynapses;
        const first = pair.firstTarget;
        first.uh = f64x2.add(first.uh, f64x2.mul(lowOf(synapses, synapses), uhOfSynapse));
        const second = pair.secondTarget;
        second.uh = f64x2.add(second.uh, f64x2.mul(highOf(synapses, synapses), uhOfSynapse));
      }
    }
  }

  /**
   * Delivers spikes through overridden connections. Their weights are doubles of any sign, so every target with enough
   * u becomes a candidate. The words of these connections in the ordinary rows have no synapses.
   */
  @inline
  static deliverOverridden(firstSpike: u32, endSpike: u32, factors: Factors, scale: v128): void {
    const uhOfSynapse = f64x2.mul(factors.uhOfSynapse, scale);
    const leastUh = f64x2.replace_lane(f64x2.splat(Infinity), 0, factors.leastU);
    const limit = Entry.at(candidates, neuronCount);
    let candidate = Entry.at(candidates, candidateCount);
    const endOfSpikes = Spike.at(endSpike);
    for (let spike = Spike.at(firstSpike); spike != endOfSpikes; spike = spike.next) {
      const row = OverrideRow.of(spike.neuron);
      const end = row.end;
      for (let pair = row.begin; pair != end; pair = pair.next) {
        candidate = Delivery.toBoth(pair, uhOfSynapse, leastUh, candidate);
      }
      if (limit.isBefore(candidate)) {
        isListIncomplete = true;
        candidate = Entry.at(candidates, 0);
      }
    }
    candidateCount = candidate.indexIn(candidates);
  }

  /**
   * Adds the input events of a step. Their neurons become candidates even if u is small: after strong inhibition h is
   * negative, so v can exceed the threshold with little u.
   */
  @inline
  static addInputEvents(step: u32, factors: Factors): void {
    const uOfInputEvent = factors.uOfInputEvent;
    let candidate = Entry.at(candidates, candidateCount);
    let previous = sentinel;
    let q = nextEvent;
    for (; Events.stepOf(eventSteps, q) == step; q++) {
      const neuron = Events.neuronOf(eventNeurons, q);
      candidate.neuron = neuron;
      // Events of one neuron are adjacent, so each neuron becomes a candidate at most once.
      candidate = candidate.plus(<u32>(neuron != previous));
      neuron.u += uOfInputEvent;
      previous = neuron;
    }
    nextEvent = q;
    candidateCount = candidate.indexIn(candidates);
  }

  /** Adds the background events of a step, at most one for each neuron. Refractory neurons lose them like all input. */
  @inline
  static addBackground(step: u32, factors: Factors): void {
    const uOfEvent = backgroundMv / f64x2.extract_lane(factors.mvOfUh, 0);
    let candidate = Entry.at(candidates, candidateCount);
    let q = nextBackground;
    for (; Events.stepOf(backgroundSteps, q) == step; q++) {
      const neuron = Events.neuronOf(backgroundNeurons, q);
      candidate.neuron = neuron;
      candidate = candidate.plus(1);
      neuron.u += uOfEvent;
    }
    nextBackground = q;
    candidateCount = candidate.indexIn(candidates);
  }
}

class Spiking {
  /**
   * Resets the neurons that spiked in this step and records the spikes. This comes last, because input that arrives in
   * the step of a spike is lost. A stimulated neuron has no refractory period, so it returns to rest at once.
   */
  @inline
  static reset(step: u32): void {
    const ofStep = StepSpikes.of(step);
    const begin = ofStep.begin;
    const end = begin + spikingCount;
    reserveSpikes(end + 1);
    // Excitatory neurons are listed from the beginning upwards, inhibitory ones from the end downwards.
    let excitatory = Spike.at(begin);
    let inhibitory = Spike.at(end);
    inhibitory.record(sentinel, 0);
    let connectionCount: u32 = 0;
    const endOfSpiking = Entry.at(spikingNeurons, spikingCount);
    for (let spiking = Entry.at(spikingNeurons, 0); spiking != endOfSpiking; spiking = spiking.plus(1)) {
      const neuron = spiking.neuron;
      const row = Row.of(neuron);
      const isExcitatory: u32 = row.isExcitatory;
      excitatory.record(neuron, step);
      inhibitory.plus(-1).record(neuron, step);
      excitatory = excitatory.plus(isExcitatory);
      inhibitory = inhibitory.plus(isExcitatory - 1);
      neuron.reset(row.isStimulated);
      connectionCount += row.connectionCount;
    }
    ofStep.firstInhibitory = excitatory.index;
    ofStep.connectionCount = connectionCount;
    ofStep.end = end;
  }

  @inline
  static endRefractoriness(ofStep: StepSpikes): void {
    const end = Spike.at(ofStep.end);
    for (let spike = Spike.at(ofStep.begin); spike != end; spike = spike.next)
      spike.neuron.restIfRefractory();
  }
}
