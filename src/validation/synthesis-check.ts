/**
 * How far the responses of a synthetic brain may differ from those of the tables, and how far they do. The
 * tolerances were measured on brains sampled with other seeds; docs/synthesis.md has the measurements.
 */
import type { ChannelId } from '../answers/v1/populations.js';
import { stimulationOfTypes, type Response, type Stimulation } from './responses.js';

/** Populations that the statistics were not tuned for; docs/synthesis.md says how far. */
export const UNTUNED_STIMULATIONS: readonly Stimulation[] = [
  ['LC6', ['LC6']],
  ['LC11', ['LC11']],
  ['LC12', ['LC12']],
  ['LC16', ['LC16']],
  ['LC10', ['LC10*']],
  ['LPLC1', ['LPLC1']],
  ['LPLC4', ['LPLC4']],
  ['ORN_VA1v', ['ORN_VA1v']],
  ['ORN_DL5', ['ORN_DL5']],
  ['JO-C and JO-E', ['JO-C*', 'JO-E*']],
  ['BM_InOm', ['BM_InOm']],
  ['T4a', ['T4a']],
  ['Mi1', ['Mi1']],
  ['EPG', ['EPG']],
].map(([name, types]) => stimulationOfTypes(name as string, types as string[], 150));

/** Responding neurons, in % of those of the tables, for means of four runs. */
export const RESPONDING_TOLERANCE_PERCENT: Readonly<Record<string, number>> = {
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

/** Rates of channels in Hz, for means of four runs. */
export const RATE_TOLERANCES_HZ: readonly {
  readonly stimulation: string;
  readonly channel: ChannelId;
  readonly toleranceHz: number;
}[] = [
  { stimulation: 'loom', channel: 'escape', toleranceHz: 10 },
  { stimulation: 'loom', channel: 'wing', toleranceHz: 10 },
  { stimulation: 'song', channel: 'escape', toleranceHz: 6 },
  { stimulation: 'sugar', channel: 'stop', toleranceHz: 6 },
  { stimulation: 'sugar', channel: 'proboscis', toleranceHz: 6 },
];

export interface Deviation {
  /** What was compared, such as `sugar` or `loom escape`. */
  readonly name: string;
  readonly measured: number;
  readonly synthetic: number;
  /** In % for responding neurons, in Hz for channels. */
  readonly difference: number;
  readonly unit: '%' | 'Hz';
  /** Infinity where nothing is promised. */
  readonly tolerance: number;
}

/** Every response of a synthetic brain beside that of the tables. */
export function deviations(measured: readonly Response[], synthetic: readonly Response[]): Deviation[] {
  const responding = measured.map((response, i): Deviation => {
    const found = synthetic[i]!;
    return {
      name: response.stimulation,
      measured: response.responding,
      synthetic: found.responding,
      difference: 100 * (found.responding / response.responding - 1),
      unit: '%',
      tolerance: RESPONDING_TOLERANCE_PERCENT[response.stimulation] ?? Infinity,
    };
  });
  const rateOf = (responses: readonly Response[], stimulation: string, channel: ChannelId): number =>
    responses.find((each) => each.stimulation === stimulation)!.rates[channel];
  const rates = RATE_TOLERANCES_HZ.map(({ stimulation, channel, toleranceHz }): Deviation => {
    const [expected, found] = [measured, synthetic].map((each) => rateOf(each, stimulation, channel));
    return {
      name: `${stimulation} ${channel}`,
      measured: expected!,
      synthetic: found!,
      difference: found! - expected!,
      unit: 'Hz',
      tolerance: toleranceHz,
    };
  });
  return [...responding, ...rates];
}
