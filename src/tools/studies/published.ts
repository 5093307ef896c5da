/** Compares published numbers of this model with ours under the same protocol. */
import { getOrInsert } from '../../engine/get-or-insert.js';
import { meanSd, type MeanSd } from '../../experiments/kinds/mean-sd.js';
import { SYNAPSE_MV } from '../../engine/simulation/network.js';
import { PUBLISHED_MN9 } from '../../experiments/figures/published-rates.js';
import { RepeatedTrials, TRIALS } from './repeated-trials.js';
import type { Subject } from './subject.js';

/** A published number. The file of a data set may list some. */
export interface PublishedNumber {
  readonly name: string;
  /** Input in Hz by selector. */
  readonly rates_hz: Readonly<Record<string, number>>;
  /** A type whose outputs are cut. */
  readonly silenced?: string;
  readonly synapse_mv?: number;
  /** Selector of the neurons; the number is their mean rate. Without it, the number counts responding neurons. */
  readonly reads?: string;
  /** Name of the measured quantity; by default the selector. */
  readonly label?: string;
  /** Text if only a range or a description was published. */
  readonly published?: number | string;
  /** The publication, for a number from the file of a data set. */
  readonly source?: string;
  /** Says if the tables can decide it; only for the numbers of the paper below. */
  readonly decides?: string;
}

type Readout = Pick<PublishedNumber, 'reads' | 'label'>;

/** The published counts are rows of a table of rates, so they include neurons with a spike in any trial. */
const RESPONDING_IN_ANY: Readout = { label: `responding neurons, in any of ${TRIALS} trials` };
const RESPONDING_IN_ONE: Readout = { label: 'responding neurons, mean of a trial' };
/** Counted in the authors' published spikes: results/example of philshiu/Drosophila_brain_model, release 630. */
const AUTHORS_RESPONDING_IN_ONE = { 100: 354.3, 200: 402.6 };

/** The tables lack most pairs across the midline and all weak pairs. These say whether they can decide a result. */
const PARTLY = 'partly: weak pairs are missing';
const UNDECIDED = 'no: pairs across the midline are missing';
/** With our tables, MN9 fires more than published, and weak pairs raise its rate further. */
const OTHER_RELEASE = 'no: another release';
const UNPUBLISHED = 'no: from a README';
/** From this rate on, MN9 is near its largest rate. */
const HIGH_SUGAR_HZ = 150;

/** Sides are those of the 783 classification. It calls the paper's right taste neurons left. */
const MN9_SAME_SIDE: Readout = { label: 'MN9, same side (Hz)', reads: '@MN9:left' };
const MN9_OTHER_SIDE: Readout = { label: 'MN9, other side (Hz)', reads: '@MN9:right' };
const GIANT_FIBRE: Readout = { label: 'giant fibre (Hz)', reads: 'DNp01' };

const sugarAt = (rateHz: number, readout: Readout, published?: number): PublishedNumber => ({
  name: `sugar ${rateHz} Hz`,
  rates_hz: { '@sugar': rateHz },
  ...readout,
  ...(published !== undefined && { published }),
  decides: readout.reads !== undefined && rateHz >= HIGH_SUGAR_HZ ? OTHER_RELEASE : PARTLY,
});
/** @param gain factor on all synapses, from the paper's robustness tests */
const sugarWithGain = (gain: number, published: number): PublishedNumber => ({
  ...sugarAt(100, MN9_OTHER_SIDE, published),
  name: `sugar 100 Hz, ${gain} times ${SYNAPSE_MV} mV`,
  synapse_mv: gain * SYNAPSE_MV,
});
const besideBitter = (rateHz: number): PublishedNumber => ({
  ...sugarAt(100, MN9_OTHER_SIDE),
  name: `sugar 100 Hz, bitter ${rateHz} Hz`,
  rates_hz: { '@sugar': 100, '@bitter': rateHz },
  published: 'less than without bitter',
});
const LOOMING = { rates_hz: { LC4: 100 }, ...GIANT_FIBRE, decides: UNPUBLISHED };
const antennal = (name: string, rates: Record<string, number>, set: string, published: number) => ({
  ...{ name, rates_hz: rates, reads: `@${set}`, label: `${set} (Hz)`, published, decides: UNDECIDED },
});
/** JONs are neurons of Johnston's organ, which sense movements of the antenna. */
const ALL_JONS = ['all JONs 140 Hz', { '@JO_CE': 140, '@JO_F': 140, '@JO_Dm': 140 }] as const;

const PUBLISHED: readonly PublishedNumber[] = [
  ...PUBLISHED_MN9.other.map(([sugarHz, hz]) => sugarAt(sugarHz, MN9_OTHER_SIDE, hz)),
  ...PUBLISHED_MN9.same.map(([sugarHz, hz]) => sugarAt(sugarHz, MN9_SAME_SIDE, hz)),
  sugarWithGain(0.7, 33.5),
  sugarWithGain(1.3, 96.1),
  sugarAt(10, RESPONDING_IN_ANY, 45),
  sugarAt(100, RESPONDING_IN_ANY, 410),
  sugarAt(200, RESPONDING_IN_ANY, 455),
  sugarAt(10, RESPONDING_IN_ONE),
  sugarAt(100, RESPONDING_IN_ONE, AUTHORS_RESPONDING_IN_ONE[100]),
  sugarAt(200, RESPONDING_IN_ONE, AUTHORS_RESPONDING_IN_ONE[200]),
  { ...sugarAt(100, MN9_OTHER_SIDE, 0), name: 'bitter 100 Hz', rates_hz: { '@bitter': 100 } },
  ...[50, 100, 200].map(besideBitter),
  { name: 'LC4 100 Hz', ...LOOMING, published: '69 to 70' },
  { name: 'LC4 100 Hz without PVLP122b', ...LOOMING, silenced: 'PVLP122b', published: 15 },
  antennal('JO-CE 150 Hz', { '@JO_CE': 150 }, 'aBN1', 50.8),
  antennal('JO-F 150 Hz', { '@JO_F': 150 }, 'aBN1', 1.2),
  antennal(...ALL_JONS, 'aBN1', 45.3),
  antennal(...ALL_JONS, 'aDN1', 16.7),
  antennal(...ALL_JONS, 'aDN2', 17.1),
];

export type PublishedResult = ReturnType<typeof publishedResults>[number];

/** @param subject measured wiring; the default numbers need predicted signs, as published */
export function publishedResults(subject: Subject, numbers: readonly PublishedNumber[] = PUBLISHED) {
  const trials = new RepeatedTrials(subject);
  const countsOf = new Map<string, Float64Array[]>();
  const isThere = ({ rates_hz: rates, reads, silenced }: PublishedNumber) =>
    trials.has(...Object.keys(rates), ...[reads, silenced].filter((each) => each !== undefined));
  return numbers.filter(isThere).map((number) => {
    const { name, reads, label = `${reads} (Hz)`, published, source, decides } = number;
    const protocol = {
      ratesHz: number.rates_hz,
      silenced: number.silenced,
      synapseMv: number.synapse_mv,
    };
    const counts = getOrInsert(countsOf, JSON.stringify(protocol), () =>
      Array.from({ length: TRIALS }, (_, trial) => trials.count(protocol, trial)),
    );
    /** Over 30 trials of 1 s. A count over all trials together has no standard deviation. */
    const ours: number | MeanSd =
      label === RESPONDING_IN_ANY.label
        ? counts[0]!.filter((_, neuron) => counts.some((ofTrial) => ofTrial[neuron]! > 0)).length
        : meanSd(
            counts.map((ofTrial) =>
              reads === undefined
                ? ofTrial.filter((count) => count > 0).length
                : trials.rateHz(reads, ofTrial),
            ),
          );
    return { name, reads: label, published, ours, ...(source && { source }), ...(decides && { decides }) };
  });
}
