import { bisectLeft } from 'd3-array';
import fc from 'fast-check';
import { compileKernel } from '../../src/workers/pool/kernel-file.js';
import { KernelEngine } from '../../src/engine/simulation/cpu/kernel-engine.js';
import type { TrialState } from '../../src/engine/simulation/cpu/trial-state.js';
import type { SimulationOptions, SpikeRaster } from '../../src/engine/simulation/simulation.js';
import type { InputEvents } from '../../src/engine/stimulus/input-events.js';
import { networkOf, recipes } from './network-recipe.js';
import { applied, variations } from './network-variation.js';
import { spikesOf, type Event } from './small-network.js';

export interface CutTrial {
  readonly spikes: Event[];
  readonly deliveredEvents: number;
  readonly stoppedAtStep: number | undefined;
  /** Samples of each recording. */
  readonly membranes: number[][];
  /** At the end, and all that it is there. */
  readonly state: TrialState;
  readonly bytes: Buffer;
}

/**
 * Simulates a trial in parts.
 * @param engines take the parts in turn
 * @param cuts steps in which a part begins, ascending, after the first
 * @param between is called between two parts
 */
export function simulateInParts(
  engines: readonly KernelEngine[],
  events: InputEvents,
  options: SimulationOptions,
  cuts: readonly number[],
  between: (engine: KernelEngine) => void = () => undefined,
): CutTrial {
  const { durationSteps } = options;
  const state = engines[0]!.newState(options.constants);
  const spikes: Event[] = [];
  const membranes: number[][] = options.recordings?.map(() => []) ?? [];
  const starts = [0, ...cuts];
  for (const [part, startStep] of starts.entries()) {
    const endStep = starts[part + 1] ?? durationSteps;
    const engine = engines[part % engines.length]!;
    engine.load(engine.newState(options.constants, state.memory));
    const { background } = events;
    const inPart = {
      ...events,
      ...partOf(events, startStep, endStep),
      ...(background && { background: { ...background, ...partOf(background, startStep, endStep) } }),
    };
    const trial = engine.advance(inPart, { ...options, startStep, durationSteps: endStep - startStep });
    trial.steps.forEach((step, at) => spikes.push([startStep + step, trial.neurons[at]!]));
    trial.membranes?.forEach((samples, at) => membranes[at]!.push(...samples));
    engine.save(state);
    const { deliveredEvents, stoppedAtStep } = trial;
    if (stoppedAtStep !== undefined || endStep === durationSteps) {
      return { spikes, deliveredEvents, stoppedAtStep, membranes, state, bytes: Buffer.from(state.bytes) };
    }
    between(engine);
  }
  throw new Error('the cuts are not before the end');
}

function partOf({ steps, neurons }: SpikeRaster, startStep: number, endStep: number): SpikeRaster {
  const [from, to] = [bisectLeft(steps, startStep), bisectLeft(steps, endStep)];
  return {
    steps: steps.subarray(from, to).map((step) => step - startStep),
    neurons: neurons.subarray(from, to),
  };
}

/** Shares of a trial at which it is cut, in 2^16ths, and steps between two cuts. */
const cutting = fc.record({
  places: fc.array(fc.nat(2 ** 16), { maxLength: 12 }),
  every: fc.option(fc.constantFrom(1, 7, 8, 18, 23, 50, 200), { nil: undefined }),
});

function cutsOf({ places, every }: { places: number[]; every: number | undefined }, steps: number): number[] {
  const cuts = new Set(places.map((place) => Math.floor((place * steps) / 2 ** 16)));
  for (let step = every ?? steps; step < steps; step += every ?? steps) cuts.add(step);
  return [...cuts].filter((step) => step > 0 && step < steps).sort((a, b) => a - b);
}

/** The result of a trial in typed arrays, which are compared at once. Comparing pairs took a third of the time. */
function inNumbers({
  spikes,
  deliveredEvents,
  stoppedAtStep,
  membranes,
}: Pick<CutTrial, 'spikes' | 'deliveredEvents' | 'stoppedAtStep' | 'membranes'>) {
  return {
    spikes: Uint32Array.from(spikes.flat()),
    deliveredEvents,
    stoppedAtStep,
    membranes: membranes.map((samples) => Float64Array.from(samples)),
  };
}

/**
 * Cuts trials of random networks anywhere: they have the spikes, the membranes and the state of the whole, whoever
 * computes their parts.
 * @returns spikes of all trials, and how many of them ended at their event budgets
 */
export function expectCutsToChangeNothing(numRuns: number): { spikes: number; stopped: number } {
  const kernel = compileKernel();
  let spikes = 0;
  let stopped = 0;
  fc.assert(
    fc.property(
      recipes,
      variations,
      fc.array(cutting, { minLength: 1, maxLength: 3 }),
      fc.nat(3000),
      (recipe, variation, cuttings, budgetPerStep) => {
        const steps = Math.min(recipe.steps, 1200);
        const { wiring, inputEvents, silenced } = networkOf({
          ...recipe,
          neurons: Math.min(recipe.neurons, 800),
          steps,
        });
        const [events, varied] = applied(wiring, inputEvents, variation, steps);
        const [one, other] = [new KernelEngine(kernel, wiring), new KernelEngine(kernel, wiring)];
        const whole = one.simulate(events, { ...varied, silenced });
        const eventBudget = Math.floor((whole.deliveredEvents * recipe.budget) / 256);
        const several: [InputEvents, SimulationOptions][] = [
          [events, { ...varied, silenced }],
          [events, { ...varied, eventBudget, eventBudgetPerStep: budgetPerStep }],
          [inputEvents, { durationSteps: steps, silenced }],
        ];
        for (const [given, options] of several) {
          const trial = one.simulate(given, options);
          const expected = inNumbers({
            spikes: spikesOf(trial),
            deliveredEvents: trial.deliveredEvents,
            stoppedAtStep: trial.stoppedAtStep,
            membranes: (trial.membranes ?? []).map((samples) => [...samples]),
          });
          const uncut = simulateInParts([one], given, options, []);
          expect(inNumbers(uncut)).toEqual(expected);
          for (const each of cuttings) {
            const cut = simulateInParts([one, other], given, options, cutsOf(each, steps), (engine) =>
              engine.simulate(given, { ...options, durationSteps: 30 }),
            );
            expect(inNumbers(cut)).toEqual(expected);
            // A trial that ends at its budget is never continued.
            if (trial.stoppedAtStep === undefined) expect(cut.bytes.equals(uncut.bytes)).toBe(true);
            else stopped++;
          }
          spikes += trial.steps.length;
        }
      },
    ),
    { seed: 783, numRuns },
  );
  return { spikes, stopped };
}
