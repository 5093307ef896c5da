/**
 * The network of engine/network.ts at the speed of memory: a whole brain, step by step, where only what happens
 * costs anything.
 *
 * Coordinates. Beside v keep u = v + g/3 and h = g/3, so v = u - h. Without input u decays with the membrane alone
 * and h with the synapse alone, because g/3 is exactly the part of v that g will still become. Both are stored
 * multiplied by the growth that undoes their decay (growth.ts), so the stored numbers change only when something
 * arrives: no clock runs for a neuron that gets no input.
 *
 * Hot neurons. With decays a and s of a step, a neuron at v <= threshold is at v' = a u - s h one step later. As
 * h >= u - threshold, v' <= (a - s) u + s threshold: to pass the threshold it needs
 * u > threshold (1 - s) / (a - s), some 9.36 mV. That is one comparison with a line that all neurons share
 * (uOfHot), and only neurons above it are looked at.
 *
 * Two at once. Rows have an even number of connections, and a list of neurons ends with nobody, a neuron that is
 * always at rest. So the loops take two of many at a time, side by side in a vector, and write lists without a
 * branch: a processor that cannot guess what a neuron does has nothing to guess.
 *
 * What holds at the end of every step:
 *  - The hot list has every neuron whose u is above the line and every neuron that just got an input event, each
 *    once.
 *  - A refractory neuron has u = -infinity: it cannot be hot, and what arrives is lost, as it should be. It is put
 *    to rest when its time is over, before anything is delivered in that step.
 *  - Spikes stand in the list by step, within a step those that excite before those that inhibit.
 * Within a step excitation comes before input events and inhibition after both, so u passes the line upwards at
 * most once, and the list stays free of doubles without marks. Sums add the same products in the same order
 * wherever this runs: WebAssembly fuses and re-associates nothing.
 */
import { grow, mvOfUh, startGrowth, uhOfSynapse, uOfHot, uOfInputEvent } from './growth';
import {
  Entry,
  InputEvent,
  Neuron,
  Row,
  StepSpikes,
  hotNeurons,
  inhibitorySpikes,
  nobody,
  putAllToRest,
  reachSpikes,
  spikes,
  spikingNeurons,
} from './memory';
import { writeRaster } from './raster';

/** For the host: what it calls before a trial, where it finds what it fills and what it reads. */
export { setGrowth } from './growth';
export {
  connections,
  eventNeurons,
  eventSteps,
  layOutNetwork,
  layOutTrial,
  rasterNeurons,
  rasterSteps,
  rows,
} from './memory';

/** So many are cleared one by one in about the time that filling the memory of a whole brain takes. */
const FEW_CONNECTIONS: u32 = 100_000;

let thresholdMv: f64;
let delaySteps: u32;
let refractorySteps: u32;

let eventCount: u32;
let nextEvent: u32;
let hotCount: u32;
/** False from the beginning of a trial to its end, so that one that was cut short leaves nothing behind. */
let allAtRest: bool = true;

/** Connections that spikes arrived through; a double holds 2^53 of them, the longest trial has fewer. */
export let deliveredEvents: f64;
/** Steps that were simulated. */
export let stepCount: u32;

export function setConstants(threshold: f64, delay: u32, refractory: u32): void {
  thresholdMv = threshold;
  delaySteps = delay;
  refractorySteps = refractory;
}

/**
 * Runs the network from rest, for a number of steps or up to the first step with more delivered events in all than
 * the budget.
 * @returns the number of spikes; those of a step are sorted by neuron
 */
export function simulate(durationSteps: u32, inputEvents: u32, eventBudget: f64): u32 {
  if (!allAtRest) putAllToRest();
  allAtRest = false;
  hotCount = 0;
  nextEvent = 0;
  eventCount = inputEvents;
  deliveredEvents = 0;
  StepSpikes.of(0).begin = 0;
  startGrowth();

  let step: u32 = 0;
  do {
    if (step >= refractorySteps) endRefractoriness(step - refractorySteps);
    findSpikes(step);
    if (step >= delaySteps) {
      const arriving = StepSpikes.of(step - delaySteps);
      deliveredEvents += countAndFetch(arriving.begin, arriving.end);
      excite(arriving.begin, arriving.firstInhibitory);
      addInputEvents(step);
      inhibit(arriving.firstInhibitory, arriving.end);
    } else {
      addInputEvents(step);
    }
    resetStimulated(step);
    grow();
  } while (++step < durationSteps && deliveredEvents <= eventBudget);

  stepCount = step;
  const spikeCount = StepSpikes.of(stepCount).begin;
  putToRest(spikeCount);
  allAtRest = true;
  writeRaster(stepCount, spikeCount);
  return spikeCount;
}

/** Looks at every hot neuron: it spikes, stays hot or drops out of the list. */
function findSpikes(step: u32): void {
  const mvOf = mvOfUh;
  const line = f64x2.splat(uOfHot);
  const threshold = f64x2.splat(thresholdMv);
  const firstSpiking = Entry.at(spikingNeurons, 0);
  let spiking = firstSpiking;
  let kept = Entry.at(hotNeurons, 0);
  const end = Entry.at(hotNeurons, hotCount);
  end.neuron = nobody;
  for (let hot = kept; hot.isBefore(end); hot = hot.plus(2)) {
    const first = hot.neuron;
    const second = hot.plus(1).neuron;
    const uhOfFirst = first.uh;
    const uhOfSecond = second.uh;
    const mvOfFirst = f64x2.mul(uhOfFirst, mvOf);
    const mvOfSecond = f64x2.mul(uhOfSecond, mvOf);
    const mv = f64x2.sub(lowOf(mvOfFirst, mvOfSecond), highOf(mvOfFirst, mvOfSecond));
    const isAbove = f64x2.gt(mv, threshold);
    const isHot = f64x2.gt(lowOf(uhOfFirst, uhOfSecond), line);
    const above = i64x2.bitmask(isAbove);
    const staying = i64x2.bitmask(v128.andnot(isHot, isAbove));
    // Written to both lists, and kept in the one that then gets longer.
    spiking.neuron = first;
    spiking = spiking.plus(above & 1);
    spiking.neuron = second;
    spiking = spiking.plus(above >> 1);
    kept.neuron = first;
    kept = kept.plus(staying & 1);
    kept.neuron = second;
    kept = kept.plus(staying >> 1);
  }
  hotCount = kept.placeIn(hotNeurons);
  listSpikes(step, firstSpiking, spiking);
}

/** Of the neurons that spike in a step, lists those that excite before those that inhibit. */
function listSpikes(step: u32, first: Entry, end: Entry): void {
  const ofStep = StepSpikes.of(step);
  reachSpikes(ofStep.begin + end.placeIn(spikingNeurons) + 1);
  let excitatory = Entry.at(spikes, ofStep.begin);
  const firstInhibitory = Entry.at(inhibitorySpikes, 0);
  let inhibitory = firstInhibitory;
  for (let spiking = first; spiking != end; spiking = spiking.plus(1)) {
    const neuron = spiking.neuron;
    const isExcitatory: u32 = Row.of(neuron).isExcitatory;
    neuron.ignoreInput();
    excitatory.neuron = neuron;
    inhibitory.neuron = neuron;
    excitatory = excitatory.plus(isExcitatory);
    inhibitory = inhibitory.plus(1 - isExcitatory);
  }
  ofStep.firstInhibitory = excitatory.placeIn(spikes);
  for (let spike = firstInhibitory; spike != inhibitory; spike = spike.plus(1)) {
    excitatory.neuron = spike.neuron;
    excitatory = excitatory.plus(1);
  }
  ofStep.end = excitatory.placeIn(spikes);
}

/** Counts the connections of arriving spikes and brings the beginnings of their rows into the cache, all at once. */
function countAndFetch(firstSpike: u32, endSpike: u32): u32 {
  let connectionCount: u32 = 0;
  for (let q = firstSpike; q < endSpike; q++) {
    const row = Row.of(Entry.at(spikes, q).neuron);
    connectionCount += row.connectionCount;
    row.begin.fetch();
  }
  return connectionCount;
}

/** Delivers excitatory spikes, and lists the neurons that they make hot. */
function excite(firstSpike: u32, endSpike: u32): void {
  const uhOf = uhOfSynapse;
  const line = f64x2.splat(uOfHot);
  let hotEnd = Entry.at(hotNeurons, hotCount);
  for (let q = firstSpike; q < endSpike; q++) {
    const row = Row.of(Entry.at(spikes, q).neuron);
    const end = row.end;
    for (let pair = row.begin; pair != end; pair = pair.next) {
      const synapses = pair.signedSynapses;
      const first = pair.firstTarget;
      const before1 = first.uh;
      const after1 = f64x2.add(before1, f64x2.mul(lowOf(synapses, synapses), uhOf));
      first.uh = after1;
      const second = pair.secondTarget;
      const before2 = second.uh;
      const after2 = f64x2.add(before2, f64x2.mul(highOf(synapses, synapses), uhOf));
      second.uh = after2;
      const wasHot = f64x2.gt(lowOf(before1, before2), line);
      const isHot = f64x2.gt(lowOf(after1, after2), line);
      const passed = i64x2.bitmask(v128.andnot(isHot, wasHot));
      hotEnd.neuron = first;
      hotEnd = hotEnd.plus(passed & 1);
      hotEnd.neuron = second;
      hotEnd = hotEnd.plus(passed >> 1);
    }
  }
  hotCount = hotEnd.placeIn(hotNeurons);
}

/** Delivers inhibitory spikes; they can make no neuron hot. */
function inhibit(firstSpike: u32, endSpike: u32): void {
  const uhOf = uhOfSynapse;
  for (let q = firstSpike; q < endSpike; q++) {
    const row = Row.of(Entry.at(spikes, q).neuron);
    const end = row.end;
    for (let pair = row.begin; pair != end; pair = pair.next) {
      const synapses = pair.signedSynapses;
      const first = pair.firstTarget;
      first.uh = f64x2.add(first.uh, f64x2.mul(lowOf(synapses, synapses), uhOf));
      const second = pair.secondTarget;
      second.uh = f64x2.add(second.uh, f64x2.mul(highOf(synapses, synapses), uhOf));
    }
  }
}

/** The first halves of two vectors: u of two neurons, or twice the same number. */
function lowOf(a: v128, b: v128): v128 {
  return v128.shuffle<f64>(a, b, 0, 2);
}

/** The second halves of two vectors: h of two neurons, or twice the same number. */
function highOf(a: v128, b: v128): v128 {
  return v128.shuffle<f64>(a, b, 1, 3);
}

/** Adds the input events of a step. A neuron that gets one may be above the threshold whatever its u: it is hot. */
function addInputEvents(step: u32): void {
  let last = nobody;
  for (; nextEvent < eventCount && InputEvent.stepOf(nextEvent) == step; nextEvent++) {
    const neuron = InputEvent.neuronOf(nextEvent);
    // Two events of one neuron stand side by side; strong inhibition may keep u below the line after the first.
    if (!(neuron.u > uOfHot) && neuron != last) Entry.at(hotNeurons, hotCount++).neuron = neuron;
    neuron.u += uOfInputEvent;
    last = neuron;
  }
}

/** Stimulated neurons have no refractory period: only what arrives in the step of the spike itself is lost. */
function resetStimulated(step: u32): void {
  const ofStep = StepSpikes.of(step);
  const end = Entry.at(spikes, ofStep.end);
  for (let spike = Entry.at(spikes, ofStep.begin); spike != end; spike = spike.plus(1)) {
    spike.neuron.restIfStimulated();
  }
}

function endRefractoriness(stepOfSpike: u32): void {
  const ofStep = StepSpikes.of(stepOfSpike);
  const end = Entry.at(spikes, ofStep.end);
  for (let spike = Entry.at(spikes, ofStep.begin); spike != end; spike = spike.plus(1)) {
    spike.neuron.restIfIgnoring();
  }
}

/**
 * Only neurons that got an input event, spiked or were reached by a spike can differ from rest. Going there one by
 * one is faster than filling all of memory after a trial that reached little, and slower after one that reached much.
 */
function putToRest(spikeCount: u32): void {
  // Each neuron that spiked once, in the list that is no longer needed; h = infinity marks those that are in it.
  let reached: u32 = 0;
  let end = Entry.at(hotNeurons, 0);
  for (let q: u32 = 0; q < spikeCount && reached <= FEW_CONNECTIONS; q++) {
    const neuron = Entry.at(spikes, q).neuron;
    const isNew = <u32>(neuron.h != Infinity);
    neuron.h = Infinity;
    end.neuron = neuron;
    end = end.plus(isNew);
    reached += isNew * Row.of(neuron).connectionCount;
  }
  if (reached > FEW_CONNECTIONS) {
    putAllToRest();
    return;
  }
  for (let q: u32 = 0; q < eventCount; q++) InputEvent.neuronOf(q).rest();
  for (let spiked = Entry.at(hotNeurons, 0); spiked != end; spiked = spiked.plus(1)) {
    spiked.neuron.rest();
    const row = Row.of(spiked.neuron);
    const endOfRow = row.end;
    for (let pair = row.begin; pair != endOfRow; pair = pair.next) {
      pair.firstTarget.rest();
      pair.secondTarget.rest();
    }
  }
}
