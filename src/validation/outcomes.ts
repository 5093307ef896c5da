/**
 * Experiments on flies with a yes or a no as their outcome, beside what the model predicts: Shiu et al. 2024,
 * doi:10.1038/s41586-024-07763-9, supplementary tables 2, 3, 5 and 10, and the works that these tables cite.
 */
import { publishedNodeSets } from '../connectome/node-sets.js';
import { getOrInsert } from '../get-or-insert.js';
import { type Protocol, RepeatedTrials, TRIALS } from './repeated-trials.js';
import type { Subject } from './subject.js';

/** A mean rate of some neurons under a protocol. */
interface Rate extends Protocol {
  readonly reads: string;
}

/** Yes from LEAST_HZ on; or where it is below a share of another one. */
interface Prediction extends Rate {
  readonly below?: Rate & { readonly share: number };
}

interface Question {
  readonly asks: string;
  /** Names of the neurons that it was asked of, by what was found. */
  readonly yes: readonly string[];
  readonly no?: readonly string[];
  readonly predicts: (selector: string) => Prediction;
}

/** The neurons of one question in one brain. */
export interface OutcomeResult {
  readonly asks: string;
  /** As found in flies and as predicted. */
  readonly agree: readonly string[];
  readonly onlyFound: readonly string[];
  readonly onlyPredicted: readonly string[];
  /** Names that the model lacks. */
  readonly missing: readonly string[];
}

/** Less than one spike in 10 s counts as none: the paper's table calls 1 spike in 30 trials none, and 11 a response. */
const LEAST_HZ = 0.1;
/** The paper's limit for a neuron that MN9 needs. */
const REQUIRED_SHARE = 0.8;
/** MN9 with less of its rate than this is taken for silent. */
const SILENT_SHARE = 0.05;

const MN9 = '@MN9';
const JONS = { '@JO_CE': 140, '@JO_F': 140, '@JO_Dm': 140 };

/** Names of the literature whose neurons have no set of their own, by their type on FlyWire. */
const TYPES: Readonly<Record<string, string>> = { zorro: 'CB0192', MN6: 'CB0858' };
const SCREENED = publishedNodeSets()
  .names()
  .filter((name) => name.startsWith('SEZ.'))
  .map((name) => name.slice('SEZ.'.length));

/** Types whose activation extends the proboscis; that of the other types of the screen does not. */
const SUFFICIENT = [
  ...['roundup', 'diatom', 'sink_sync', 'G2N_1', 'clavicle', 'Fdg', 'bract', 'rattle', 'FMIn', 'TH_VUM'],
  ...['marge', 'phantom', 'tentacular', 'usnea'],
];

const respondTo =
  (ratesHz: Protocol['ratesHz']) =>
  (reads: string): Prediction => ({ ratesHz, reads });
const requiredFor =
  (ratesHz: Protocol['ratesHz'], reads: string) =>
  (silenced: string): Prediction => ({
    ...{ ratesHz, silenced, reads },
    below: { ratesHz, reads, share: REQUIRED_SHARE },
  });
/** @param share of the rate of MN9 to which other taste neurons lower it */
const lowers =
  (sugarHz: number, otherHz: number, share: number) =>
  (other: string): Prediction => {
    const ratesHz = { '@sugar': sugarHz };
    return {
      ratesHz: { ...ratesHz, [other]: otherHz },
      reads: MN9,
      below: { ratesHz, reads: MN9, share },
    };
  };

const QUESTIONS: readonly Question[] = [
  {
    asks: 'fires less on the side of the sugar than on the other (100 Hz)',
    yes: ['MN9'],
    predicts: (motorNeuron) => {
      const ratesHz = { '@sugar:left': 100 };
      return {
        ...{ ratesHz, reads: `${motorNeuron}:left` },
        below: { ratesHz, reads: `${motorNeuron}:right`, share: 1 },
      };
    },
  },
  {
    asks: 'responds to sugar (200 Hz)',
    yes: [
      ...['bract', 'clavicle', 'Fdg', 'FMIn', 'fudog', 'G2N_1', 'MN6', 'MN9', 'phantom', 'rattle', 'roundup'],
      'zorro',
    ],
    no: ['usnea', 'TH_VUM'],
    predicts: respondTo({ '@sugar': 200 }),
  },
  {
    asks: 'is required for the response of MN9 to sugar (100 Hz)',
    yes: ['clavicle', 'FMIn', 'G2N_1', 'rattle', 'usnea', 'zorro'],
    no: ['bract', 'phantom', 'roundup'],
    predicts: requiredFor({ '@sugar': 100 }, MN9),
  },
  {
    asks: 'suffices to excite MN9 (50 Hz)',
    yes: SUFFICIENT,
    no: SCREENED.filter((name) => !SUFFICIENT.includes(name)),
    predicts: (type) => ({ ratesHz: { [type]: 50 }, reads: MN9 }),
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
    predicts: respondTo({ '@water': 200 }),
  },
  {
    asks: 'is required for the response of MN9 to water (180 Hz)',
    yes: ['bract', 'clavicle', 'rattle', 'roundup', 'usnea', 'zorro'],
    no: ['G2N_1', 'phantom', 'tophat', 'tulip'],
    predicts: requiredFor({ '@water': 180 }, MN9),
  },
  {
    asks: 'responds to all JONs (140 Hz)',
    yes: ['aBN1', 'aDN1', 'aDN2'],
    predicts: respondTo(JONS),
  },
  {
    asks: 'is required for the response of aDN1 to all JONs (140 Hz)',
    yes: ['aBN1'],
    predicts: requiredFor(JONS, '@aDN1'),
  },
  {
    asks: 'fires less to JO-F than to JO-CE (150 Hz)',
    yes: ['aBN1'],
    predicts: (reads) => ({
      ...{ ratesHz: { '@JO_F': 150 }, reads },
      below: { ratesHz: { '@JO_CE': 150 }, reads, share: 1 },
    }),
  },
];

/** Predictions of one brain by 30 trials of 1 s each; what it lacks neurons for is listed as missing. */
export function outcomes(subject: Subject): OutcomeResult[] {
  const trials = new RepeatedTrials(subject);
  /** Spikes of each neuron in all trials of a protocol. */
  const known = new Map<string, Float64Array>();
  const rateHz = ({ reads, ...protocol }: Rate): number => {
    const counts = getOrInsert(known, JSON.stringify(protocol), () => {
      const sum = trials.count(protocol, 0);
      for (let trial = 1; trial < TRIALS; trial++) trials.count(protocol, trial, sum);
      return sum;
    });
    return trials.rateHz(reads, counts, TRIALS);
  };
  const isThere = ({ ratesHz, reads, silenced = reads }: Rate): boolean =>
    trials.has(...Object.keys(ratesHz), silenced, reads);
  return QUESTIONS.map(({ asks, yes, no = [], predicts }) => {
    const result = {
      asks,
      ...{ agree: [] as string[], onlyFound: [] as string[] },
      ...{ onlyPredicted: [] as string[], missing: [] as string[] },
    };
    for (const name of [...yes, ...no]) {
      const isFound = yes.includes(name);
      const { below, ...rate } = predicts(selectorOf(name));
      if (!isThere(rate) || (below && !isThere(below))) {
        result.missing.push(name);
        continue;
      }
      const isPredicted = below ? rateHz(rate) < below.share * rateHz(below) : rateHz(rate) >= LEAST_HZ;
      if (isFound === isPredicted) result.agree.push(name);
      else (isFound ? result.onlyFound : result.onlyPredicted).push(name);
    }
    return result;
  });
}

function selectorOf(name: string): string {
  return TYPES[name] ?? `@${SCREENED.includes(name) ? 'SEZ.' : ''}${name}`;
}
