/**
 * Experiments on the model itself: behaviour that is known from flies, behaviour that is not, and the effect of other
 * signs or another wiring. They return numbers; validation/document.ts formats them.
 */
import type { Connectome, TableSignRule, Wiring } from '../connectome/connectome.js';
import { CHANNEL_IDS, STIMULUS_IDS, type ChannelId, type StimulusId } from '../answers/v1/populations.js';
import { DRIVES, readDrives, type ChannelRates } from '../answers/v1/drives.js';
import { STEPS_PER_MS } from '../engine/network.js';
import { Readout } from '../answers/v1/readout.js';
import type { SimulationEngine, SpikeRaster } from '../engine/simulation.js';
import type { DrawInputEvents } from '../experiment/input-events.js';
import { PHILOX_STREAM, PhiloxSequence } from '../experiment/philox.js';
import { type Protocol, v1Protocol } from '../experiment/protocol.js';
import { neuronsOfTypes } from '../connectome/selection.js';
import { stimulationOfTypes } from './responses.js';
import { spreadOf, type Spread } from './spread.js';

export const DURATION_MS = 100;
const NOMINAL_RATE_HZ = 150;
/** Intensities, up to the most that is allowed. */
const DOSES = [0, 0.125, 0.25, 0.5, 0.75, 1, 1.25, 1.5, 1.75, 2];
const SHUFFLE_SEED = 783;
/** So often another connection is drawn for one that does not fit: far more than a sparse wiring needs. */
const MAXIMUM_TRIES = 10_000;
/** Target and synapse count in one double that sorts by target. */
const COUNT_RANGE = 2 ** 16;

/** What runs the trials of a study. Studies change the wiring of a connectome, so each wiring gets its own engine. */
export interface Simulators {
  readonly draw: DrawInputEvents;
  readonly engineOf: (wiring: Wiring) => SimulationEngine;
}

export interface Run {
  readonly responding: number;
  readonly rates: ChannelRates;
  /** Neurons with at least one spike, ascending. */
  readonly neurons: Uint32Array;
}

/** One connectome with one wiring, ready to be stimulated. */
export class Subject {
  readonly #draw: DrawInputEvents;
  readonly #engine: SimulationEngine;
  readonly #readout: Readout;

  constructor(
    readonly connectome: Connectome,
    { draw, engineOf }: Simulators,
    wiring: Wiring = connectome,
  ) {
    this.#draw = draw;
    this.#engine = engineOf(wiring);
    this.#readout = new Readout(connectome);
  }

  /** @param silenced neurons whose outputs are cut */
  excite(
    neurons: Uint32Array,
    nominalRateHz: number,
    intensity: number,
    seed: number,
    silenced?: Uint32Array,
  ): Run {
    const protocol = {
      ...v1Protocol(neurons, { nominalRateHz, intensity, seed }, DURATION_MS * STEPS_PER_MS),
      ...(silenced && { silenced }),
    };
    const raster = this.simulate(protocol);
    const { responding, rates } = this.#readout.read(raster, DURATION_MS);
    return { responding, rates, neurons: Uint32Array.from(new Set(raster.neurons)).sort() };
  }

  simulate(protocol: Protocol): SpikeRaster {
    const events = this.#draw(protocol, (i) => this.connectome.neuronId(i));
    return this.#engine.simulate(events, protocol);
  }

  stimulate(
    id: StimulusId,
    seed: number,
    { intensity = 1, silenced }: { intensity?: number; silenced?: Uint32Array } = {},
  ): Run {
    const { nominalRateHz } = this.connectome.metadata.stimuli.find((each) => each.id === id)!;
    return this.excite(this.connectome.stimulusNeurons(id), nominalRateHz, intensity, seed, silenced);
  }
}

// ---- signs -------------------------------------------------------------------------------------------------

export interface StimulusResponse {
  readonly stimulus: StimulusId;
  readonly stimulated: number;
  readonly responding: Spread;
  /** Channels that are not silent, the strongest first. */
  readonly channels: readonly { readonly id: ChannelId; readonly rateHz: Spread }[];
}

/** What each stimulus of the service recruits, and which channels it drives, over all seeds and subjects. */
export function stimulusResponses(
  subjects: readonly [Subject, ...Subject[]],
  seeds: readonly number[],
): StimulusResponse[] {
  const [{ connectome }] = subjects;
  return STIMULUS_IDS.map((stimulus) => {
    const runs = subjects.flatMap((subject) => seeds.map((seed) => subject.stimulate(stimulus, seed)));
    const channels = CHANNEL_IDS.map((id) => ({ id, rateHz: spreadOf(runs.map(({ rates }) => rates[id])) }))
      .filter(({ rateHz }) => rateHz.mean > 0)
      .sort((a, b) => b.rateHz.mean - a.rateHz.mean);
    return {
      stimulus,
      stimulated: connectome.stimulusNeurons(stimulus).length,
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
  readonly responding: Readonly<Record<TableSignRule, number>>;
}

/** Excites each type of olfactory receptor neurons alone: every glomerulus gets the input of one type. */
export function glomeruli(
  subjects: Readonly<Record<TableSignRule, Subject>>,
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
      const runs = seeds.map((seed) => subject.stimulate(stimulus, seed, { intensity }));
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
  subject: Subject,
  { stimulus, channel }: Pathway,
  silencedTypes: readonly (readonly string[])[],
  seeds: readonly number[],
): Lesion[] {
  return silencedTypes.map((types) => {
    const silenced = neuronsOfTypes(subject.connectome, types);
    const rates = seeds.map((seed) => subject.stimulate(stimulus, seed, { silenced }).rates[channel]);
    return { stimulus, channel, silenced: types, rateHz: spreadOf(rates) };
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
 * What a neuron keeps, beside its sign and its number of connections in both directions, when whom it reaches is
 * dealt out anew: the synapses that it gives, or those that it receives, excitatory and inhibitory ones apart.
 */
export const SHUFFLES = ['outputs', 'inputs'] as const;
export type Shuffle = (typeof SHUFFLES)[number];

/**
 * The same neurons, connected by chance. What is left of a response afterwards does not come from who is connected
 * to whom. It is a valid wiring: no neuron reaches itself, and none reaches another one twice.
 * @param deal 0 is one shuffle, 1 another
 */
export function shuffledWiring(wiring: Wiring, kept: Shuffle, deal: number): Wiring {
  const { connectionCount, rowStart, signs } = wiring;
  const random = new PhiloxSequence(SHUFFLE_SEED, deal, PHILOX_STREAM.shuffle);
  const sources = sourcesOf(wiring);
  /** The connection whose target this one has got. */
  const from = sources.map((_, k) => k);
  const exchange = (a: number, b: number): void => {
    const taken = from[a]!;
    from[a] = from[b]!;
    from[b] = taken;
  };
  // Only connections of one deck exchange their targets.
  const deckOf = kept === 'outputs' ? withoutDecks(connectionCount) : decksBySign(sources, signs);
  for (const deck of new Set([deckOf(1), deckOf(-1)])) {
    for (let at = deck.length - 1; at > 0; at--) exchange(deck[at]!, deck[random.nextBelow(at + 1)]!);
  }

  const targetOf = (k: number): number => wiring.targets[from[k]!]!;
  const reaches = (source: number, target: number): boolean => {
    for (let k = rowStart[source]!; k < rowStart[source + 1]!; k++) {
      if (targetOf(k) === target) return true;
    }
    return false;
  };
  const fits = (k: number, target: number): boolean => sources[k] !== target && !reaches(sources[k]!, target);
  for (const k of misfits(wiring, targetOf)) {
    const deck = deckOf(signs[sources[k]!]!);
    let other: number;
    let tries = 0;
    do {
      if (tries++ === MAXIMUM_TRIES)
        throw new Error(`no connection can exchange its target with number ${k}`);
      other = deck[random.nextBelow(deck.length)]!;
    } while (!fits(k, targetOf(other)) || !fits(other, targetOf(k)));
    exchange(k, other);
  }
  return withTargets(wiring, targetOf, (k) => wiring.synapseCounts[kept === 'outputs' ? k : from[k]!]!);
}

function sourcesOf({ neuronCount, connectionCount, rowStart }: Wiring): Uint32Array {
  const sources = new Uint32Array(connectionCount);
  for (let i = 0; i < neuronCount; i++) sources.fill(i, rowStart[i], rowStart[i + 1]);
  return sources;
}

type DeckOf = (sign: number) => Uint32Array;

function withoutDecks(connectionCount: number): DeckOf {
  const all = new Uint32Array(connectionCount).map((_, k) => k);
  return () => all;
}

function decksBySign(sources: Uint32Array, signs: Int8Array): DeckOf {
  const decks: { excitatory: number[]; inhibitory: number[] } = { excitatory: [], inhibitory: [] };
  sources.forEach((source, k) => (signs[source]! > 0 ? decks.excitatory : decks.inhibitory).push(k));
  const [excitatory, inhibitory] = [Uint32Array.from(decks.excitatory), Uint32Array.from(decks.inhibitory)];
  return (sign) => (sign > 0 ? excitatory : inhibitory);
}

/** Connections of a neuron to itself, or to one that an earlier connection of its row reaches. */
function misfits({ neuronCount, rowStart }: Wiring, targetOf: (k: number) => number): number[] {
  const found: number[] = [];
  /** 1 + the last neuron that was seen to reach this one. */
  const reachedFrom = new Uint32Array(neuronCount);
  for (let source = 0; source < neuronCount; source++) {
    for (let k = rowStart[source]!; k < rowStart[source + 1]!; k++) {
      const target = targetOf(k);
      if (source === target || reachedFrom[target] === source + 1) found.push(k);
      reachedFrom[target] = source + 1;
    }
  }
  return found;
}

/** The wiring with other targets and synapses in its rows, sorted as they have to be. */
function withTargets(
  { neuronCount, connectionCount, rowStart, signs }: Wiring,
  targetOf: (k: number) => number,
  synapsesOf: (k: number) => number,
): Wiring {
  const packed = new Float64Array(connectionCount);
  for (let k = 0; k < connectionCount; k++) packed[k] = targetOf(k) * COUNT_RANGE + synapsesOf(k);
  for (let i = 0; i < neuronCount; i++) packed.subarray(rowStart[i], rowStart[i + 1]).sort();
  const targets = new Uint32Array(connectionCount);
  const synapseCounts = new Uint16Array(connectionCount);
  packed.forEach((both, k) => {
    targets[k] = Math.floor(both / COUNT_RANGE);
    synapseCounts[k] = both % COUNT_RANGE;
  });
  return { neuronCount, connectionCount, rowStart, targets, synapseCounts, signs };
}

export interface Discrimination {
  /** Runs assigned to their own stimulus. */
  readonly right: number;
  readonly runs: number;
  /** Stimuli that were taken for others, with how often. */
  readonly mistaken: readonly {
    readonly stimulus: StimulusId;
    readonly takenFor: StimulusId;
    readonly times: number;
  }[];
}

/** Can a client tell from the channels alone which stimulus there was? All channels are measured in Hz. */
export function discrimination(subject: Subject, seeds: readonly number[]): Discrimination {
  const assigned = assignedToNearestMean(
    STIMULUS_IDS.map((stimulus) =>
      seeds.map((seed) => {
        const { rates } = subject.stimulate(stimulus, seed);
        return CHANNEL_IDS.map((id) => rates[id]);
      }),
    ),
  );
  const mistaken = assigned.flatMap((times, own) =>
    times.flatMap((count, other) =>
      count > 0 && other !== own
        ? [{ stimulus: STIMULUS_IDS[own]!, takenFor: STIMULUS_IDS[other]!, times: count }]
        : [],
    ),
  );
  const right = assigned.reduce((sum, times, own) => sum + times[own]!, 0);
  return { right, runs: STIMULUS_IDS.length * seeds.length, mistaken };
}

export interface StimulusDrives {
  readonly stimulus: StimulusId;
  /** Every drive of the service, in the order of a body. */
  readonly drives: readonly { readonly id: string; readonly value: Spread }[];
  /** Runs of this stimulus that its drives were taken for each stimulus, in the order of STIMULUS_IDS. */
  readonly assignedTo: readonly number[];
}

/** What each stimulus makes of a body, and whether a client can tell from the drives alone which stimulus it was. */
export function stimulusDrives(subject: Subject, seeds: readonly number[]): StimulusDrives[] {
  const runs = STIMULUS_IDS.map((stimulus) =>
    seeds.map((seed) => {
      const drives = readDrives(subject.stimulate(stimulus, seed).rates);
      return DRIVES.map(({ id }) => drives[id]!);
    }),
  );
  const assigned = assignedToNearestMean(runs);
  return STIMULUS_IDS.map((stimulus, own) => ({
    stimulus,
    drives: DRIVES.map(({ id }, k) => ({ id, value: spreadOf(runs[own]!.map((vector) => vector[k]!)) })),
    assignedTo: assigned[own]!,
  }));
}

/**
 * Each run is taken for the stimulus whose mean is nearest (Euclidean distance), its own mean without that run.
 * @param vectors of each run of each stimulus
 * @returns how many runs of stimulus i are taken for stimulus j, at [i][j]
 */
function assignedToNearestMean(vectors: readonly (readonly (readonly number[])[])[]): number[][] {
  const meanOf = (runs: readonly (readonly number[])[]): number[] =>
    runs[0]!.map((_, k) => spreadOf(runs.map((vector) => vector[k]!)).mean);
  const means = vectors.map(meanOf);
  return vectors.map((runs, own) => {
    const times = means.map(() => 0);
    runs.forEach((vector, left) => {
      const distances = means.map((meanOfAll, stimulus) => {
        const mean = stimulus === own ? meanOf(runs.filter((_, i) => i !== left)) : meanOfAll;
        return vector.reduce((sum, x, k) => sum + (x - mean[k]!) ** 2, 0);
      });
      times[distances.indexOf(Math.min(...distances))]! += 1;
    });
    return times;
  });
}
