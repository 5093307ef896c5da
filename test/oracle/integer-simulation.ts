import type { Wiring } from '../../src/engine/connectome/connectome.js';
import {
  INPUT_EVENT_SYNAPSES,
  MAX_TOP_LIMB,
  LIMB_BASE,
  LIGHT_FLOAT_BELOW,
  LIGHT_SYNAPSES,
  MARGIN_UNITS,
  MEMBRANE,
  potentialBound,
  QUIET_BELOW,
  SYNAPSE,
  THRESHOLD_UNITS,
  toLimbs,
  UNITS_PER_SYNAPSE,
  WINDOW_STEPS,
  type Limbs,
  type WindowDecay,
} from '../../src/engine/simulation/gpu/number-format.js';
import { REFRACTORY_STEPS } from '../../src/engine/simulation/network.js';
import type { InputEvents } from '../../src/engine/stimulus/input-events.js';
import type { Event } from '../support/small-network.js';

/** Rounds x * D / 2^48 to the nearest integer, like carries of balanced limbs: the boundary differs by 1.2e-4. */
export const ROUNDING = 0x800800800800n;
/** A synapse adds 2^32 units, the decays of arrivals have 44 bits, and the sum is divided by 2^48. */
const ARRIVAL_SHIFT = 36n;

/** One step of decay, exactly as the kernels compute it. */
export function decayed(x: bigint, { stepLoss }: WindowDecay): bigint {
  return x + ((ROUNDING - x * stepLoss) >> 48n);
}

/**
 * The formula for a whole window, exactly as the kernels compute it.
 * @param synapses the signed synapses that arrive in each step of the window
 */
export function afterWindow(
  x: bigint,
  synapses: readonly number[],
  { windowLoss, arrivalUnits }: WindowDecay,
): bigint {
  const arrived = arrivalUnits.reduce((sum, units, step) => sum + units * BigInt(synapses[step]!), 0n);
  return x + ((ROUNDING - x * windowLoss + (arrived << ARRIVAL_SHIFT)) >> 48n);
}

export function fromLimbs([x0, x1, x2, x3]: Limbs): bigint {
  return BigInt(x0) + (BigInt(x1) << 12n) + (BigInt(x2) << 24n) + (BigInt(x3) << 36n);
}

/** The two float32 that store a value: x3 * 4096 + x2, and x1 * 4096 + x0. */
export function toFloats(x: bigint): readonly [high: number, low: number] {
  const [x0, x1, x2, x3] = toLimbs(x);
  return [x3 * LIMB_BASE + x2, x1 * LIMB_BASE + x0];
}

export interface IntegerSimulation {
  readonly spikes: Event[];
  /** The neurons whose v came within the margin of the threshold, or whose state left its range. */
  readonly uncertain: Set<number>;
  /** The state at the end: u and h of every neuron, in units. */
  readonly u: bigint[];
  readonly h: bigint[];
  /**
   * The numbers of a neuron's windows with input that the formula computed: without any step, and after steps that
   * looked for spikes.
   */
  readonly quietWindows: number;
  readonly steppedWindows: number;
}

/** The synapses and input events that arrive at a neuron in a window. */
class Arrivals {
  readonly synapses = new Array<number>(WINDOW_STEPS).fill(0);
  readonly inputEvents = new Array<number>(WINDOW_STEPS).fill(0);
  exciting = 0;
  all = 0;
  events = 0;

  add(step: number, synapses: number): void {
    this.synapses[step]! += synapses;
    this.exciting += Math.max(0, synapses);
    this.all += Math.abs(synapses);
  }

  addEvent(step: number): void {
    this.inputEvents[step]!++;
    this.events++;
  }
}

/**
 * The GPU engine's integers in BigInt, as a loop over windows, neurons and steps, without limbs, batches, masks or
 * hubs. Tests compare the kernels with it, bit for bit.
 * @param durationSteps a multiple of a window
 */
export function simulateInIntegers(
  wiring: Wiring,
  inputEvents: InputEvents,
  durationSteps: number,
  silenced: Uint32Array = new Uint32Array(0),
): IntegerSimulation {
  const n = wiring.neuronCount;
  const u = new Array<bigint>(n).fill(0n);
  const h = new Array<bigint>(n).fill(0n);
  const availableFrom = new Array<number>(n).fill(0);
  const isStimulated = new Set(inputEvents.stimulated);
  const isSilenced = new Set(silenced);
  const uncertain = new Set<number>();
  const spikes: Event[] = [];
  let emitted: Event[] = [];
  let nextEvent = 0;
  const atOnce = { quietWindows: 0, steppedWindows: 0 };

  const inRange = (x: bigint, i: number): bigint => {
    const [x0, x1, x2, top] = toLimbs(x);
    const clamped = Math.max(-MAX_TOP_LIMB, Math.min(MAX_TOP_LIMB, top));
    if (clamped !== top) uncertain.add(i);
    return fromLimbs([x0, x1, x2, clamped]);
  };

  for (let first = 0; first < durationSteps; first += WINDOW_STEPS) {
    const arrivals = Array.from({ length: n }, () => new Arrivals());
    for (const [step, pre] of emitted) {
      for (let c = wiring.rowStart[pre]!; c < wiring.rowStart[pre + 1]!; c++) {
        const synapses = wiring.signs[pre]! * wiring.synapseCounts[c]!;
        arrivals[wiring.targets[c]!]!.add(step + WINDOW_STEPS - first, synapses);
      }
    }
    for (; inputEvents.steps[nextEvent]! < first + WINDOW_STEPS; nextEvent++) {
      arrivals[inputEvents.neurons[nextEvent]!]!.addEvent(inputEvents.steps[nextEvent]! - first);
    }

    const emittedNow: Event[] = [];
    for (let i = 0; i < n; i++) {
      if (availableFrom[i]! >= first + WINDOW_STEPS) continue;
      const { synapses, inputEvents: kicks, exciting, all, events } = arrivals[i]!;
      const highs = () => [toFloats(u[i]!)[0], toFloats(h[i]!)[0]] as const;
      const isLight = () =>
        events === 0 && all <= LIGHT_SYNAPSES && highs().every((high) => Math.abs(high) < LIGHT_FLOAT_BELOW);
      const isQuiet = isLight() && potentialBound(...highs(), exciting) < QUIET_BELOW;
      // The state before the window, or after the neuron's last spike in it; and the input from then on.
      let begin = Math.max(first, availableFrom[i]!);
      let [uStepped, hStepped] = [u[i]!, h[i]!];
      for (let step = begin; !isQuiet && step < first + WINDOW_STEPS; step++) {
        if (step < availableFrom[i]!) continue;
        uStepped = decayed(uStepped, MEMBRANE);
        hStepped = decayed(hStepped, SYNAPSE);
        const above = uStepped - hStepped - THRESHOLD_UNITS;
        if (above < MARGIN_UNITS && above > -MARGIN_UNITS) uncertain.add(i);
        if (above > 0n) {
          spikes.push([step, i]);
          if (!isSilenced.has(i)) emittedNow.push([step, i]);
          u[i] = h[i] = uStepped = hStepped = 0n;
          availableFrom[i] = step + (isStimulated.has(i) ? 1 : REFRACTORY_STEPS);
          begin = availableFrom[i]!;
          continue;
        }
        const at = step - first;
        const withKick = synapses[at]! + kicks[at]! * INPUT_EVENT_SYNAPSES;
        hStepped = inRange(hStepped + BigInt(synapses[at]!) * UNITS_PER_SYNAPSE, i);
        uStepped = inRange(uStepped + BigInt(withKick) * UNITS_PER_SYNAPSE, i);
      }
      if (isLight()) {
        const taken = synapses.map((each, at) => (first + at < begin ? 0 : each));
        u[i] = afterWindow(u[i]!, taken, MEMBRANE);
        h[i] = afterWindow(h[i]!, taken, SYNAPSE);
        if (all > 0) atOnce[isQuiet ? 'quietWindows' : 'steppedWindows']++;
      } else {
        u[i] = uStepped;
        h[i] = hStepped;
      }
    }
    emitted = emittedNow;
  }
  spikes.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  return { spikes, uncertain, u, h, ...atOnce };
}
