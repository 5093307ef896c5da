import { isPlain, v1Protocol, type Protocol } from './protocol.js';

const PLAIN = v1Protocol(Uint32Array.of(1), { nominalRateHz: 1, intensity: 1, seed: 1 }, 500);
const NEURONS = { sources: Uint32Array.of(0), targets: Uint32Array.of(1) };

it.each<[string, Partial<Protocol>, boolean]>([
  ['inputs and silenced neurons', { silenced: Uint32Array.of(2), eventBudget: 1 }, true],
  [
    'given events',
    { inputs: [{ neurons: NEURONS.sources, train: { kind: 'spikes', steps: new Uint32Array(1) } }] },
    true,
  ],
  ['constants', { constants: { delaySteps: 1 } }, false],
  ['a rewiring', { wiring: { seed: 1 } }, false],
  ['overrides', { overrides: [{ ...NEURONS, weight: 0 }] }, false],
  [
    'a window of silence',
    { silencedWindows: [{ neurons: NEURONS.sources, startStep: 0, endStep: 1 }] },
    false,
  ],
  [
    'a train of another kind',
    { inputs: [{ neurons: NEURONS.sources, train: { kind: 'unknown' } as never }] },
    false,
  ],
])('a protocol with %s: plain %j', (_, members, plain) => {
  expect(isPlain({ ...PLAIN, ...members })).toBe(plain);
});
