import fc from 'fast-check';
import type { Wiring } from '../../src/engine/connectome/connectome.js';
import type { SimulationOptions } from '../../src/engine/simulation/simulation.js';
import type { InputEvents } from '../../src/engine/stimulus/input-events.js';
import type { NetworkConstants } from '../../src/engine/stimulus/protocol.js';
import { eventsOf, type Event } from './small-network.js';

const tenths = (min: number, max: number) => fc.integer({ min, max });

/** Bounds of the constants as documents have them. */
const constants: fc.Arbitrary<Partial<NetworkConstants>> = fc.record(
  {
    synapseMv: fc.constantFrom(0, 0.1925, 0.3575, 2),
    excitatoryScale: fc.constantFrom(0, 0.8, 1.5),
    inhibitoryScale: fc.constantFrom(0, 0.5, 1.5),
    thresholdMv: fc.constantFrom(-51.9, -50, -44.2, -30, 0),
    refractorySteps: fc.oneof(fc.constantFrom(0, 1, 30), tenths(0, 500)),
    delaySteps: fc.oneof(fc.constantFrom(1, 18, 25), tenths(1, 200)),
    inputEventMv: fc.constantFrom(0, 6, 68.75, 1000),
  },
  { requiredKeys: [] },
);

/** Changes of a network, and membranes that are recorded, in one trial. */
export interface Variation {
  readonly constants: Partial<NetworkConstants>;
  /** Shares of the neurons in 256ths, from a neuron on. */
  readonly overrides: readonly {
    from: number;
    sources: number;
    to: number;
    targets: number;
    weight: number;
  }[];
  readonly windows: readonly { from: number; neurons: number; startStep: number; endStep: number }[];
  readonly background: { every: number; eventMv: number } | undefined;
  readonly recordings: readonly {
    from: number;
    neurons: number;
    everySteps: number;
    startStep: number;
    endStep: number;
  }[];
}

const share = fc.nat(256);
export const variations: fc.Arbitrary<Variation> = fc.record({
  constants,
  overrides: fc.array(
    fc.record({
      from: share,
      sources: share,
      to: share,
      targets: share,
      weight: fc.constantFrom(0, -1, 0.3, 1, 1.7, -20),
    }),
    { maxLength: 4 },
  ),
  windows: fc.array(
    fc.record({ from: share, neurons: share, startStep: fc.nat(300), endStep: fc.nat(500) }),
    { maxLength: 4 },
  ),
  background: fc.option(fc.record({ every: tenths(1, 40), eventMv: fc.constantFrom(3, 20, 68.75) }), {
    nil: undefined,
  }),
  recordings: fc.array(
    fc.record({
      from: share,
      neurons: fc.constantFrom(0, 40, 40),
      everySteps: tenths(1, 30),
      startStep: fc.nat(100),
      endStep: fc.nat(400),
    }),
    { maxLength: 3 },
  ),
});

/** Neurons from a place on, around the end. */
function neuronsOf(count: number, from: number, of256: number): Uint32Array {
  const length = Math.ceil((count * of256) / 256);
  const first = Math.floor((count * from) / 257);
  return Uint32Array.from({ length }, (_, k) => (first + k) % count).sort();
}

export function applied(
  { neuronCount: n }: Wiring,
  events: InputEvents,
  variation: Variation,
  durationSteps: number,
): [InputEvents, SimulationOptions] {
  const every = variation.background?.every;
  const background: Event[] = [];
  for (let step = 0; every !== undefined && step < durationSteps; step += every) {
    for (let i = step % 7; i < n; i += 11) background.push([step, i]);
  }
  const inputs = {
    ...events,
    ...(variation.background && {
      background: { ...eventsOf([], background), eventMv: variation.background.eventMv },
    }),
  };
  return [
    inputs,
    {
      durationSteps,
      constants: variation.constants,
      overrides: variation.overrides.map(({ from, sources, to, targets, weight }) => ({
        sources: neuronsOf(n, from, sources),
        targets: neuronsOf(n, to, targets),
        weight,
      })),
      silencedWindows: variation.windows.map(({ from, neurons, startStep, endStep }) => ({
        neurons: neuronsOf(n, from, neurons),
        startStep,
        endStep,
      })),
      recordings: variation.recordings.map(({ from, neurons, ...recording }) => ({
        neurons: neuronsOf(n, from, neurons),
        ...recording,
      })),
    },
  ];
}
