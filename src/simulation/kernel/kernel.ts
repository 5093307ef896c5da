/**
 * Simulates the network of network.ts step by step. Only activity takes time: a neuron is visited when input
 * arrives or when it may spike, and at no other time.
 *
 * Coordinates. Let h = g/3 and u = v + h. Without input, u decays with the membrane time constant alone and h with
 * the synaptic time constant alone, and v = u - h. Both are stored multiplied by a growth that cancels their decay
 * (factors.ts), so the stored numbers change only when input arrives.
 *
 * Which neurons will spike. The membrane time constant is four times the synaptic one. So without further input
 * v = u x - h x^4, where x = exp(-t / membrane time constant). v rises up to a peak at x^3 = u / 4h, and the peak is
 * above the threshold if u^4 > 4 h (4/3 threshold)^3. As u^4 and h decay alike, this stays true or false while no input
 * arrives. A neuron for which it is false needs no visit before it is excited: inhibition only lowers later values
 * of v. The formula holds while the peak lies ahead, that is for u < 4h. That is the case for every neuron at or below
 * the threshold with u > 4/3 threshold (leastU); with less, no neuron reaches the threshold.
 *
 * When they can spike. Up to the peak v is concave, so it stays below its tangent. If the tangent does not reach
 * the threshold before the next review, the neuron waits for that review.
 *
 * Invariants at the end of every step:
 *  - Every neuron that can spike in the next step is a candidate. Every other neuron that will spike unless inhibited
 *    is a candidate or is waiting. Both lists may repeat a neuron, and may contain neurons that will not spike.
 *  - A refractory neuron has u = -infinity. It is no candidate, and input to it is lost, as it should be. It returns
 *    to rest when its refractory period is over, before that step delivers anything.
 *  - Spikes are listed by step; within a step, excitatory neurons come before inhibitory ones.
 *
 * Two loops over steps are made of one text: `run`, and `runVaried`, which also knows scales, overridden connections and
 * background. A single check of a flag in the loop would cost a trial with few spikes 16 %. Everything that a step calls
 * is a method, since only methods can be marked as inlined, and a call in each step takes 1 to 3 % of such a trial.
 *
 * Loops process two connections or two neurons at a time, side by side in a vector. For this, rows have an even
 * number of connections, and the sentinel, a neuron that does not exist, ends lists. Lists are written without
 * branches, since a processor cannot predict what a neuron does. Sums add the same products in the same order on
 * every machine: WebAssembly neither fuses nor reorders operations.
 */
import { MARGIN, STEPS_BETWEEN_REVIEWS, computeFactors, computePartFactors, shrinkState } from './factors';
import {
  BackgroundEvent,
  Entry,
  Factors,
  InputEvent,
  Neuron,
  OverrideRow,
  Row,
  Sample,
  Spike,
  StepSpikes,
  Visit,
  candidates,
  neuronCount,
  recordedNeurons,
  reserveSpikes,
  sentinel,
  spikingNeurons,
  waitingNeurons,
} from './memory';
import { writeRaster } from './raster';
import { allAtRest, leaveRest, markReached, putToRest, restoreReached } from './reached';

/** For the host: what it calls, the sections it fills before a trial, and those it reads afterwards. */
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
/** Above rest. */
let thresholdMv: f64;
let threshold: v128;
/** Slightly lower: a tangent that comes this close may reach the threshold. */
let nearThreshold: v128;
/** Slightly below 4 (4/3 threshold)^3; see above. */
let peakFactor: v128;
let delaySteps: u32;
let refractorySteps: u32;
/** Multiply the synapses of excitatory and of inhibitory neurons. */
let excitatoryScale: v128 = f64x2.splat(1);
let inhibitoryScale: v128 = f64x2.splat(1);
/** Added to v by one event of the background. */
let backgroundMv: f64;
/** False where no connections were overridden. */
let areOverridden: bool;

/** The state of a trial beside u and h, the lists and the spikes that have not arrived: the host keeps it between parts. */
export let candidateCount: u32;
export let waitingCount: u32;
/** More neurons became candidates than the list holds. */
export let isListIncomplete: bool;
/** Least u, as Factors has it, in the last step. */
export let leastU: f64;
/** Connections that spikes arrived through. A double counts up to 2^53; no trial has as many. */
export let deliveredEvents: f64;

let spikingCount: u32;
let eventCount: u32;
let nextEvent: u32;
let backgroundCount: u32;
let nextBackground: u32;
/** The step in which the part begins. */
let firstStep: u32;
/** The step after the last one that was simulated. */
export let stepCount: u32;

export function setConstants(rest: f64, thresholdAboveRestMv: f64, delay: u32, refractory: u32): void {
  restMv = rest;
  thresholdMv = thresholdAboveRestMv;
  threshold = f64x2.splat(thresholdMv);
  nearThreshold = f64x2.splat(thresholdMv * (1 - MARGIN));
  const uAtPeakMv = (4 * thresholdMv) / 3;
  peakFactor = f64x2.splat(4 * uAtPeakMv * uAtPeakMv * uAtPeakMv * (1 - MARGIN));
  delaySteps = delay;
  // The spikes of a step are listed at its end, so a refractory period ends in the next step at the earliest.
  refractorySteps = max<u32>(refractory, 1);
}

/**
 * Sets what `runVaried` alone knows.
 * @param overridden whether any connections are: looking for them takes 3 % of a trial in which all neurons spike
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

/** Begins a trial from rest, with as many events as were laid out. */
export function begin(durationSteps: u32, events: u32, backgroundEvents: u32): void {
  // After a trial in parts, and one that was interrupted.
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
 * Goes on with a trial, whose state the host has written. The steps of a part have numbers of their own, also those of its
 * events: before its first one stand those whose spikes may not have arrived, or whose neurons may be refractory.
 * @param step the number of the first step; it differs from that in the whole trial by a multiple of the steps between reviews
 */
export function beginPart(step: u32, partSteps: u32, events: u32, backgroundEvents: u32): void {
  computePartFactors(step, partSteps);
  // Delivery looks one spike ahead, and the first step delivers before it records its own.
  Spike.at(StepSpikes.of(step).begin).record(sentinel, 0);
  beginSteps(step, events, backgroundEvents);
}

function beginSteps(step: u32, events: u32, backgroundEvents: u32): void {
  leaveRest();
  firstStep = step;
  stepCount = step;
  eventCount = events;
  nextEvent = 0;
  InputEvent.endAfter(events);
  backgroundCount = backgroundEvents;
  nextBackground = 0;
  BackgroundEvent.endAfter(backgroundEvents);
}

/**
 * Goes on up to, not including, a step, which is after the last one; or up to the first step in which the total of
 * delivered events exceeds the budget. Between two calls the host may change rows and read membranes.
 * @param eventBudget up to the first step; it grows from step to step
 * @returns whether the budget lasts
 */
export function run(untilStep: u32, eventBudget: f64, growthOfBudget: f64): bool {
  return Steps.run(untilStep, eventBudget, growthOfBudget, false);
}

/** Goes on likewise, with scales, overridden connections and background. */
export function runVaried(untilStep: u32, eventBudget: f64, growthOfBudget: f64): bool {
  return Steps.run(untilStep, eventBudget, growthOfBudget, true);
}

/**
 * Records v of some neurons at the end of the last step.
 * @param firstNeuron among the recorded ones
 * @param firstSample the place of its sample
 */
export function sample(firstNeuron: u32, neurons: u32, firstSample: u32): void {
  const factors = Factors.of(stepCount - 1);
  let recorded = Entry.at(recordedNeurons, firstNeuron);
  const end = recorded.plus(neurons);
  let sample = Sample.at(firstSample);
  for (; recorded.plus(1).isBefore(end); recorded = recorded.plus(2)) {
    sample.ofBoth = Membrane.mvOf(recorded.neuron, recorded.plus(1).neuron, factors);
    sample = sample.plus(2);
  }
  if (recorded.isBefore(end))
    sample.mv = f64x2.extract_lane(Membrane.mvOf(recorded.neuron, recorded.neuron, factors), 0);
}

/**
 * Goes on from sample to sample of all recorded neurons: a call of the host for each would take as long as they do.
 * @param untilStep the step after the first sample
 * @param everySteps from one sample to the next
 * @param firstSample the place of the first one; the others follow it
 * @returns whether the budget lasts
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
  let place = firstSample;
  let budget = eventBudget;
  for (let taken: u32 = 0; taken < sampleCount; taken++) {
    const begin = stepCount;
    const isWithin = isVaried ? runVaried(until, budget, growthOfBudget) : run(until, budget, growthOfBudget);
    budget += growthOfBudget * (stepCount - begin);
    if (stepCount == until) sample(0, neurons, place);
    if (!isWithin) return false;
    until += everySteps;
    place += neurons;
  }
  return true;
}

class Membrane {
  /** v of two neurons; that of a refractory one is the potential at rest. */
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
 * Ends the trial and returns the network to rest.
 * @returns the number of spikes; the raster has them ordered by step, then by neuron
 */
export function end(): u32 {
  const spikeCount = StepSpikes.of(stepCount).begin;
  putToRest(writeRaster(0, stepCount), eventCount, backgroundCount);
  return spikeCount;
}

/**
 * Ends a part; the network stays as it is.
 * @returns the number of its spikes; the steps of the raster count from its first one
 */
export function endPart(): u32 {
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
      // The growth, and leastU with it, increases from step to step except where it was shrunk.
      if (factors.leastU < least) shrinkState();
      least = factors.leastU;
      if (step >= refractorySteps) Spiking.endRefractoriness(StepSpikes.of(step - refractorySteps));
      Candidates.findSpikes(step, factors);
      if (step >= delaySteps) {
        const arriving = StepSpikes.of(step - delaySteps);
        Delivery.excite(arriving.begin, arriving.firstInhibitory, factors, isVaried);
        Delivery.inhibit(arriving.firstInhibitory, arriving.end, factors, isVaried);
        if (isVaried && areOverridden) {
          Delivery.deliverOverridden(
            arriving.begin,
            arriving.firstInhibitory,
            f64x2.mul(factors.uhOfSynapse, excitatoryScale),
            factors,
          );
          Delivery.deliverOverridden(
            arriving.firstInhibitory,
            arriving.end,
            f64x2.mul(factors.uhOfSynapse, inhibitoryScale),
            factors,
          );
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
   * All waiting neurons become candidates again, each once. A neuron is listed as waiting again whenever it is excited, and
   * leaving it out here takes a fifth of the instructions of a visit.
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

  /**
   * Visits every candidate once: it spikes, remains a candidate, waits for the next review, or is dropped.
   */
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
    // A loop reads a local variable from a register, and a global one from memory.
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

      // Both neurons are written to every list; only the list that they belong to gets longer.
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
 * Lists the candidates again, from the state of all neurons. A list as long as the network costs as much to visit as
 * the network, so this happens when the lists are about to outgrow their memory and takes no extra time then.
 */
function listCandidates(factors: Factors): void {
  isListIncomplete = false;
  waitingCount = 0;
  let end = Entry.at(candidates, 0);
  for (let neuron = Neuron.at(0); neuron != sentinel; neuron = neuron.next) {
    const mv = f64x2.mul(neuron.uh, factors.mvOfUh);
    // A neuron that got an input event may spike whatever its u.
    const isSpiking = f64x2.extract_lane(mv, 0) - f64x2.extract_lane(mv, 1) > thresholdMv;
    end.neuron = neuron;
    end = end.plus(<u32>(isSpiking || neuron.u > factors.leastU));
  }
  candidateCount = end.indexIn(candidates);
}

/** The first halves of two vectors: u of two neurons, or a number twice. */
function lowOf(a: v128, b: v128): v128 {
  return v128.shuffle<f64>(a, b, 0, 2);
}

/** The second halves of two vectors: h of two neurons, or a number twice. */
function highOf(a: v128, b: v128): v128 {
  return v128.shuffle<f64>(a, b, 1, 3);
}

class Delivery {
  /** Delivers excitatory spikes. Every target with enough u becomes a candidate. */
  @inline
  static excite(firstSpike: u32, endSpike: u32, factors: Factors, isVaried: bool): void {
    const uhOfSynapse = isVaried ? f64x2.mul(factors.uhOfSynapse, excitatoryScale) : factors.uhOfSynapse;
    // No h is greater, so the comparison has one bit for each neuron: that of its u.
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
        const synapses = pair.signedSynapses;
        const first = pair.firstTarget;
        const uhOfFirst = f64x2.add(first.uh, f64x2.mul(lowOf(synapses, synapses), uhOfSynapse));
        first.uh = uhOfFirst;
        const second = pair.secondTarget;
        const uhOfSecond = f64x2.add(second.uh, f64x2.mul(highOf(synapses, synapses), uhOfSynapse));
        second.uh = uhOfSecond;
        candidate.neuron = first;
        candidate = candidate.plus(i64x2.bitmask(f64x2.gt(uhOfFirst, leastUh)));
        candidate.neuron = second;
        candidate = candidate.plus(i64x2.bitmask(f64x2.gt(uhOfSecond, leastUh)));
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
   * Delivers spikes through connections whose weights were overridden: doubles of any sign, so that every target with
   * enough u becomes a candidate. Their words among the others hold no synapses.
   */
  @inline
  static deliverOverridden(firstSpike: u32, endSpike: u32, uhOfSynapse: v128, factors: Factors): void {
    const leastUh = f64x2.replace_lane(f64x2.splat(Infinity), 0, factors.leastU);
    const limit = Entry.at(candidates, neuronCount);
    let candidate = Entry.at(candidates, candidateCount);
    const endOfSpikes = Spike.at(endSpike);
    for (let spike = Spike.at(firstSpike); spike != endOfSpikes; spike = spike.next) {
      const row = OverrideRow.of(spike.neuron);
      const end = row.end;
      for (let pair = row.begin; pair != end; pair = pair.next) {
        const synapses = pair.signedSynapses;
        const first = pair.firstTarget;
        const uhOfFirst = f64x2.add(first.uh, f64x2.mul(lowOf(synapses, synapses), uhOfSynapse));
        first.uh = uhOfFirst;
        const second = pair.secondTarget;
        const uhOfSecond = f64x2.add(second.uh, f64x2.mul(highOf(synapses, synapses), uhOfSynapse));
        second.uh = uhOfSecond;
        candidate.neuron = first;
        candidate = candidate.plus(i64x2.bitmask(f64x2.gt(uhOfFirst, leastUh)));
        candidate.neuron = second;
        candidate = candidate.plus(i64x2.bitmask(f64x2.gt(uhOfSecond, leastUh)));
      }
      if (limit.isBefore(candidate)) {
        isListIncomplete = true;
        candidate = Entry.at(candidates, 0);
      }
    }
    candidateCount = candidate.indexIn(candidates);
  }

  /** Adds the input events of a step. Their neurons become candidates whatever their u: after strong inhibition, v can
   * be above the threshold with little u. */
  @inline
  static addInputEvents(step: u32, factors: Factors): void {
    const uOfInputEvent = factors.uOfInputEvent;
    let candidate = Entry.at(candidates, candidateCount);
    let previous = sentinel;
    let q = nextEvent;
    for (; InputEvent.stepOf(q) == step; q++) {
      const neuron = InputEvent.neuronOf(q);
      candidate.neuron = neuron;
      // Events of one neuron are adjacent, so there are at most as many new candidates as neurons.
      candidate = candidate.plus(<u32>(neuron != previous));
      neuron.u += uOfInputEvent;
      previous = neuron;
    }
    nextEvent = q;
    candidateCount = candidate.indexIn(candidates);
  }

  /** Adds the events of the background, one for a neuron at most. A refractory neuron loses them, as it does all input. */
  @inline
  static addBackground(step: u32, factors: Factors): void {
    const uOfEvent = backgroundMv / f64x2.extract_lane(factors.mvOfUh, 0);
    let candidate = Entry.at(candidates, candidateCount);
    let q = nextBackground;
    for (; BackgroundEvent.stepOf(q) == step; q++) {
      const neuron = BackgroundEvent.neuronOf(q);
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
   * Resets the neurons that spiked in this step and records the spikes. This comes last, because whatever arrives in the
   * step of a spike is lost. A stimulated neuron has no refractory period: it is back at rest.
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
      inhibitory.previous.record(neuron, step);
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
