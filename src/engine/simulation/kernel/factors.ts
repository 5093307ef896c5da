/**
 * The factors of each step. u and h (kernel.ts) are stored multiplied by a growth that cancels their decay. So each
 * step has other factors for converting them to mV and back.
 *
 * Trials with the same constants have the same factors. They are stored in a table, which is extended when a longer
 * trial comes. A trial in segments may be longer than the table: it computes the factors of each segment from the
 * growth at the segment's beginning.
 *
 * After 3.5 s the growth would exceed the range of doubles. Before that, u and h of all neurons and their growth are
 * multiplied by the same powers of two. This changes only exponents, so the result stays the same; only values below
 * 1e-150 mV may be lost.
 */
import { Factors, Neuron, sentinel } from './memory';

/** Reviews happen in multiples of this step. A candidate that cannot spike before the next review waits for it. */
export const STEPS_BETWEEN_REVIEWS: u32 = 8;
/** A relative margin: far above the rounding errors of a trial (1e-10), and too small to add candidates. */
export const MARGIN: f64 = 1e-6;

/** 2^512. The growth of h reaches it after 1.8 s, when that of u is 2^128. */
const MAX_GROWTH: f64 = 1.3407807929942597e154;
/** 2^-128 for u and 2^-512 for h, so the fourth power of u and h shrink alike. */
const SHRINKAGE = f64x2(2.938735877055719e-39, 7.458340731200207e-155);

/** For u and h: the share that remains after a step, and step / time constant. */
let decay: v128;
let decayRate: v128;
let synapseMv: f64;
let inputEventMv: f64;
let leastMv: f64;

/** The growth of u and h in the first step that is not in the table. */
let growth: v128 = f64x2.splat(1);
let knownSteps: u32 = 0;
/** The growth in the first step after the segment. The host stores it with the state of the trial. */
export let growthOfU: f64 = 1;
export let growthOfH: f64 = 1;

/**
 * @param membraneDecay the share of u that remains after a step
 * @param synapseDecay the share of h that remains after a step
 * @param membraneRate step / membrane time constant
 * @param synapseRate step / synaptic time constant
 * @param synapse the amount that one synapse adds to u and to h, in mV
 * @param inputEvent the amount that one input event adds to u, in mV
 * @param threshold in mV above rest
 */
export function setFactors(
  membraneDecay: f64,
  synapseDecay: f64,
  membraneRate: f64,
  synapseRate: f64,
  synapse: f64,
  inputEvent: f64,
  threshold: f64,
): void {
  decay = f64x2.replace_lane(f64x2.splat(membraneDecay), 1, synapseDecay);
  decayRate = f64x2.replace_lane(f64x2.splat(membraneRate), 1, synapseRate);
  synapseMv = synapse;
  inputEventMv = inputEvent;
  leastMv = ((4 * threshold) / 3) * (1 - MARGIN);
  growth = f64x2.splat(1);
  knownSteps = 0;
}

/** Extends the table to a number of steps. */
export function computeFactors(steps: u32): void {
  Factors.useTable();
  for (; knownSteps < steps; knownSteps++) growth = computeStep(knownSteps, growth);
}

/** @param firstStep the kernel's number of the segment's first step; see beginSegment in kernel.ts */
export function computePartFactors(firstStep: u32, segmentSteps: u32): void {
  Factors.usePart(firstStep);
  let growth = f64x2.replace_lane(f64x2.splat(growthOfU), 1, growthOfH);
  for (let step = firstStep; step < firstStep + segmentSteps; step++) growth = computeStep(step, growth);
  growthOfU = f64x2.extract_lane(growth, 0);
  growthOfH = f64x2.extract_lane(growth, 1);
}

/** @returns the growth in the next step. Dividing step by step gives the same bits on every machine */
function computeStep(step: u32, growth: v128): v128 {
  const factors = Factors.of(step);
  const mvOfUh = f64x2.div(f64x2.splat(1), growth);
  factors.uhOfSynapse = f64x2.mul(f64x2.splat(synapseMv), growth);
  factors.mvOfUh = mvOfUh;
  // The number of steps from this one to the last before the next review.
  const skippedSteps = STEPS_BETWEEN_REVIEWS - 1 - (step % STEPS_BETWEEN_REVIEWS);
  const change = f64x2.mul(f64x2.splat(<f64>skippedSteps), decayRate);
  factors.boundMvOfUh = f64x2.mul(mvOfUh, f64x2.sub(f64x2.splat(1), change));
  factors.uOfInputEvent = inputEventMv * f64x2.extract_lane(growth, 0);
  factors.leastU = leastMv * f64x2.extract_lane(growth, 0);
  const next = f64x2.div(growth, decay);
  return f64x2.extract_lane(next, 1) >= MAX_GROWTH ? f64x2.mul(next, SHRINKAGE) : next;
}

/** Multiplies u and h of all neurons by the factors that their growth was multiplied by. */
export function shrinkState(): void {
  for (let neuron = Neuron.at(0); neuron != sentinel; neuron = neuron.next) {
    neuron.uh = f64x2.mul(neuron.uh, SHRINKAGE);
  }
}
