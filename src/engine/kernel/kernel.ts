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
  forgetAllNeurons,
  hotNeuronsBefore,
  isExcitatory,
  isStimulated,
  layOutNetwork,
  layOutRun,
  moveInhibitorySpikesTo,
  reachSpikes,
} from './memory';
import { sortAscending } from './sort';

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
  spikes,
  stepSpikes,
  stimulated,
} from './memory';

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
  if (!allAtRest) forgetAllNeurons();
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
  for (let step: u32 = 0; step < stepCount; step++) {
    const spikes = StepSpikes.of(step);
    sortAscending(Entry.ofSpikes(spikes.begin), spikes.end - spikes.begin);
  }
  return spikeCount;
}

/** Looks at every hot neuron: it spikes, stays hot or drops out of the list. */
function findSpikes(step: u32): void {
  const factors = StepFactors.of(step);
  const mvOfU = factors.mvOfU;
  const mvOfH = factors.mvOfH;
  const uOfHot = factors.uOfHot;
  const threshold = thresholdMv;
  const spikes = StepSpikes.of(step);
  reachSpikes(spikes.begin + hotCount + 1);

  let excitatory = spikes.begin;
  let inhibitory: u32 = 0;
  let stillHot: u32 = 0;
  for (let q: u32 = 0; q < hotCount; q++) {
    const i = Entry.ofHotNeurons(q).neuron;
    const neuron = Neuron.at(i);
    if (neuron.u * mvOfU - neuron.h * mvOfH > threshold) {
      neuron.ignoreInput();
      // Written to both lists and counted in one: whether a spike excites is beyond a processor's guess.
      Entry.ofSpikes(excitatory).neuron = i;
      Entry.ofInhibitorySpikes(inhibitory).neuron = i;
      excitatory += isExcitatory(i);
      inhibitory += 1 - isExcitatory(i);
    } else {
      Entry.ofHotNeurons(stillHot).neuron = i;
      stillHot += <u32>(neuron.u > uOfHot);
    }
  }
  hotCount = stillHot;
  spikes.firstInhibitory = excitatory;
  moveInhibitorySpikesTo(excitatory, inhibitory);
  spikes.end = excitatory + inhibitory;
}

/** Delivers excitatory spikes, and lists the neurons that they make hot. */
function excite(step: u32, firstSpike: u32, endSpike: u32): void {
  const factors = StepFactors.of(step);
  const uOfSynapse = factors.uOfSynapse;
  const hOfSynapse = factors.hOfSynapse;
  const uOfHot = factors.uOfHot;
  let hotEnd = Entry.ofHotNeurons(hotCount);
  for (let q = firstSpike; q < endSpike; q++) {
    const row = Row.of(Entry.ofSpikes(q).neuron);
    const end = row.end;
    for (let connection = row.begin; connection != end; connection = connection.next) {
      const target = connection.target;
      const synapses = connection.signedSynapses;
      const neuron = Neuron.at(target);
      const before = neuron.u;
      const after = before + synapses * uOfSynapse;
      neuron.u = after;
      neuron.h += synapses * hOfSynapse;
      // Written always and kept where u has passed the line: cheaper than a branch that is often mispredicted.
      hotEnd.neuron = target;
      hotEnd = hotEnd.plus((<u32>(after > uOfHot)) & (<u32>(before <= uOfHot)));
    }
  }
  hotCount = hotNeuronsBefore(hotEnd);
}

/** Delivers inhibitory spikes; they can make no neuron hot. */
function inhibit(step: u32, firstSpike: u32, endSpike: u32): void {
  const factors = StepFactors.of(step);
  const uOfSynapse = factors.uOfSynapse;
  const hOfSynapse = factors.hOfSynapse;
  for (let q = firstSpike; q < endSpike; q++) {
    const row = Row.of(Entry.ofSpikes(q).neuron);
    const end = row.end;
    for (let connection = row.begin; connection != end; connection = connection.next) {
      const synapses = connection.signedSynapses;
      const neuron = Neuron.at(connection.target);
      neuron.u += synapses * uOfSynapse;
      neuron.h += synapses * hOfSynapse;
    }
  }
}

/** Adds the kicks of a step. A kicked neuron may be above the threshold whatever its u: it is hot. */
function kick(step: u32): void {
  const factors = StepFactors.of(step);
  for (; nextKick < kickCount && Kick.stepOf(nextKick) == step; nextKick++) {
    const i = Kick.neuronOf(nextKick);
    const neuron = Neuron.at(i);
    if (!(neuron.u > factors.uOfHot)) Entry.ofHotNeurons(hotCount++).neuron = i;
    neuron.u += factors.uOfKick;
  }
}

/** Stimulated neurons have no refractory period: only what arrives in the step of the spike itself is lost. */
function resetStimulated(step: u32): void {
  const spikes = StepSpikes.of(step);
  for (let q = spikes.begin; q < spikes.end; q++) {
    const i = Entry.ofSpikes(q).neuron;
    if (isStimulated(i)) Neuron.at(i).rest();
  }
}

function endRefractoriness(stepOfSpike: u32): void {
  const spikes = StepSpikes.of(stepOfSpike);
  for (let q = spikes.begin; q < spikes.end; q++) {
    const i = Entry.ofSpikes(q).neuron;
    if (!isStimulated(i)) Neuron.at(i).rest();
  }
}

/** Only what was kicked, spiked or was reached by a spike can differ from rest. */
function putToRest(spikeCount: u32): void {
  for (let q: u32 = 0; q < kickCount; q++) Neuron.at(Kick.neuronOf(q)).rest();
  for (let q: u32 = 0; q < spikeCount; q++) {
    const i = Entry.ofSpikes(q).neuron;
    Neuron.at(i).rest();
    const row = Row.of(i);
    const end = row.end;
    for (let connection = row.begin; connection != end; connection = connection.next) {
      Neuron.at(connection.target).rest();
    }
  }
}
