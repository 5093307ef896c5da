/** A kind of figure: what it needs, what its reader may choose, and how it becomes panels. */
import type { ConditionResult, EventTable, ExperimentHead, GroupResult } from '../run/result.js';
import { otherSettingsText } from './condition-labels.js';
import type { Figure, Panel, Section } from './figure.js';

/** Figures of a file at most. */
export const MAX_FIGURES = 6;

/** A condition that is done. */
export interface FoundCondition extends Omit<ConditionResult, 'reports'> {
  /** Groups of each report that has groups. */
  readonly groups: Readonly<Record<string, readonly GroupResult[]>>;
  /** Rows of each report that is a table of events. */
  readonly tables: Readonly<Record<string, EventTable>>;
}

/** Conditions that an experiment has given so far; at least one condition. */
export interface Findings {
  readonly head: ExperimentHead;
  readonly conditions: readonly FoundCondition[];
  /** Lesions that were not run, because they change nothing. */
  readonly unchanged: number;
  /** Names of the neurons of tables, such as their type and side. */
  labelOf(neuron: number): string;
}

/** Something of a figure that its reader chooses; the first value unless another is chosen. */
export interface Choice {
  readonly name: string;
  readonly label: string;
  readonly values: readonly string[];
  /** So many of them are drawn in a file. */
  readonly inFile: number;
}

export type Chosen = (choice: Choice) => string;

/** A number that a figure shows, or leaves out: of a group of a report in a condition. */
export interface MeasuredRow {
  readonly report: string;
  readonly condition: FoundCondition;
  readonly group: GroupResult;
}

/** A mean in a bin of time, of a group of a report in a condition. */
export interface BinRow extends MeasuredRow {
  readonly fromMs: number;
  readonly toMs: number;
  readonly mean: number;
}

export interface FigureKind {
  readonly name: string;
  /** Has the numbers of the figure. */
  readonly table: string;
  choices?(findings: Findings, chosen: Chosen): readonly Choice[];
  /** @returns nothing where there is nothing to draw yet */
  draw(findings: Findings, chosen: Chosen): Figure | undefined;
  /** All numbers of groups behind the figure, in its order; another figure of the same numbers has none. */
  rows?(findings: Findings, chosen: Chosen): readonly MeasuredRow[];
  /** The same where the numbers are those of bins of time, with their unit. */
  readonly bins?: { readonly unit: string; rows(findings: Findings): Iterable<BinRow> };
}

/** The values of the axes beside those that a figure shows, as one text for each choice. */
export function otherSettingsChoice({ conditions }: Findings, shown: readonly string[]): Choice {
  const values = [...new Set(conditions.map(({ parameters }) => otherSettingsText(parameters, shown)))];
  return { name: 'beside', label: 'At', values, inFile: MAX_FIGURES };
}

/** The condition that is chosen where a figure shows one of them. */
export function conditionOf(findings: Findings, chosen: Chosen): FoundCondition {
  const beside = chosen(otherSettingsChoice(findings, []));
  return findings.conditions.find(({ parameters }) => otherSettingsText(parameters, []) === beside)!;
}

/** One panel below the other. */
export function wide(panels: readonly Panel[]): Section {
  return { panels, smallestWidth: Infinity };
}

export function sentences(...all: readonly (string | false)[]): string {
  return all.filter(Boolean).join(' ');
}
