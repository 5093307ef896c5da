/**
 * The growth of the coordinates of kernel.ts: u and h are stored multiplied by what undoes their decay since the
 * trial began, so what a synapse adds to them grows from step to step.
 *
 * Growth would leave the range of doubles after 3.5 s. Before that, u and h of all neurons and their growth are
 * divided by the same powers of two. That changes exponents and not a digit, so the trial goes on as if nothing had
 * happened; only numbers that stand for less than 1e-150 mV may be lost.
 */
import { Neuron, nobody } from './memory';

/** 2^512; the synapse's growth reaches it after 1.8 s, the membrane's is then 2^128. */
const LARGEST_GROWTH: f64 = 1.3407807929942597e154;
/** 2^-128 for u and 2^-512 for h. */
const SHRINKAGE = f64x2(2.938735877055719e-39, 7.458340731200207e-155);

/** Of u and h in a step. */
let decay: v128;
let synapseMv: f64;
let inputEventMv: f64;
let hotMv: f64;

/** Of u and h since the trial began. */
let growth: v128;
/** What one synapse adds to u and to h in this step. */
export let uhOfSynapse: v128;
/** v in mV above rest is u times the first of these minus h times the second. */
export let mvOfUh: v128;
export let uOfInputEvent: f64;
/** Only a neuron with more than this at the end of this step can spike in the next one. */
export let uOfHot: f64;

/**
 * @param synapse what one synapse adds to u and to h, in mV
 * @param inputEvent what one input event adds to u, in mV
 * @param hot the line above which a neuron is hot, in mV of u
 */
export function setGrowth(
  decayOfMembrane: f64,
  decayOfSynapse: f64,
  synapse: f64,
  inputEvent: f64,
  hot: f64,
): void {
  decay = f64x2.replace_lane(f64x2.splat(decayOfMembrane), 1, decayOfSynapse);
  synapseMv = synapse;
  inputEventMv = inputEvent;
  hotMv = hot;
}

/** To the first step of a trial. */
export function startGrowth(): void {
  growth = f64x2.splat(1);
  updateFactors();
}

/** To the next step. Growth comes from divisions in this order: the same bits everywhere. */
export function grow(): void {
  growth = f64x2.div(growth, decay);
  if (f64x2.extract_lane(growth, 1) >= LARGEST_GROWTH) shrink();
  updateFactors();
}

function shrink(): void {
  growth = f64x2.mul(growth, SHRINKAGE);
  for (let neuron = Neuron.at(0); neuron != nobody; neuron = neuron.next) {
    neuron.uh = f64x2.mul(neuron.uh, SHRINKAGE);
  }
}

function updateFactors(): void {
  uhOfSynapse = f64x2.mul(f64x2.splat(synapseMv), growth);
  mvOfUh = f64x2.div(f64x2.splat(1), growth);
  uOfInputEvent = inputEventMv * f64x2.extract_lane(growth, 0);
  uOfHot = hotMv * f64x2.extract_lane(growth, 0);
}
