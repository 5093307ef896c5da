/** The numbers that were published for this model, and what it gives here by the same protocol. */
import { STEPS_PER_MS } from '../experiment/protocol.js';
import { NodeSetResolver } from '../connectome/node-set-resolver.js';
import { spreadOf, type Spread } from './spread.js';
import type { Subject } from './studies.js';

const TRIALS = 30;
const DURATION_MS = 1000;
const SEED = 783;

/** Left and right here are those of the 783 classification, which calls the paper's right taste neurons left. */
const SAME_SIDE = 'left';
const OTHER_SIDE = 'right';

const RESPONDING = 'responding neurons';

type Readout =
  typeof RESPONDING | { readonly set: string; readonly side?: string } | { readonly type: string };

interface Protocol {
  readonly inputs: readonly {
    readonly of: { readonly set: string } | { readonly type: string };
    readonly rateHz: number;
  }[];
  readonly silencedType?: string;
}

interface PublishedNumber {
  readonly name: string;
  readonly protocol: Protocol;
  readonly reads: string;
  readonly readout: Readout;
  /** As published; a range or a word where that is all there is. */
  readonly published: number | string;
  readonly decides: Decision;
}

type Decision = 'weak' | 'both' | 'no';

/** Whether tables without most pairs across the midline and without pairs below the threshold can decide a result. */
export const DECISIONS: Readonly<Record<Decision, string>> = {
  both: 'yes',
  weak: 'partly: weak pairs are missing',
  no: 'no: pairs across the midline are missing',
};

const sugar = (rateHz: number) => ({ of: { set: 'sugar' }, rateHz });
const bitter = (rateHz: number) => ({ of: { set: 'bitter' }, rateHz });
const mn9 = (side: string) => ({
  readout: { set: 'MN9', side },
  reads: `MN9, ${side === SAME_SIDE ? 'same' : 'other'} side (Hz)`,
});
const responding = { readout: RESPONDING, reads: RESPONDING } as const;
const looming = { inputs: [{ of: { type: 'LC4' }, rateHz: 100 }] };
const giantFibre = { readout: { type: 'DNp01' }, reads: 'giant fibre (Hz)' };
const johnston = (sets: readonly string[], rateHz: number) => ({
  inputs: sets.map((set) => ({ of: { set }, rateHz })),
});
const of = (set: string) => ({ readout: { set }, reads: `${set} (Hz)` });

const sugarAt = (
  rateHz: number,
  read: Pick<PublishedNumber, 'readout' | 'reads'>,
  published: number,
): PublishedNumber => ({
  name: `sugar ${rateHz} Hz`,
  protocol: { inputs: [sugar(rateHz)] },
  ...read,
  published,
  decides: 'weak',
});
const jonsAt = (name: string, protocol: Protocol, set: string, published: number): PublishedNumber => ({
  name,
  protocol,
  ...of(set),
  published,
  decides: 'no',
});

const JO_CE = johnston(['JO_CE'], 150);
const JO_F = johnston(['JO_F'], 150);
const JO_ALL = johnston(['JO_CE', 'JO_F', 'JO_Dm'], 140);

const PUBLISHED: readonly PublishedNumber[] = [
  sugarAt(10, mn9(OTHER_SIDE), 0),
  sugarAt(50, mn9(OTHER_SIDE), 19.4),
  sugarAt(100, mn9(OTHER_SIDE), 65.7),
  sugarAt(150, mn9(OTHER_SIDE), 83.7),
  sugarAt(200, mn9(OTHER_SIDE), 93.2),
  sugarAt(100, mn9(SAME_SIDE), 49.7),
  sugarAt(200, mn9(SAME_SIDE), 62.9),
  sugarAt(10, responding, 45),
  sugarAt(100, responding, 410),
  sugarAt(200, responding, 455),
  {
    name: 'bitter 100 Hz',
    protocol: { inputs: [bitter(100)] },
    ...mn9(OTHER_SIDE),
    published: 0,
    decides: 'weak',
  },
  ...[50, 100, 200].map((rateHz): PublishedNumber => ({
    name: `sugar 100 Hz, bitter ${rateHz} Hz`,
    protocol: { inputs: [sugar(100), bitter(rateHz)] },
    ...mn9(OTHER_SIDE),
    published: 'less than without bitter',
    decides: 'weak',
  })),
  { name: 'LC4 100 Hz', protocol: looming, ...giantFibre, published: '69 to 70', decides: 'both' },
  {
    name: 'LC4 100 Hz without PVLP122b',
    protocol: { ...looming, silencedType: 'PVLP122b' },
    ...giantFibre,
    published: 15,
    decides: 'both',
  },
  jonsAt('JO-CE 150 Hz', JO_CE, 'aBN1', 50.8),
  jonsAt('JO-F 150 Hz', JO_F, 'aBN1', 1.2),
  jonsAt('all JONs 140 Hz', JO_ALL, 'aBN1', 45.3),
  jonsAt('all JONs 140 Hz', JO_ALL, 'aDN1', 16.7),
  jonsAt('all JONs 140 Hz', JO_ALL, 'aDN2', 17.1),
];

export interface PublishedResult {
  readonly name: string;
  readonly reads: string;
  readonly published: number | string;
  /** Over 30 trials of 1 s. */
  readonly ours: Spread;
  readonly decides: string;
}

/** @param subject measured wiring with predicted signs, as published */
export function publishedResults(subject: Subject): PublishedResult[] {
  const { connectome } = subject;
  const sets = new NodeSetResolver(connectome, { node_sets: {}, on_missing: 'skip' });
  const neuronsOf = (
    from: { readonly set: string; readonly side?: string } | { readonly type: string },
  ): Uint32Array => {
    const side = 'set' in from && from.side !== undefined ? `:${from.side}` : '';
    const name = 'type' in from ? from.type : `@${from.set}${side}`;
    return sets.neuronsOf(name, '').neurons;
  };
  const trialsOf = new Map<Protocol | string, Float64Array[]>();
  return PUBLISHED.map(({ name, protocol, reads, readout, published, decides }) => {
    const counts =
      trialsOf.get(name) ??
      Array.from({ length: TRIALS }, (_, trial) => spikeCounts(subject, protocol, neuronsOf, trial));
    trialsOf.set(name, counts);
    const values = counts.map((own) => {
      if (readout === RESPONDING) return own.reduce((sum, count) => sum + (count > 0 ? 1 : 0), 0);
      const neurons = neuronsOf(readout);
      return neurons.reduce((sum, i) => sum + own[i]!, 0) / neurons.length / (DURATION_MS / 1000);
    });
    return { name, reads, published, ours: spreadOf(values), decides: DECISIONS[decides] };
  });
}

/** Spikes of each neuron in one trial. */
function spikeCounts(
  subject: Subject,
  { inputs, silencedType }: Protocol,
  neuronsOf: (from: { readonly set: string } | { readonly type: string }) => Uint32Array,
  trial: number,
): Float64Array {
  const endStep = DURATION_MS * STEPS_PER_MS;
  const raster = subject.simulate({
    inputs: inputs.map(({ of: from, rateHz }) => ({
      neurons: neuronsOf(from),
      train: {
        kind: 'poisson',
        name: 'set' in from ? from.set : from.type,
        rateHz,
        seed: SEED,
        trial,
        startStep: 0,
        endStep,
      },
    })),
    silenced: silencedType === undefined ? new Uint32Array(0) : neuronsOf({ type: silencedType }),
    durationSteps: endStep,
  });
  const counts = new Float64Array(subject.connectome.neuronCount);
  for (const neuron of raster.neurons) counts[neuron]! += 1;
  return counts;
}
