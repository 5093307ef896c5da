/**
 * Compares yes-or-no outcomes of experiments on flies with the model's predictions. The outcomes are from Shiu et al. 2024,
 * doi:10.1038/s41586-024-07763-9, supplementary tables 2, 3, 5 and 10, and the works that these tables cite.
 */
import { publishedNodeSets } from '../../engine/connectome/node-sets.js';
import { getOrInsert } from '../../engine/get-or-insert.js';
import { type StudiedInputs, RepeatedTrials, TRIALS } from './repeated-trials.js';
import type { Subject } from './subject.js';
import { own } from '../../engine/own.js';

/** A mean rate of some neurons under a protocol. */
interface RateReadout extends StudiedInputs {
  readonly reads: string;
}

/** Predicts yes if the rate is at least LEAST_HZ, or, with `below`, if it is at most a share of another rate. */
interface Prediction extends RateReadout {
  readonly below?: RateReadout & { readonly share: number };
}

interface Question {
  readonly asks: string;
  /** Names of the tested neurons with the outcome yes. */
  readonly yes: readonly string[];
  readonly no?: readonly string[];
  /** Tested neurons for which the paper's model is wrong, from its supplementary table 10. */
  readonly publishedWrong?: readonly string[];
  /** The prediction is yes if one of these is. */
  readonly predicts: (selector: string) => readonly Prediction[];
}

/** The neurons of one question in one brain. */
export type OutcomeResult = ReturnType<typeof outcomes>[number];

/** Below one spike in 10 s, a neuron is silent. The paper's table counts 1 spike in 30 trials as none, 11 as a response. */
const LEAST_HZ = 0.1;
/** The paper calls a neuron required if MN9 falls to this share without it, at any of the rates in its figures.ipynb. */
const REQUIRED_SHARE = 0.8;
const REQUIRED_SUGAR_HZ = [50, 60, 70, 80, 90, 100, 110, 120];
const REQUIRED_WATER_HZ = [160, 170, 180, 190, 200, 210, 220];
/** MN9 counts as silent at this share of its rate or below. */
const SILENT_SHARE = 0.05;

const MN9 = '@MN9';
/** Rates in Hz of the neurons of Johnston's organ, which sense movements of the antenna. */
const JONS = { '@JO_CE': 140, '@JO_F': 140, '@JO_Dm': 140 };

/** FlyWire types of neurons for which there is no published node set, by their names in the literature. */
const TYPES: Readonly<Record<string, string>> = { zorro: 'CB0192', MN6: 'CB0858' };
const SCREENED = publishedNodeSets()
  .names()
  .filter((name) => name.startsWith('SEZ.'))
  .map((name) => name.slice('SEZ.'.length));

/** Types of the screen whose activation extends the proboscis. */
const SUFFICIENT = [
  ...['roundup', 'diatom', 'sink_sync', 'G2N_1', 'clavicle', 'Fdg', 'bract', 'rattle', 'FMIn', 'TH_VUM'],
  ...['marge', 'phantom', 'tentacular', 'usnea'],
];

const respondTo =
  (ratesHz: StudiedInputs['ratesHz']) =>
  (reads: string): Prediction[] => [{ ratesHz, reads }];
const requiredFor =
  (reads: string, ...rates: readonly StudiedInputs['ratesHz'][]) =>
  (silenced: string): Prediction[] =>
    rates.map((ratesHz) => ({
      ...{ ratesHz, silenced, reads },
      below: { ratesHz, reads, share: REQUIRED_SHARE },
    }));
/** @param share of its rate to which other taste neurons lower MN9 */
const lowers =
  (sugarHz: number, otherHz: number, share: number) =>
  (other: string): Prediction[] => {
    const ratesHz = { '@sugar': sugarHz };
    const below = { ratesHz, reads: MN9, share };
    return [{ ratesHz: { ...ratesHz, [other]: otherHz }, reads: MN9, below }];
  };

const QUESTIONS: readonly Question[] = [
  {
    asks: 'fires less on the side of the sugar than on the other (100 Hz)',
    yes: ['MN9'],
    predicts: (motorNeuron) => {
      const ratesHz = { '@sugar:left': 100 };
      const below = { ratesHz, reads: `${motorNeuron}:right`, share: 1 };
      return [{ ratesHz, reads: `${motorNeuron}:left`, below }];
    },
  },
  {
    asks: 'responds to sugar (200 Hz)',
    yes: [
      ...['bract', 'clavicle', 'Fdg', 'FMIn', 'fudog', 'G2N_1', 'MN6', 'MN9', 'phantom', 'rattle', 'roundup'],
      'zorro',
    ],
    no: ['usnea', 'TH_VUM'],
    publishedWrong: ['usnea', 'TH_VUM'],
    predicts: respondTo({ '@sugar': 200 }),
  },
  {
    asks: 'is required for the response of MN9 to sugar (any of 50 to 120 Hz)',
    yes: ['clavicle', 'FMIn', 'G2N_1', 'rattle', 'usnea', 'zorro'],
    no: ['bract', 'phantom', 'roundup'],
    publishedWrong: ['FMIn', 'rattle', 'roundup', 'usnea'],
    predicts: requiredFor(MN9, ...REQUIRED_SUGAR_HZ.map((rateHz) => ({ '@sugar': rateHz }))),
  },
  {
    asks: 'suffices to excite MN9 (50 Hz)',
    yes: SUFFICIENT,
    no: SCREENED.filter((name) => !SUFFICIENT.includes(name)),
    publishedWrong: ['kitty', 'marge', 'phantom', 'tentacular', 'usnea'],
    predicts: (type) => [{ ratesHz: { [type]: 50 }, reads: MN9 }],
  },
  {
    asks: 'lowers the response of MN9 to sugar (100 Hz, both)',
    yes: ['bitter', 'Ir94e'],
    predicts: lowers(100, 100, REQUIRED_SHARE),
  },
  {
    asks: 'silences MN9 even with strong sugar (200 Hz, both)',
    yes: ['bitter'],
    no: ['Ir94e'],
    predicts: lowers(200, 200, SILENT_SHARE),
  },
  {
    asks: 'responds to water (200 Hz)',
    yes: ['clavicle', 'fudog', 'MN6', 'MN9', 'phantom', 'rattle', 'usnea', 'zorro'],
    no: ['G2N_1', 'roundup'],
    publishedWrong: ['G2N_1', 'roundup'],
    predicts: respondTo({ '@water': 200 }),
  },
  {
    asks: 'is required for the response of MN9 to water (any of 160 to 220 Hz)',
    yes: ['bract', 'clavicle', 'rattle', 'roundup', 'usnea', 'zorro'],
    no: ['G2N_1', 'phantom', 'tophat', 'tulip'],
    publishedWrong: ['usnea'],
    predicts: requiredFor(MN9, ...REQUIRED_WATER_HZ.map((rateHz) => ({ '@water': rateHz }))),
  },
  {
    asks: 'responds to all JONs (140 Hz)',
    yes: ['aBN1', 'aDN1', 'aDN2'],
    predicts: respondTo(JONS),
  },
  {
    asks: 'is required for the response of aDN1 to all JONs (140 Hz)',
    yes: ['aBN1'],
    predicts: requiredFor('@aDN1', JONS),
  },
  {
    asks: 'fires less to JO-F than to JO-CE (150 Hz)',
    yes: ['aBN1'],
    predicts: (reads) => [
      { ratesHz: { '@JO_F': 150 }, reads, below: { ratesHz: { '@JO_CE': 150 }, reads, share: 1 } },
    ],
  },
];

/** Predicts each outcome from 30 trials of 1 s. Neurons that the brain lacks are listed as missing. */
export function outcomes(subject: Subject) {
  const trials = new RepeatedTrials(subject);
  /** Spikes of each neuron in all trials of a protocol. */
  const known = new Map<string, Float64Array>();
  const rateHz = ({ reads, ...protocol }: RateReadout): number => {
    const counts = getOrInsert(known, JSON.stringify(protocol), () => {
      const sum = trials.count(protocol, 0);
      for (let trial = 1; trial < TRIALS; trial++) trials.count(protocol, trial, sum);
      return sum;
    });
    return trials.rateHz(reads, counts, TRIALS);
  };
  const isThere = ({ ratesHz, reads, silenced }: RateReadout): boolean =>
    trials.has(...Object.keys(ratesHz), ...(silenced === undefined ? [] : [silenced]), reads);
  const isYes = ({ below, ...rate }: Prediction): boolean => {
    if (!below) return rateHz(rate) >= LEAST_HZ;
    const [lower, whole] = [rateHz(rate), rateHz(below)];
    return lower < whole && lower <= below.share * whole;
  };
  return QUESTIONS.map(({ asks, yes, no = [], publishedWrong = [], predicts }) => {
    const isTested = (name: string) =>
      predicts(selectorOf(name)).every(({ below, ...rate }) => isThere(rate) && (!below || isThere(below)));
    const tested = [...yes, ...no].filter(isTested);
    const predicted = tested.filter((name) => predicts(selectorOf(name)).some(isYes));
    const agrees = (name: string) => yes.includes(name) === predicted.includes(name);
    return {
      asks,
      /** Neurons for which flies and prediction agree. */
      agree: tested.filter(agrees),
      onlyFound: tested.filter((name) => !agrees(name) && yes.includes(name)),
      onlyPredicted: tested.filter((name) => !agrees(name) && !yes.includes(name)),
      /** Number of neurons for which the paper's model is right. */
      publishedRight: tested.filter((name) => !publishedWrong.includes(name)).length,
      /** Names that the model lacks. */
      missing: [...yes, ...no].filter((name) => !isTested(name)),
    };
  });
}

function selectorOf(name: string): string {
  return own(TYPES, name) ?? `@${SCREENED.includes(name) ? 'SEZ.' : ''}${name}`;
}
