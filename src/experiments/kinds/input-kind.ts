/** The interface of a kind of input: a source of events for neurons. Each kind is one object in a file of `inputs`. */
import type { Connectome } from '../../engine/connectome/connectome.js';
import type { SelectorAt } from '../../engine/connectome/node-set-resolver.js';
import type { JsonPath } from '../../engine/schema/json-path.js';
import type { Schema, SchemaOf } from '../../engine/schema/json-schema.js';
import type { BackgroundTrain, GivenTrain, PoissonTrain } from '../../engine/stimulus/protocol.js';
import type { Bound } from './bound.js';
import type { InputDocument } from './kind-schemas.js';
import type { ReportWindow } from './report-kind.js';
import type { TrainWork } from './train-work.js';

/** An input in one condition, with the values that the sweep sets, and its window. */
export interface InputSettings<Document extends InputDocument = InputDocument> extends ReportWindow {
  readonly input: Document;
}

export interface InputNeurons {
  /** Ascending. */
  readonly neurons: Uint32Array;
  /** The number of each neuron's selector; absent if the input has only one selector. */
  readonly rows?: Uint16Array;
}

/** Limits on all inputs of a document together: root ids with given times, rows of patterns, rates in time. */
export type InputBounds = Readonly<Record<'ids' | 'rows' | 'rates', Bound>>;

/** Extremes over all conditions of a sweep. */
export interface Extremes {
  /** Duration of the longest trial. */
  readonly longestMs: number;
  /** The highest value of a member of the input; undefined if nothing sweeps it. */
  highest(member: string): number | undefined;
  /** The path of the axis that sweeps a member, else of the member itself. */
  pathOf(member: string): JsonPath;
}

/**
 * Stimulation over time: the times of events, or rates and their start times. If neurons differ, the highest rate. If
 * `isMerged` is true, each rate is the highest one until the next start time.
 */
export type StimulusCourse =
  | { readonly eventsMs: readonly number[] }
  | {
      readonly rates: readonly { readonly fromMs: number; readonly hz: number }[];
      readonly isMerged?: boolean;
    };

export interface InputKind<Document extends InputDocument = InputDocument> {
  /** Use inputSchema to make it. */
  readonly schema: SchemaOf<Document>;
  /** Members of this kind that a sweep may set. */
  readonly swept?: Readonly<Record<string, Schema>>;
  /** Stimulation over a trial, for figures. The input's window is not applied. */
  course(input: Document): StimulusCourse;
  /** Stimulation in words. @param swept members that a sweep sets, which have no single value */
  words(input: Document, swept: readonly string[]): string;
  /**
   * Brings equal inputs into one form, so that they get equal ids.
   * @throws CodedError INVALID_PARAMETER for a fault that the schema cannot express
   */
  parsed?(input: Document, path: JsonPath, bounds: InputBounds): Document;
  /** The selectors of its neurons, if it can have several. @param path a JSON Pointer to the input */
  selectorsOf?(input: Document, path: string): readonly SelectorAt[];
  /**
   * @param sets the neurons of each selector
   * @param neurons their union
   * @returns `rows` of InputNeurons
   * @throws CodedError INVALID_PARAMETER if two selectors have a neuron in common
   */
  rowsOf?(
    connectome: Connectome,
    sets: readonly Uint32Array[],
    neurons: Uint32Array,
    path: JsonPath,
  ): Uint16Array;
  /** True if its neurons keep their refractory period. Neurons of other inputs have none. */
  readonly keepsRefractoryPeriod?: true;
  /** True if a document may have at most one such input. */
  readonly isOnlyOne?: true;
  /** @returns the allowed parameters, as words after "must be"; undefined if a sweep may set the member of this input */
  sweepRequirement?(input: Document, member: string): string | undefined;
  /** @returns the allowed inputs, as words after "must be"; undefined if groups of a sweep may replace its neurons */
  groupsRequirement?(input: Document): string | undefined;
  /** @throws CodedError INVALID_PARAMETER if some condition of the sweep cannot have this input */
  checkConditions?(input: Document, extremes: Extremes, path: JsonPath): void;
  /**
   * @returns the ids that it names although they are not among its neurons
   * @throws CodedError UNKNOWN_NEURONS if there are such ids and onMissing is `error`
   */
  unusedIds?(
    connectome: Connectome,
    input: Document,
    neurons: Uint32Array,
    path: JsonPath,
    onMissing: 'error' | 'skip',
  ): string[];
  /** The expected work. @param counts tells whether the events of a neuron count */
  expected(
    connectome: Connectome,
    input: Document,
    counts: (neuron: number) => boolean,
    neurons: InputNeurons,
  ): {
    /** Work of one trial. @param neurons number of neurons that get events */
    of(neurons: number, settings: InputSettings<Document>): TrainWork;
  };
  /** @param own settings in a condition, with the seed of the condition */
  trainOf(
    connectome: Connectome,
    own: InputSettings<Document> & InputNeurons & { readonly name: string; readonly seed: number },
  ): ConditionTrain;
}

/** A train without the number of the trial. */
export type ConditionTrain = GivenTrain | Omit<PoissonTrain, 'trial'> | Omit<BackgroundTrain, 'trial'>;
