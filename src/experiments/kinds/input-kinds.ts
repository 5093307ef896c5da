/** A kind of input says where the events of its neurons come from. It is one object in one file of `inputs`. */
import type { Connectome } from '../../connectome/connectome.js';
import type { JsonPath } from '../../schema/json-path.js';
import type { SelectorAt } from '../../connectome/node-set-resolver.js';
import type { Schema, SchemaOf } from '../../schema/json-schema.js';
import type { BackgroundTrain, GivenTrain, PoissonTrain } from '../../stimulus/protocol.js';
import { type InputDocument, SWEPT_OF_INPUT } from '../document/kind-schemas.js';
import type { Bound } from './bound.js';
import { background } from './inputs/background.js';
import { pattern, poisson } from './inputs/poisson.js';
import { spikes } from './inputs/spikes.js';
import type { TrainWork } from './train-work.js';

/** By the `module` of an input; a pattern is one of poisson with `rates`. */
export const INPUT_KINDS = { pattern, poisson, spikes, background };

/** An input in one condition: with the values that a sweep sets, and its window, in steps of 0.1 ms; endStep is not in it. */
export interface InputSettings<Document extends InputDocument = InputDocument> {
  readonly input: Document;
  readonly startStep: number;
  readonly endStep: number;
}

export interface ExpectedWork<Document extends InputDocument = InputDocument> {
  /** Work of one trial. @param neurons number of those that get events */
  of(neurons: number, settings: InputSettings<Document>): TrainWork;
}

export interface InputNeurons {
  /** Ascending. */
  readonly neurons: Uint32Array;
  /** The selector of each, by its place among those of the input, where there are several. */
  readonly rows?: Uint16Array;
}

/** Root ids with given times, rows of patterns, rates in time: so many may all inputs of a document have. */
export type InputBounds = Readonly<Record<'ids' | 'rows' | 'rates', Bound>>;

/** Extremes over the conditions of a sweep. */
export interface Extremes {
  /** The longest trial. */
  readonly longestMs: number;
  /** The highest value of a member of the input, where it is swept. */
  highest(member: string): number | undefined;
}

/** Times of events, or rates that hold from a time on, the first from 0; of several rates the highest. */
export type StimulusCourse =
  | { readonly eventsMs: readonly number[] }
  | { readonly rates: readonly { readonly fromMs: number; readonly hz: number }[] };

export interface InputKind<Document extends InputDocument = InputDocument> {
  /** Made by inputSchema. */
  readonly schema: SchemaOf<Document>;
  /** Members that a sweep may set, beside those of every input. */
  readonly swept?: Readonly<Record<string, Schema>>;
  /** Stimulation over a trial, for figures; its window is not applied. */
  course(input: Document): StimulusCourse;
  /** Stimulation in words. @param swept members that a sweep sets, which have no value of their own */
  words(input: Document, swept: readonly string[]): string;
  /**
   * Puts in order what may be written in several ways.
   * @throws CodedError INVALID_PARAMETER for what its schema cannot refuse
   */
  parsed?(input: Document, path: JsonPath, bounds: InputBounds): Document;
  /** Selectors of its neurons, where there are several. @param path a JSON Pointer to the input */
  selectorsOf?(input: Document, path: string): readonly SelectorAt[];
  /**
   * @param sets of neurons that these select
   * @param neurons in any of them
   * @returns `rows` of InputNeurons
   * @throws CodedError INVALID_PARAMETER where a neuron is in two, EMPTY_NODE_SET where there is none
   */
  rowsOf?(
    connectome: Connectome,
    sets: readonly Uint32Array[],
    neurons: Uint32Array,
    path: JsonPath,
  ): Uint16Array;
  /** True where its neurons are not stimulated in the sense of the network: they keep their refractory period. */
  readonly keepsRefractoryPeriod?: true;
  /** True where a document has one such input at most. */
  readonly isOnlyOne?: true;
  /** @returns what a parameter has to be in place of this member, which the input does not let a sweep set */
  sweepRequirement?(input: Document, member: string): string | undefined;
  /** @returns what an input has to be so that groups of a sweep can take the place of its neurons; undefined if it is */
  groupsRequirement?(input: Document): string | undefined;
  /** @throws CodedError INVALID_PARAMETER for what no trial, or not every condition, can have */
  checkConditions?(input: Document, extremes: Extremes, path: JsonPath): void;
  /**
   * @returns ids that it names and that are not among its neurons, where these may be skipped
   * @throws CodedError UNKNOWN_NEURONS where they may not
   */
  unusedIds?(
    connectome: Connectome,
    input: Document,
    neurons: Uint32Array,
    path: JsonPath,
    onMissing: 'error' | 'skip',
  ): string[];
  /** @param counts whether the events of a neuron count */
  expected(
    connectome: Connectome,
    input: Document,
    counts: (neuron: number) => boolean,
    neurons: InputNeurons,
  ): ExpectedWork<Document>;
  /** @param own settings in a condition, with the seed of the condition */
  trainOf(
    connectome: Connectome,
    own: InputSettings<Document> & InputNeurons & { readonly name: string; readonly seed: number },
  ): ConditionTrain;
}

/** A train without the number of the trial. */
export type ConditionTrain = GivenTrain | Omit<PoissonTrain, 'trial'> | Omit<BackgroundTrain, 'trial'>;

export function inputKindOf(input: Pick<InputDocument, 'module'>): InputKind {
  return 'rates' in input ? pattern : INPUT_KINDS[input.module as keyof typeof INPUT_KINDS];
}

/** Members of an input that a sweep may set. */
export function sweptMembersOf({ swept }: InputKind): Readonly<Record<string, Schema>> {
  return { ...swept, ...SWEPT_OF_INPUT };
}

/** The same of inputs of any kind. */
export const SWEPT_MEMBERS: Readonly<Record<string, Schema>> = Object.assign(
  {},
  ...Object.values<InputKind>(INPUT_KINDS).map(({ swept }) => swept),
  SWEPT_OF_INPUT,
);
