/**
 * One trial as data: which neurons get input events, whose outputs are cut, for how long. Small and plain, so that
 * it can be sent to another thread. Neurons are indices into one connectome.
 */

export const STEPS_PER_MS = 10;
/** 5 s: the longest trial that is simulated whole. */
export const MAXIMUM_TRIAL_STEPS = 5000 * STEPS_PER_MS;
/** 600 s: the longest one at all, in parts. */
export const LONGEST_TRIAL_STEPS = 600_000 * STEPS_PER_MS;
/** 1 s: the longest part of a trial that is cut. */
export const MAXIMUM_PART_STEPS = 1000 * STEPS_PER_MS;
/** The highest rate of a Poisson train, and the end of its last layer (trains.ts): a higher one has to be the end of a further layer. */
export const MAXIMUM_RATE_HZ = 500;
/** The highest rate of a train of background. */
export const MAXIMUM_BACKGROUND_RATE_HZ = 40;

/** The highest intensity of an experiment of version 1. */
export const MAXIMUM_INTENSITY = 2;

export interface Protocol {
  readonly inputs: readonly Input[];
  /** Neurons whose spikes are not delivered to anybody. */
  readonly silenced: Uint32Array;
  /** Steps of 0.1 ms, 1 to LONGEST_TRIAL_STEPS. */
  readonly durationSteps: number;
  /** The trial ends after the first step with more delivered events in all; see simulation/simulation.ts. */
  readonly eventBudget?: number;
  /** For each step that was simulated: where that is more in all, it takes the place of the budget. */
  readonly eventBudgetPerStep?: number;
  /** Those that differ from simulation/network.ts. */
  readonly constants?: Partial<NetworkConstants>;
  /** Applied before overrides. */
  readonly wiring?: Rewiring;
  /** In the order in which weights that meet at a connection are multiplied. */
  readonly overrides?: readonly ConnectionOverride[];
  /** Those of one neuron may overlap. */
  readonly silencedWindows?: readonly SilencedWindow[];
}

/** Constants of the network that a trial may change; simulation/network.ts has their usual values. */
export interface NetworkConstants {
  /** Added to g by one synapse, in mV. */
  readonly synapseMv: number;
  /** Multiplies the synapses of every excitatory neuron. */
  readonly excitatoryScale: number;
  /** Multiplies the synapses of every inhibitory neuron. */
  readonly inhibitoryScale: number;
  readonly thresholdMv: number;
  /** Steps of 0.1 ms; 0 acts as 1, as it does in stimulated neurons. */
  readonly refractorySteps: number;
  /** Steps of 0.1 ms, at least 1. */
  readonly delaySteps: number;
  /** Added to v by one input event, in mV. */
  readonly inputEventMv: number;
}

/** Properties of connections that change places; simulation/rewiring/rewired.ts says how. */
export const SHUFFLES = ['weights', 'targets', 'targets_within_super_class'] as const;

/** Another network of the same neurons. */
export interface Rewiring {
  /** Connections of fewer synapses are left out. */
  readonly minimumSynapses?: number;
  /** With targets_and_weights, connections change places but for their sources: a control of validation. */
  readonly shuffle?: (typeof SHUFFLES)[number] | 'targets_and_weights';
  /** Standard deviation of the logarithm of the factors that synapse counts are multiplied by, 0 to MAXIMUM_JITTER. */
  readonly jitter?: number;
  /** 0 to 2^32 - 1. */
  readonly seed: number;
}
export const MAXIMUM_JITTER = 2;

/** Multiplies the weight of every connection from a source to a target. */
export interface ConnectionOverride {
  /** Ascending. */
  readonly sources: Uint32Array;
  /** Ascending. */
  readonly targets: Uint32Array;
  /** 0 cuts a connection, which then delivers no synaptic event. */
  readonly weight: number;
}

/** Neurons whose spikes from startStep up to, not including, endStep are not delivered, whenever they would arrive. */
export interface SilencedWindow {
  readonly neurons: Uint32Array;
  readonly startStep: number;
  readonly endStep: number;
}

/**
 * Neurons that receive events, each from a separate train. None of them has a refractory period in this trial, unless
 * the train is one of background.
 */
export interface Input {
  /** No neuron twice. */
  readonly neurons: Uint32Array;
  readonly train: Train;
}

export type Train = V1Train | PoissonTrain | BackgroundTrain | GivenTrain;

/** The Poisson train of an experiment of version 1: a neuron's is keyed by its index in the list of neurons. */
export interface V1Train {
  readonly kind: 'v1';
  /** Mean events per neuron and second at intensity 1. */
  readonly nominalRateHz: number;
  /** 0 to MAXIMUM_INTENSITY. */
  readonly intensity: number;
  /** 0 to 2^32 - 1. */
  readonly seed: number;
}

/** A train of an open experiment that is drawn anew in each trial. */
interface SeededTrain {
  /** 0 to 2^32 - 1. */
  readonly seed: number;
  /** 0 to 2^32 - 1. */
  readonly trial: number;
  /** Events come from this step on; the window hides events and never moves one. */
  readonly startStep: number;
  /** The first step behind the window. */
  readonly endStep: number;
}

/** The Poisson train of an open experiment: keyed by the seed, the trial, the input's name and the neuron's id. */
export interface PoissonTrain extends SeededTrain {
  readonly kind: 'poisson';
  readonly name: string;
  /** Mean events per neuron and second, 0 to MAXIMUM_RATE_HZ. */
  readonly rateHz: number | RateTable;
}

/**
 * Background: rare events of very many neurons, which keep their refractory period and lose events that arrive in it.
 * Keyed by the seed, the trial and the neuron's id; at most one input of a trial has such a train.
 */
export interface BackgroundTrain extends SeededTrain {
  readonly kind: 'background';
  /** Mean events per neuron and second, 0 to MAXIMUM_BACKGROUND_RATE_HZ. */
  readonly rateHz: number;
  /** Added to v by one event. */
  readonly eventMv: number;
}

/**
 * Rates that differ between the neurons of an input, or change during a trial. A course is the rates of a neuron in
 * time. All courses stand in a few arrays, because sending thousands of arrays to a thread takes long.
 */
export interface RateTable {
  /** The course of each neuron, by its place in the input; absent where all have the first one. */
  readonly courses?: Uint16Array;
  /** Rates of course c have the places from starts[c] up to, not including, starts[c + 1] in the arrays below. */
  readonly starts: Uint32Array;
  /** The step from which on each rate holds, up to the next one of its course: 0, then ascending. */
  readonly steps: Uint32Array;
  readonly ratesHz: Float64Array;
}

/** Given events, for replay. Steps are ascending and unique; those after the end of the trial are ignored. */
export interface GivenTrain {
  readonly kind: 'spikes';
  /** One list for all neurons, or one for each of them. */
  readonly steps: Uint32Array | readonly Uint32Array[];
}

/** Trains that every engine knows. */
const PLAIN_TRAINS: readonly string[] = ['v1', 'poisson', 'spikes'] satisfies Train['kind'][];

/** Tells whether a trial has nothing but such trains and silenced neurons: what it computes is the network as it is. */
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
