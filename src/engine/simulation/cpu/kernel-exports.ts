/** The kernel's exports, and the layout of the data that the kernel and its host share. */
import { TARGET_BITS } from '../../connectome/connectome.js';

type Section =
  | 'connections'
  | 'rows'
  | 'overrideRows'
  | 'overridden'
  | 'eventSteps'
  | 'eventNeurons'
  | 'backgroundSteps'
  | 'backgroundNeurons'
  | 'reachedNeurons'
  | 'reachedStates'
  | 'recordedNeurons'
  | 'samples'
  | 'rasterSteps'
  | 'rasterNeurons'
  | 'candidates'
  | 'waitingNeurons'
  | 'stepSpikes'
  | 'spikes';

/** The globals that belong to the state of a trial between two segments. */
export const REGISTERS = [
  'candidateCount',
  'waitingCount',
  'isListIncomplete',
  'leastU',
  'deliveredEvents',
  'growthOfU',
  'growthOfH',
] as const;

/** Exports of kernel/kernel.ts. A section is the address of its first byte. */
export interface Kernel extends Readonly<Record<Section | (typeof REGISTERS)[number], WebAssembly.Global>> {
  readonly memory: WebAssembly.Memory;
  readonly stepCount: WebAssembly.Global;
  setConstants(
    restMv: number,
    thresholdAboveRestMv: number,
    delaySteps: number,
    refractorySteps: number,
  ): void;
  setFactors(membraneDecay: number, synapseDecay: number, ...more: readonly number[]): void;
  setVariation(
    excitatoryScale: number,
    inhibitoryScale: number,
    backgroundMv: number,
    overridden: boolean,
  ): void;
  layOutNetwork(
    neurons: number,
    words: number,
    wordsOfLongestRow: number,
    longestTrialSteps: number,
    longestPartSteps: number,
  ): void;
  layOutOverrides(pairs: number): void;
  layOutTrial(steps: number, events: number, background: number, recorded: number, samples: number): void;
  reserveSpikes(count: number): void;
  listReached(): number;
  restoreReached(count: number): void;
  begin(durationSteps: number, events: number, background: number): void;
  beginSegment(firstStep: number, segmentSteps: number, events: number, background: number): void;
  /** @returns 0 if the trial exceeds the budget, else 1 */
  run(untilStep: number, eventBudget: number, growthOfBudget: number): number;
  runVaried(untilStep: number, eventBudget: number, growthOfBudget: number): number;
  runSampled(
    untilStep: number,
    everySteps: number,
    sampleCount: number,
    neurons: number,
    firstSample: number,
    isVaried: boolean,
    eventBudget: number,
    growthOfBudget: number,
  ): number;
  sample(firstNeuron: number, neurons: number, firstSample: number): void;
  end(): number;
  endSegment(): number;
}

/** See Pair in kernel/memory.ts: a target's address is its index times the 16 bytes of a neuron. */
export const ADDRESS_SHIFT = 4;
export const ADDRESS_BITS = TARGET_BITS + ADDRESS_SHIFT;
/** A connection of more synapses becomes several words, whose sum is the same. */
export const SYNAPSES_PER_WORD = 2 ** (31 - ADDRESS_BITS) - 1;
export const WORD_BYTES = 4;
/** See Row in kernel/memory.ts. */
export const ROW_WORDS = 4;
export const ROW_END = 1;
export const ROW_CONNECTION_COUNT = 2;
export const ROW_MARKS = 3;
