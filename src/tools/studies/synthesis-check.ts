/**
 * Compares the responses of a synthetic brain with those of the tables, each with a tolerance. The tolerances were measured
 * on brains with other seeds; docs/wiring.md has the measurements.
 */
import { own } from '../../engine/own.js';
import type { ChannelId } from '../../experiments/presets/populations.js';
import { ratesOf, respondingIn } from './studies.js';
import { neuronsByIdOf, NOMINAL_RATE_HZ, type Subject } from './subject.js';

/** Populations for which the statistics were not tuned, by name; docs/wiring.md explains the tuning. */
export const UNTUNED_POPULATIONS: Readonly<Record<string, readonly string[]>> = {
  LC6: ['LC6'],
  LC11: ['LC11'],
  LC12: ['LC12'],
  LC16: ['LC16'],
  LC10: ['LC10*'],
  LPLC1: ['LPLC1'],
  LPLC4: ['LPLC4'],
  ORN_VA1v: ['ORN_VA1v'],
  ORN_DL5: ['ORN_DL5'],
  'JO-C and JO-E': ['JO-C*', 'JO-E*'],
  BM_InOm: ['BM_InOm'],
  T4a: ['T4a'],
  Mi1: ['Mi1'],
  EPG: ['EPG'],
};

export type Response = ReturnType<typeof meanResponses>[number];

/** @returns the responses at intensity 1, for each stimulus of the service and each untuned population */
export function meanResponses(subject: Subject, seeds: readonly number[]) {
  const { connectome } = subject;
  const stimulations = [
    ...connectome.metadata.stimuli.map(
      ({ id, nominalRateHz }) => [id, connectome.stimulusNeurons(id), nominalRateHz] as const,
    ),
    ...Object.entries(UNTUNED_POPULATIONS).map(
      ([name, types]) => [name, neuronsByIdOf(connectome, types), NOMINAL_RATE_HZ] as const,
    ),
  ];
  return stimulations.map(([stimulation, neurons, rateHz]) => {
    const runs = seeds.map((seed) => subject.excite(neurons, rateHz, 1, seed));
    return { stimulation, responding: respondingIn(runs), rates: ratesOf(runs) };
  });
}

/** Tolerance of responding neurons, in % of those of the tables, for means of four runs. */
const RESPONDING_TOLERANCE_PERCENT: Readonly<Record<string, number>> = {
  sugar: 5,
  bitter: 5,
  song: 5,
  colour: 5,
  touch: 8,
  pheromone: 10,
  loom: 12,
  heat: 15,
  food: 16,
  humid: 25,
};

/** Tolerance of channel rates, for means of four runs. */
const RATE_TOLERANCES_HZ: readonly (readonly [
  stimulation: string,
  channel: ChannelId,
  toleranceHz: number,
])[] = [
  ['loom', 'escape', 10],
  ['loom', 'wing', 10],
  ['song', 'escape', 6],
  ['sugar', 'stop', 6],
  ['sugar', 'proboscis', 6],
];

export interface Deviation {
  /** Name of the response, such as `sugar` or `loom escape`. */
  readonly name: string;
  readonly measured: number;
  readonly synthetic: number;
  /** In % for responding neurons, in Hz for channels. */
  readonly difference: number;
  readonly unit: '%' | 'Hz';
  /** Infinity if there is no tolerance. */
  readonly tolerance: number;
}

/** Every response of a synthetic brain beside that of the tables. */
export function deviations(measured: readonly Response[], synthetic: readonly Response[]): Deviation[] {
  const responding = measured.map(({ stimulation: name, responding: { mean: expected } }, i): Deviation => {
    const found = synthetic[i]!.responding.mean;
    const difference = 100 * (found / expected - 1);
    const tolerance = own(RESPONDING_TOLERANCE_PERCENT, name) ?? Infinity;
    return { name, measured: expected, synthetic: found, difference, unit: '%', tolerance };
  });
  const rates = RATE_TOLERANCES_HZ.map(([stimulation, channel, tolerance]): Deviation => {
    const at = measured.findIndex((each) => each.stimulation === stimulation);
    const expected = measured[at]!.rates[channel].mean;
    const found = synthetic[at]!.rates[channel].mean;
    const name = `${stimulation} ${channel}`;
    const difference = found - expected;
    return { name, measured: expected, synthetic: found, difference, unit: 'Hz', tolerance };
  });
  return [...responding, ...rates];
}
