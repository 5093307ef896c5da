/**
 * The network of engine/network.ts at the speed of memory: a whole brain, step by step, where only what
 * happens costs anything.
 *
 * Coordinates. Beside v keep u = v + g/3 and h = g/3, so v = u - h. Without input u decays with the membrane
 * alone and h with the synapse alone, because g/3 is exactly the part of v that g will still become. Both are
 * stored multiplied by the growth that undoes their decay since the start of the run (StepFactors), so the
 * stored numbers change only when something arrives: no clock runs for a neuron that is left in peace.
 *
 * Hot neurons. With decays a and s of a step, a neuron at v <= threshold is at v' = a u - s h one step later.
 * As h >= u - threshold, v' <= (a - s) u + s threshold: to pass the threshold it needs
 * u > threshold (1 - s) / (a - s), some 9.36 mV. That is one comparison with a line that all neurons share
 * (uOfHot), and only neurons above it are looked at.
 *
 * What holds at the end of every step:
 *  - The hot list has every neuron whose u is above the line and every neuron that was just kicked, each once.
 *  - A refractory neuron has u = -infinity: it cannot be hot, and what arrives is lost, as it should be. It is
 *    put to rest when its time is over, before anything is delivered in that step.
 *  - Spikes stand in the list by step, within a step those that excite before those that inhibit.
 * Within a step excitation comes before kicks and inhibition after both, so u passes the line upwards at most
 * once, and the list needs no marks to stay free of doubles. Integrals are sums of the same products in the
 * same order wherever this runs: WebAssembly fuses and re-associates nothing.
 */
import {
  Entry,
  Kick,
  Neuron,
  Row,
  StepFactors,
  StepSpikes,
  hotNeurons,
  inhibitorySpikes,
  putAllToRest,
  isExcitatory,
  isStimulated,
  layOutNetwork,
  layOutRun,
  reachSpikes,
  spikes,
} from './memory';
import { writeRaster } from './raster';

/** For the host: where it finds what it fills and what it reads. */
export {
  connections,
  excites,
  factors,
  kickNeurons,
  kickSteps,
  layOutNetwork,
  layOutRun,
  rowStarts,
  rasterNeurons,
  rasterSteps,
  stimulated,
} from './memory';

/** So many are cleared one by one in about the time that filling the memory of a whole brain takes. */
const FEW_CONNECTIONS: u32 = 100_000;

let thresholdMv: f64;
let delaySteps: u32;
let refractorySteps: u32;

let kickCount: u32;
let nextKick: u32;
let hotCount: u32;
/** False from the beginning of a run to its end, so that a run which was cut short leaves nothing behind. */
let allAtRest: bool = true;

export function setConstants(threshold: f64, delay: u32, refractory: u32): void {
  thresholdMv = threshold;
  delaySteps = delay;
  refractorySteps = refractory;
}

/**
 * Runs the network for a number of steps from rest.
 * @returns the number of spikes; each step's are sorted by neuron
 */
export function simulate(stepCount: u32, kicks: u32): u32 {
  if (!allAtRest) putAllToRest();
  allAtRest = false;
  hotCount = 0;
  nextKick = 0;
  kickCount = kicks;
  StepSpikes.of(0).begin = 0;

  for (let step: u32 = 0; step < stepCount; step++) {
    if (step >= refractorySteps) endRefractoriness(step - refractorySteps);
    findSpikes(step);
    if (step >= delaySteps) {
      const arriving = StepSpikes.of(step - delaySteps);
      excite(step, arriving.begin, arriving.firstInhibitory);
      kick(step);
      inhibit(step, arriving.firstInhibitory, arriving.end);
    } else {
      kick(step);
    }
    resetStimulated(step);
  }

  const spikeCount = StepSpikes.of(stepCount).begin;
  putToRest(spikeCount);
  allAtRest = true;
  writeRaster(stepCount, spikeCount);
  return spikeCount;
}

/** Looks at every hot neuron: it spikes, stays hot or drops out of the list. */
function findSpikes(step: u32): void {
  const factors = StepFactors.of(step);
  const mvOfU = factors.mvOfU;
  const mvOfH = factors.mvOfH;
  const uOfHot = factors.uOfHot;
  const threshold = thresholdMv;
  const ofStep = StepSpikes.of(step);
  reachSpikes(ofStep.begin + hotCount + 1);

  let excitatory = Entry.at(spikes, ofStep.begin);
  const firstInhibitory = Entry.at(inhibitorySpikes, 0);
  let inhibitory = firstInhibitory;
  let kept = Entry.at(hotNeurons, 0);
  const end = Entry.at(hotNeurons, hotCount);
  for (let hot = kept; hot != end; hot = hot.plus(1)) {
    const i = hot.neuron;
    const neuron = Neuron.at(i);
    if (neuron.u * mvOfU - neuron.h * mvOfH > threshold) {
      neuron.ignoreInput();
      // Written to both lists and counted in one: whether a spike excites is beyond a processor's guess.
      excitatory.neuron = i;
      inhibitory.neuron = i;
      excitatory = excitatory.plus(isExcitatory(i));
      inhibitory = inhibitory.plus(1 - isExcitatory(i));
    } else {
      kept.neuron = i;
      kept = kept.plus(<u32>(neuron.u > uOfHot));
    }
  }
  hotCount = kept.placeIn(hotNeurons);
  ofStep.firstInhibitory = excitatory.placeIn(spikes);
  for (let spike = firstInhibitory; spike != inhibitory; spike = spike.plus(1)) {
    excitatory.neuron = spike.neuron;
    excitatory = excitatory.plus(1);
  }
  ofStep.end = excitatory.placeIn(spikes);
}

/** Delivers excitatory spikes, and lists the neurons that they make hot. */
function excite(step: u32, firstSpike: u32, endSpike: u32): void {
  const uhOfSynapse = StepFactors.of(step).uhOfSynapse;
  const uOfHot = f64x2.splat(StepFactors.of(step).uOfHot);
  let hotEnd = Entry.at(hotNeurons, hotCount);
  for (let q = firstSpike; q < endSpike; q++) {
    const row = Row.of(Entry.at(spikes, q).neuron);
    const end = row.end;
    for (let connection = row.begin; connection != end; connection = connection.next) {
      const target = connection.target;
      const neuron = Neuron.at(target);
      const before = neuron.uh;
      const after = f64x2.add(before, f64x2.mul(f64x2.splat(connection.signedSynapses), uhOfSynapse));
      neuron.uh = after;
      // Written always and kept where u has passed the line: cheaper than a branch that is often mispredicted.
      hotEnd.neuron = target;
      hotEnd = hotEnd.plus(hasPassed(uOfHot, before, after));
    }
  }
  hotCount = hotEnd.placeIn(hotNeurons);
}

/** 1 where u was not above a line before and is after, else 0. */
function hasPassed(line: v128, before: v128, after: v128): u32 {
  const u = v128.shuffle<f64>(after, before, 0, 2);
  return <u32>(i64x2.bitmask(f64x2.gt(u, line)) == 1);
}

/** Delivers inhibitory spikes; they can make no neuron hot. */
function inhibit(step: u32, firstSpike: u32, endSpike: u32): void {
  const uhOfSynapse = StepFactors.of(step).uhOfSynapse;
  for (let q = firstSpike; q < endSpike; q++) {
    const row = Row.of(Entry.at(spikes, q).neuron);
    const end = row.end;
    for (let connection = row.begin; connection != end; connection = connection.next) {
      const neuron = Neuron.at(connection.target);
      const synapses = f64x2.splat(connection.signedSynapses);
      neuron.uh = f64x2.add(neuron.uh, f64x2.mul(synapses, uhOfSynapse));
    }
  }
}

/** Adds the kicks of a step. A kicked neuron may be above the threshold whatever its u: it is hot. */
function kick(step: u32): void {
  const factors = StepFactors.of(step);
  for (; nextKick < kickCount && Kick.stepOf(nextKick) == step; nextKick++) {
    const i = Kick.neuronOf(nextKick);
    const neuron = Neuron.at(i);
    if (!(neuron.u > factors.uOfHot)) Entry.at(hotNeurons, hotCount++).neuron = i;
    neuron.u += factors.uOfKick;
  }
}

/** Stimulated neurons have no refractory period: only what arrives in the step of the spike itself is lost. */
function resetStimulated(step: u32): void {
  const ofStep = StepSpikes.of(step);
  for (let q = ofStep.begin; q < ofStep.end; q++) {
    const i = Entry.at(spikes, q).neuron;
    if (isStimulated(i)) Neuron.at(i).rest();
  }
}

function endRefractoriness(stepOfSpike: u32): void {
  const ofStep = StepSpikes.of(stepOfSpike);
  for (let q = ofStep.begin; q < ofStep.end; q++) {
    const i = Entry.at(spikes, q).neuron;
    if (!isStimulated(i)) Neuron.at(i).rest();
  }
}

/**
 * Only what was kicked, spiked or was reached by a spike can differ from rest. Going there one by one is faster
 * than filling all of memory after a run that reached little, and slower after one that reached much.
 */
function putToRest(spikeCount: u32): void {
  let reached: u32 = 0;
  for (let q: u32 = 0; q < spikeCount; q++) reached += Row.of(Entry.at(spikes, q).neuron).length;
  if (reached > FEW_CONNECTIONS) {
    putAllToRest();
    return;
  }
  for (let q: u32 = 0; q < kickCount; q++) Neuron.at(Kick.neuronOf(q)).rest();
  for (let q: u32 = 0; q < spikeCount; q++) {
    const i = Entry.at(spikes, q).neuron;
    Neuron.at(i).rest();
    const row = Row.of(i);
    const end = row.end;
    for (let connection = row.begin; connection != end; connection = connection.next) {
      Neuron.at(connection.target).rest();
    }
  }
}
