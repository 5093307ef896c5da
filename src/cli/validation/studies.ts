/**
 * Experiments on the model itself: what it does that is known of flies, what it does that is not, and what becomes
 * of it when its wiring or its signs are changed. Plain numbers; validation/document.ts writes them down.
 */
import type { Connectome, SignRule, Wiring } from '../../connectome/connectome.js';
import { withoutOutputs } from '../../connectome/lesion.js';
import { CHANNEL_IDS, STIMULUS_IDS, type ChannelId, type StimulusId } from '../../connectome/populations.js';
import type { ChannelRates } from '../../engine/drives.js';
import { STEPS_PER_MS } from '../../engine/network.js';
import { PHILOX_STREAM, PhiloxSequence } from '../../engine/philox.js';
import { Readout } from '../../engine/readout.js';
import type { SimulationEngine } from '../../engine/simulation.js';
import { drawKicks } from '../../engine/stimulus.js';
import { neuronsOfTypes } from '../local-experiments.js';
import { stimulationOfTypes } from '../responses.js';

export const DURATION_MS = 100;
const NOMINAL_RATE_HZ = 150;
/** Intensities, up to the most that is allowed. */
const DOSES = [0, 0.125, 0.25, 0.5, 0.75, 1, 1.25, 1.5, 1.75, 2];
const SHUFFLE_SEED = 783;

export interface Spread {
  readonly mean: number;
  /** Of a sample; 0 for one. */
  readonly sd: number;
}

/** Makes an engine of a wiring; studies change the wiring of a connectome. */
export type EngineOf = (wiring: Wiring) => SimulationEngine;

export interface Run {
  readonly responding: number;
  readonly rates: ChannelRates;
  /** Neurons with at least one spike, ascending. */
  readonly neurons: Uint32Array;
}

/** One connectome with one wiring, ready to be stimulated. */
export class Subject {
  readonly #engine: SimulationEngine;
  readonly #readout: Readout;

  constructor(
    readonly connectome: Connectome,
    engineOf: EngineOf,
    wiring: Wiring = connectome,
  ) {
    this.#engine = engineOf(wiring);
    this.#readout = new Readout(connectome);
  }

  excite(neurons: Uint32Array, rateHz: number, intensity: number, seed: number): Run {
    const steps = DURATION_MS * STEPS_PER_MS;
    const raster = this.#engine.simulate(drawKicks(neurons, rateHz, intensity, seed, steps), steps);
    const { responding, rates } = this.#readout.read(raster, DURATION_MS);
    return { responding, rates, neurons: Uint32Array.from(new Set(raster.neurons)).sort() };
  }

  stimulate(id: StimulusId, seed: number, intensity = 1): Run {
    const { nominalRateHz } = this.connectome.metadata.stimuli.find((each) => each.id === id)!;
    return this.excite(this.connectome.stimulusNeurons(id), nominalRateHz, intensity, seed);
  }
}

export function spreadOf(values: readonly number[]): Spread {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return { mean, sd: values.length > 1 ? Math.sqrt(squares / (values.length - 1)) : 0 };
}

// ---- signs -------------------------------------------------------------------------------------------------

export interface StimulusResponse {
  readonly stimulus: StimulusId;
  readonly stimulated: number;
  readonly responding: Spread;
  /** Channels that are not silent, the strongest first. */
  readonly channels: readonly { readonly id: ChannelId; readonly rateHz: Spread }[];
}

/** What each stimulus of the service recruits, and which channels it drives. */
export function stimulusResponses(subject: Subject, seeds: readonly number[]): StimulusResponse[] {
  return STIMULUS_IDS.map((stimulus) => {
    const runs = seeds.map((seed) => subject.stimulate(stimulus, seed));
    const channels = CHANNEL_IDS.map((id) => ({ id, rateHz: spreadOf(runs.map(({ rates }) => rates[id])) }))
      .filter(({ rateHz }) => rateHz.mean > 0)
      .sort((a, b) => b.rateHz.mean - a.rateHz.mean);
    return {
      stimulus,
      stimulated: subject.connectome.stimulusNeurons(stimulus).length,
      responding: spreadOf(runs.map(({ responding }) => responding)),
      channels,
    };
  });
}

export interface Overlap {
  readonly pair: readonly [StimulusId, StimulusId];
  /** Neurons that respond to both, of those that respond to either; mean over the seeds. */
  readonly jaccard: number;
}

export function overlaps(
  subject: Subject,
  pairs: readonly (readonly [StimulusId, StimulusId])[],
  seeds: readonly number[],
): Overlap[] {
  return pairs.map((pair) => {
    const values = seeds.map((seed) => {
      const [a, b] = pair.map((id) => new Set(subject.stimulate(id, seed).neurons)) as [
        Set<number>,
        Set<number>,
      ];
      const both = [...a].filter((neuron) => b.has(neuron)).length;
      return both / (a.size + b.size - both);
    });
    return { pair, jaccard: spreadOf(values).mean };
  });
}

export interface Glomerulus {
  readonly type: string;
  readonly neurons: number;
  readonly responding: Readonly<Record<SignRule, number>>;
}

/** Excites each type of olfactory receptor neurons alone: every glomerulus gets the input of one type. */
export function glomeruli(
  subjects: Readonly<Record<SignRule, Subject>>,
  seeds: readonly number[],
): Glomerulus[] {
  const { types } = subjects.corrected.connectome.metadata;
  const receptors = [...new Set(types.flatMap(({ name }) => (name.startsWith('ORN_') ? [name] : [])))].sort();
  return receptors.map((type) => {
    const { neuronsIn } = stimulationOfTypes(type, [type], NOMINAL_RATE_HZ);
    const recruitedUnder = (subject: Subject): number => {
      const neurons = neuronsIn(subject.connectome);
      return spreadOf(seeds.map((seed) => subject.excite(neurons, NOMINAL_RATE_HZ, 1, seed).responding)).mean;
    };
    return {
      type,
      neurons: neuronsIn(subjects.corrected.connectome).length,
      responding: {
        predicted: recruitedUnder(subjects.predicted),
        corrected: recruitedUnder(subjects.corrected),
      },
    };
  });
}

// ---- what is known of flies --------------------------------------------------------------------------------

export interface Pathway {
  readonly stimulus: StimulusId;
  readonly channel: ChannelId;
}

/** A stimulus at each intensity that is allowed, from none to the most. */
export interface DoseResponse {
  readonly stimulus: StimulusId;
  readonly doses: readonly {
    readonly intensity: number;
    readonly responding: Spread;
    readonly rates: Readonly<Record<ChannelId, Spread>>;
  }[];
}

export function doseResponses(subject: Subject, seeds: readonly number[]): DoseResponse[] {
  return STIMULUS_IDS.map((stimulus) => ({
    stimulus,
    doses: DOSES.map((intensity) => {
      const runs = seeds.map((seed) => subject.stimulate(stimulus, seed, intensity));
      const rates = CHANNEL_IDS.map((id) => [id, spreadOf(runs.map((run) => run.rates[id]))] as const);
      return {
        intensity,
        responding: spreadOf(runs.map(({ responding }) => responding)),
        rates: Object.fromEntries(rates) as Record<ChannelId, Spread>,
      };
    }),
  }));
}

export interface Lesion extends Pathway {
  /** Empty for the intact brain. */
  readonly silenced: readonly string[];
  readonly rateHz: Spread;
}

/** @returns for each list of types the rate that is left when their outputs are silenced */
export function lesions(
  { connectome }: Subject,
  engineOf: EngineOf,
  { stimulus, channel }: Pathway,
  silencedTypes: readonly (readonly string[])[],
  seeds: readonly number[],
): Lesion[] {
  return silencedTypes.map((silenced) => {
    const wiring =
      silenced.length === 0 ? connectome : withoutOutputs(connectome, neuronsOfTypes(connectome, silenced));
    const subject = new Subject(connectome, engineOf, wiring);
    const rates = seeds.map((seed) => subject.stimulate(stimulus, seed).rates[channel]);
    return { stimulus, channel, silenced, rateHz: spreadOf(rates) };
  });
}

/** Types that respond to a stimulus without being stimulated, by their spikes; for choosing what to silence. */
export function recruitedTypes(subject: Subject, stimulus: StimulusId, seeds: readonly number[]): string[] {
  const { typeIndices, metadata } = subject.connectome;
  const stimulated = new Set(subject.connectome.stimulusNeurons(stimulus));
  const counts = new Map<string, number>();
  for (const seed of seeds) {
    for (const neuron of subject.stimulate(stimulus, seed).neurons) {
      const { name } = metadata.types[typeIndices[neuron]!]!;
      if (name !== '' && !stimulated.has(neuron)) counts.set(name, (counts.get(name) ?? 0) + 1);
    }
  }
  return [...counts.keys()].sort((a, b) => counts.get(b)! - counts.get(a)! || (a < b ? -1 : 1));
}

// ---- controls ----------------------------------------------------------------------------------------------

/**
 * Every neuron keeps its number of connections, in both directions, their synapses and its sign; whom it reaches is
 * dealt out anew. What is left of a response afterwards does not come from who is connected to whom.
 */
export function shuffledWiring(wiring: Wiring): Wiring {
  const { neuronCount, rowStart } = wiring;
  const targets = wiring.targets.slice();
  const random = new PhiloxSequence(SHUFFLE_SEED, 0, PHILOX_STREAM.shuffle);
  for (let at = targets.length - 1; at > 0; at--) {
    const other = random.nextBelow(at + 1);
    [targets[at], targets[other]] = [targets[other]!, targets[at]!];
  }
  for (let i = 0; i < neuronCount; i++) targets.subarray(rowStart[i], rowStart[i + 1]).sort();
  return { ...wiringOf(wiring), targets };
}

/** Without what else a connectome has. */
function wiringOf({ neuronCount, connectionCount, rowStart, targets, synapseCounts, signs }: Wiring): Wiring {
  return { neuronCount, connectionCount, rowStart, targets, synapseCounts, signs };
}

export interface Discrimination {
  /** Runs that are told to be of their own stimulus, of all. */
  readonly right: number;
  readonly runs: number;
  /** Stimuli that were taken for others, with how often. */
  readonly mistaken: readonly {
    readonly stimulus: StimulusId;
    readonly takenFor: StimulusId;
    readonly times: number;
  }[];
}

/**
 * Can a client tell from the channels alone which stimulus there was? Each run is given to the stimulus whose mean
 * over the other seeds is nearest, all channels measured in Hz.
 */
export function discrimination(subject: Subject, seeds: readonly number[]): Discrimination {
  const vectors = STIMULUS_IDS.map((stimulus) =>
    seeds.map((seed) => CHANNEL_IDS.map((id) => subject.stimulate(stimulus, seed).rates[id])),
  );
  const mistakes = new Map<string, number>();
  let right = 0;
  vectors.forEach((runs, own) =>
    runs.forEach((vector, left) => {
      const distances = vectors.map((others, stimulus) => {
        const known = others.filter((_, i) => stimulus !== own || i !== left);
        return vector.reduce((sum, x, k) => sum + (x - spreadOf(known.map((each) => each[k]!)).mean) ** 2, 0);
      });
      const nearest = distances.indexOf(Math.min(...distances));
      if (nearest === own) right++;
      else mistakes.set(`${own} ${nearest}`, (mistakes.get(`${own} ${nearest}`) ?? 0) + 1);
    }),
  );
  const mistaken = [...mistakes].map(([pair, times]) => {
    const [own, other] = pair.split(' ').map(Number);
    return { stimulus: STIMULUS_IDS[own!]!, takenFor: STIMULUS_IDS[other!]!, times };
  });
  return { right, runs: STIMULUS_IDS.length * seeds.length, mistaken };
}
