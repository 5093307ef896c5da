/**
 * One trial as data: which neurons get input events, which neurons are silenced, and how long the trial lasts. It is
 * small and plain, so it can be sent to another thread. Neurons are indices into one connectome.
 *
 * The head of trains.ts explains the terms train, layer, epoch, course and cursor.
 */

export const STEPS_PER_MS = 10;
export const MS_PER_SECOND = 1000;
export const STEPS_PER_SECOND = MS_PER_SECOND * STEPS_PER_MS;
/** 5 s: a longer trial is cut into segments. */
export const MAX_WHOLE_TRIAL_STEPS = 5000 * STEPS_PER_MS;
/** 600 s: the longest trial. */
export const MAX_TRIAL_STEPS = 600_000 * STEPS_PER_MS;
/** 1 s: the longest segment of a trial that is cut. */
export const MAX_SEGMENT_STEPS = 1000 * STEPS_PER_MS;
/** The highest rate of a Poisson train. It is the end of the last layer, so a higher limit needs a further layer. */
export const MAX_RATE_HZ = 500;
/** The highest rate of a background train. */
export const MAX_BACKGROUND_RATE_HZ = 40;

/** The highest intensity of an experiment of version 1. */
export const MAX_INTENSITY = 2;

export interface Protocol {
  readonly inputs: readonly Input[];
  /** Neurons whose spikes are not delivered to any target. */
  readonly silenced: Uint32Array;
  /** Steps of 0.1 ms, 1 to MAX_TRIAL_STEPS. */
  readonly durationSteps: number;
  /** The trial ends after the step in which the total of delivered events exceeds this; see simulation/simulation.ts. */
  readonly eventBudget?: number;
  /** This times the number of simulated steps replaces the budget if it is larger. */
  readonly eventBudgetPerStep?: number;
  /** The constants that differ from those in simulation/network.ts. */
  readonly constants?: Partial<NetworkConstants>;
  /** Applied before the overrides. */
  readonly wiring?: Rewiring;
  /** If several overrides apply to a connection, their weights are multiplied in this order. */
  readonly overrides?: readonly ConnectionOverride[];
  /** Windows of one neuron may overlap. */
  readonly silencedWindows?: readonly SilencedWindow[];
}

/** Constants of the network that a trial may change; simulation/network.ts has the defaults. */
export interface NetworkConstants {
  /** Added to g by one synapse, in mV. */
  readonly synapseMv: number;
  /** Multiplies the synapses of every excitatory neuron. */
  readonly excitatoryScale: number;
  /** Multiplies the synapses of every inhibitory neuron. */
  readonly inhibitoryScale: number;
  readonly thresholdMv: number;
  /** Steps of 0.1 ms; 0 has the same effect as 1. */
  readonly refractorySteps: number;
  /** Steps of 0.1 ms, at least 1. */
  readonly delaySteps: number;
  /** Added to v by one input event, in mV. */
  readonly inputEventMv: number;
}

/**
 * Properties of connections that a rewiring can shuffle; simulation/rewiring/rewired.ts explains how. Their order is
 * part of the key of random numbers.
 */
export const SHUFFLES = ['weights', 'targets', 'targets_within_super_class'] as const;

/** Turns the network into another network of the same neurons. */
export interface Rewiring {
  /** Connections with fewer synapses are removed. */
  readonly minimumSynapses?: number;
  /** targets_and_weights shuffles everything except the sources; only the validation uses it, as a control. */
  readonly shuffle?: (typeof SHUFFLES)[number] | 'targets_and_weights';
  /** Multiplies synapse counts by log-normal factors: the standard deviation of their logarithm, 0 to MAX_JITTER. */
  readonly jitter?: number;
  /** Draws each count of synapses from a negative binomial distribution around it. */
  readonly counts?: 'resampled';
  /** Draws the sign of each neuron from its probabilities, which the network must have. */
  readonly signs?: 'sampled';
  /** 0 to 2^32 - 1. */
  readonly seed: number;
}
export const MAX_JITTER = 2;

/** Multiplies the weight of every connection from one of the sources to one of the targets. */
export interface ConnectionOverride {
  /** Ascending. */
  readonly sources: Uint32Array;
  /** Ascending. */
  readonly targets: Uint32Array;
  /** The factor. 0 cuts the connection: it delivers no events. */
  readonly weight: number;
}

/** Spikes that these neurons fire from startStep to endStep - 1 are not delivered, even if they would arrive later. */
export interface SilencedWindow {
  readonly neurons: Uint32Array;
  readonly startStep: number;
  readonly endStep: number;
}

/**
 * Neurons that receive events, each from a train of its own. These neurons have no refractory period in this trial,
 * except under a background train.
 */
export interface Input {
  /** No neuron twice. */
  readonly neurons: Uint32Array;
  readonly train: Train;
}

export type Train = V1Train | PoissonTrain | BackgroundTrain | GivenTrain;

/** The Poisson train of an experiment of version 1. Its random numbers depend on the neuron's position in the input. */
export interface V1Train {
  readonly kind: 'v1';
  /** Mean events per neuron and second at intensity 1. */
  readonly nominalRateHz: number;
  /** 0 to MAX_INTENSITY. */
  readonly intensity: number;
  /** 0 to 2^32 - 1. */
  readonly seed: number;
}

/** A train of an experiment of version 2 whose events differ between trials. */
interface SeededTrain {
  /** 0 to 2^32 - 1. */
  readonly seed: number;
  /** 0 to 2^32 - 1. */
  readonly trial: number;
  /** The first step of the window. The window hides the events outside it and moves none. */
  readonly startStep: number;
  /** The first step after the window. */
  readonly endStep: number;
}

/**
 * The Poisson train of an experiment of version 2. Its random numbers depend on the seed, the trial, the input's name
 * and the neuron's id.
 */
export interface PoissonTrain extends SeededTrain {
  readonly kind: 'poisson';
  readonly name: string;
  /** Mean events per neuron and second, 0 to MAX_RATE_HZ. */
  readonly rateHz: number | RateTable;
}

/**
 * Background activity: rare events in very many neurons. The neurons keep their refractory period and lose the events
 * that arrive in it. The random numbers depend on the seed, the trial and the neuron's id. At most one input of a trial
 * has such a train.
 */
export interface BackgroundTrain extends SeededTrain {
  readonly kind: 'background';
  /** Mean events per neuron and second, 0 to MAX_BACKGROUND_RATE_HZ. */
  readonly rateHz: number;
  /** Added to v by one event, in mV. */
  readonly eventMv: number;
}

/**
 * Rates that differ between the neurons of an input, or change during a trial. A course is the rate of a neuron as a
 * step function of time. All courses share a few arrays, because sending thousands of arrays to a thread takes long.
 */
export interface RateTable {
  /** The index of each neuron's course, by the neuron's position in the input. If absent, all neurons have course 0. */
  readonly courses?: Uint16Array;
  /** Course c is entries starts[c] to starts[c + 1] - 1 of the arrays below. */
  readonly starts: Uint32Array;
  /** The first step of each rate, which holds until the next entry of its course. A course begins at 0 and ascends. */
  readonly steps: Uint32Array;
  readonly ratesHz: Float64Array;
  /** Multiplies all rates, so the conditions of a sweep can share the arrays. */
  readonly scale?: number;
}

/** Given events, for replay. Steps are ascending and unique; steps after the end of the trial are ignored. */
export interface GivenTrain {
  readonly kind: 'spikes';
  /** One list for all neurons, or one for each of them. */
  readonly steps: Uint32Array | readonly Uint32Array[];
}

/** The trains that every engine supports. */
const PLAIN_TRAINS: readonly string[] = ['v1', 'poisson', 'spikes'] satisfies Train['kind'][];

/** Tells whether a trial leaves the network unchanged, except for silenced neurons, and has only plain trains. */
export function isPlain({ inputs, constants, wiring, overrides, silencedWindows }: Protocol): boolean {
  const edits = [constants, wiring, overrides, silencedWindows];
  return (
    edits.every((each) => each === undefined) &&
    inputs.every(({ train }) => PLAIN_TRAINS.includes(train.kind))
  );
}

/** The protocol of an experiment of version 1. */
export function v1Protocol(
  neurons: Uint32Array,
  train: Omit<V1Train, 'kind'>,
  durationSteps: number,
): Protocol {
  return {
    inputs: [{ neurons, train: { kind: 'v1', ...train } }],
    silenced: new Uint32Array(0),
    durationSteps,
  };
}
