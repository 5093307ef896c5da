/** A kind of input says where the events of its neurons come from. It is one object in one file of `inputs`. */
import type { Connectome } from '../../connectome/connectome.js';
import type { JsonPath } from '../../schema/json-path.js';
import type { Schema, SchemaOf } from '../../schema/json-schema.js';
import type { GivenTrain, PoissonTrain } from '../../stimulus/protocol.js';
import { type InputDocument, SWEPT_OF_INPUT } from '../document/kind-schemas.js';
import { poisson } from './inputs/poisson.js';
import { spikes } from './inputs/spikes.js';

/** By the `module` of an input. */
export const INPUT_KINDS = { poisson, spikes };

/** An input in one condition: with the values that a sweep sets, and its window, in steps of 0.1 ms; endStep is not in it. */
export interface InputSettings<Document extends InputDocument = InputDocument> {
  readonly input: Document;
  readonly startStep: number;
  readonly endStep: number;
}

export interface ExpectedEvents<Document extends InputDocument = InputDocument> {
  /** Expected events of one trial. @param neurons number of those that get them */
  of(neurons: number, settings: InputSettings<Document>): number;
}

/** Root ids that the inputs of a document may name, and those that they named so far. */
export interface IdCount {
  readonly maximum: number;
  used: number;
}

export interface InputKind<Document extends InputDocument = InputDocument> {
  /** Made by inputSchema. */
  readonly schema: SchemaOf<Document>;
  /** Members that a sweep may set, beside those of every input. */
  readonly swept?: Readonly<Record<string, Schema>>;
  /**
   * Puts in order what may be written in several ways.
   * @throws CodedError INVALID_PARAMETER for what its schema cannot refuse
   */
  parsed?(input: Document, path: JsonPath, ids: IdCount): Document;
  /** @returns what an input has to be so that groups of a sweep can take the place of its neurons; undefined if it is */
  groupsRequirement?(input: Document): string | undefined;
  /** @throws CodedError INVALID_PARAMETER where it asks for events after the end of the longest trial */
  checkTrial?(input: Document, longestMs: number, path: JsonPath): void;
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
  expectedEvents(
    connectome: Connectome,
    input: Document,
    counts: (neuron: number) => boolean,
  ): ExpectedEvents<Document>;
  /** @param own settings in a condition, with the seed of the condition */
  trainOf(
    connectome: Connectome,
    own: InputSettings<Document> & {
      readonly name: string;
      readonly neurons: Uint32Array;
      readonly seed: number;
    },
  ): GivenTrain | Omit<PoissonTrain, 'trial'>;
}

export function inputKindOf({ module }: Pick<InputDocument, 'module'>): InputKind {
  return INPUT_KINDS[module as keyof typeof INPUT_KINDS];
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
