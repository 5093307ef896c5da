/** The numbers that were published for this model, and what it gives here by the same protocol. */
import { NodeSetResolver } from '../connectome/node-set-resolver.js';
import { meanSd, type MeanSd } from '../mean-sd.js';
import { SYNAPSE_MV } from '../simulation/network.js';
import type { SpikeRaster } from '../simulation/simulation.js';
import { STEPS_PER_MS } from '../stimulus/protocol.js';
import { PUBLISHED_MN9 } from './published-rates.js';
import type { Subject } from './subject.js';

export const TRIALS = 30;
export const DURATION_MS = 1000;
const SEED = 783;

/** Counts as published: rows of a table of rates, so neurons with a spike in any trial. */
const RESPONDING_IN_ANY = `responding neurons, in any of ${TRIALS} trials`;
const RESPONDING_IN_ONE = 'responding neurons, mean of a trial';

/** Inputs in Hz by selector, a type whose outputs are cut, and what one synapse adds where it is not the usual. */
export interface Protocol {
  readonly ratesHz: Readonly<Record<string, number>>;
  readonly silenced?: string;
  readonly synapseMv?: number;
}

/** A name, and a selector of the neurons whose mean rate it is; one of the counts without a selector. */
type Readout = readonly [reads: string, selector?: string];

/** Words for whether tables without most pairs across the midline and without weak pairs can decide a result. */
const DECISIONS = {
  both: 'yes',
  weak: 'partly: weak pairs are missing',
  no: 'no: pairs across the midline are missing',
} as const;

/** A published range or word stands where that is all there is; undefined where nothing was published. */
type PublishedNumber = readonly [
  name: string,
  protocol: Protocol,
  readout: Readout,
  published: number | string | undefined,
  /** Tells if tables can decide it; of another data set the source. */
  decides: string,
];

/** Left and right here are those of the 783 classification, which calls the paper's right taste neurons left. */
const MN9_SAME_SIDE: Readout = ['MN9, same side (Hz)', '@MN9:left'];
const MN9_OTHER_SIDE: Readout = ['MN9, other side (Hz)', '@MN9:right'];
const GIANT_FIBRE: Readout = ['giant fibre (Hz)', 'DNp01'];
const rateOf = (set: string): Readout => [`${set} (Hz)`, `@${set}`];

const sugarAt = (rateHz: number, readout: Readout, published?: number): PublishedNumber =>
  [`sugar ${rateHz} Hz`, { ratesHz: { '@sugar': rateHz } }, readout, published, 'weak'] as const;
/** @param gain in the paper's robustness tests, of all synapses */
const sugarWithGain = (gain: number, published: number): PublishedNumber => [
  `sugar 100 Hz, ${gain} times ${SYNAPSE_MV} mV`,
  { ratesHz: { '@sugar': 100 }, synapseMv: gain * SYNAPSE_MV },
  MN9_OTHER_SIDE,
  published,
  'weak',
];
const LOOMING = { LC4: 100 };
const ALL_JONS = { ratesHz: { '@JO_CE': 140, '@JO_F': 140, '@JO_Dm': 140 } };

const PUBLISHED: readonly PublishedNumber[] = [
  ...PUBLISHED_MN9.other.map(([sugarHz, hz]) => sugarAt(sugarHz, MN9_OTHER_SIDE, hz)),
  ...PUBLISHED_MN9.same.map(([sugarHz, hz]) => sugarAt(sugarHz, MN9_SAME_SIDE, hz)),
  sugarWithGain(0.7, 33.5),
  sugarWithGain(1.3, 96.1),
  sugarAt(10, [RESPONDING_IN_ANY], 45),
  sugarAt(100, [RESPONDING_IN_ANY], 410),
  sugarAt(200, [RESPONDING_IN_ANY], 455),
  sugarAt(10, [RESPONDING_IN_ONE]),
  sugarAt(100, [RESPONDING_IN_ONE]),
  sugarAt(200, [RESPONDING_IN_ONE]),
  ['bitter 100 Hz', { ratesHz: { '@bitter': 100 } }, MN9_OTHER_SIDE, 0, 'weak'],
  ...[50, 100, 200].map((rateHz): PublishedNumber => [
    `sugar 100 Hz, bitter ${rateHz} Hz`,
    { ratesHz: { '@sugar': 100, '@bitter': rateHz } },
    MN9_OTHER_SIDE,
    'less than without bitter',
    'weak',
  ]),
  ['LC4 100 Hz', { ratesHz: LOOMING }, GIANT_FIBRE, '69 to 70', 'both'],
  ['LC4 100 Hz without PVLP122b', { ratesHz: LOOMING, silenced: 'PVLP122b' }, GIANT_FIBRE, 15, 'both'],
  ['JO-CE 150 Hz', { ratesHz: { '@JO_CE': 150 } }, rateOf('aBN1'), 50.8, 'no'],
  ['JO-F 150 Hz', { ratesHz: { '@JO_F': 150 } }, rateOf('aBN1'), 1.2, 'no'],
  ['all JONs 140 Hz', ALL_JONS, rateOf('aBN1'), 45.3, 'no'],
  ['all JONs 140 Hz', ALL_JONS, rateOf('aDN1'), 16.7, 'no'],
  ['all JONs 140 Hz', ALL_JONS, rateOf('aDN2'), 17.1, 'no'],
];

export interface PublishedResult {
  readonly name: string;
  readonly reads: string;
  readonly published: number | string | undefined;
  /** Over 30 trials of 1 s; a number of all of them together has no spread. */
  readonly ours: number | MeanSd;
  readonly decides: string;
}

/** A rate that others found, as the file of a data set has it. */
export interface PublishedRate {
  readonly name: string;
  /** Input in Hz by selector. */
  readonly rates_hz: Readonly<Record<string, number>>;
  /** Selector of the neurons whose mean rate it is. */
  readonly reads: string;
  readonly published: number;
  readonly synapse_mv?: number;
  readonly source: string;
}

/** Numbers that others published for a data set other than FlyWire's own tables. */
export function publishedFor(published: readonly PublishedRate[] = []): readonly PublishedNumber[] {
  return published.map(
    ({ name, rates_hz: ratesHz, reads, published: number, synapse_mv: synapseMv, source }) => [
      name,
      { ratesHz, ...(synapseMv !== undefined && { synapseMv }) },
      [`${reads} (Hz)`, reads],
      number,
      source,
    ],
  );
}

/** @param subject measured wiring with predicted signs, as published; numbers of others have conditions of their own */
export function publishedResults(
  subject: Subject,
  numbers: readonly PublishedNumber[] = PUBLISHED,
): PublishedResult[] {
  const sets = new NodeSetResolver(subject.connectome, { node_sets: {}, on_missing: 'skip' });
  const neuronsOf = (selector: string) => sets.neuronsIfAny(selector);
  const trialsOf = new Map<string, Float64Array[]>();
  const isThere = ([, { ratesHz }, [, reads]]: PublishedNumber) =>
    [...Object.keys(ratesHz), ...(reads === undefined ? [] : [reads])].every(
      (selector) => neuronsOf(selector).length > 0,
    );
  return numbers.filter(isThere).map(([name, protocol, [reads, selector], published, decides]) => {
    const counts =
      trialsOf.get(name) ??
      Array.from({ length: TRIALS }, (_, trial) => spikeCounts(subject, protocol, neuronsOf, trial));
    trialsOf.set(name, counts);
    const read = (): number | MeanSd => {
      if (reads === RESPONDING_IN_ANY) {
        return counts[0]!.filter((_, neuron) => counts.some((own) => own[neuron]! > 0)).length;
      }
      if (selector === undefined) return meanSd(counts.map((own) => own.filter((count) => count > 0).length));
      const neurons = neuronsOf(selector);
      const rateHz = (own: Float64Array) =>
        neurons.reduce((sum, i) => sum + own[i]!, 0) / neurons.length / (DURATION_MS / 1000);
      return meanSd(counts.map(rateHz));
    };
    return {
      name,
      reads,
      published,
      ours: read(),
      decides: DECISIONS[decides as keyof typeof DECISIONS] ?? decides,
    };
  });
}

/** The spikes of one trial, until the next. */
export function rasterOf(
  subject: Subject,
  { ratesHz, silenced, synapseMv }: Protocol,
  neuronsOf: (selector: string) => Uint32Array,
  trial: number,
): SpikeRaster {
  const endStep = DURATION_MS * STEPS_PER_MS;
  return subject.simulate({
    inputs: Object.entries(ratesHz).map(([selector, rateHz]) => {
      const name = selector.replace('@', '');
      const train = { kind: 'poisson', name, rateHz, seed: SEED, trial, startStep: 0, endStep } as const;
      return { neurons: neuronsOf(selector), train };
    }),
    silenced: silenced === undefined ? new Uint32Array(0) : neuronsOf(silenced),
    durationSteps: endStep,
    ...(synapseMv !== undefined && { constants: { synapseMv } }),
  });
}

/** Spikes of each neuron in one trial. */
function spikeCounts(...[subject, ...others]: Parameters<typeof rasterOf>): Float64Array {
  const counts = new Float64Array(subject.connectome.neuronCount);
  for (const neuron of rasterOf(subject, ...others).neurons) counts[neuron]! += 1;
  return counts;
}
