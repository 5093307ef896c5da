/** The interface of a kind of figure: its data, the choices of its reader, and the drawing of panels. */
import type { AnsweredCondition, ExperimentHead } from '../document/result.js';
import type { EventTable, GroupResult } from '../kinds/result-rows.js';
import { otherSettingsText } from './condition-labels.js';
import type { DriverLines } from './driver-lines.js';
import type { Figure, Panel, Section } from './figure.js';

/** Maximum number of figures in a file. */
export const MAX_FIGURES = 6;

/** A finished condition. */
export interface FoundCondition extends Omit<AnsweredCondition, 'reports'> {
  /** The groups of each report of groups. */
  readonly groups: Readonly<Record<string, readonly GroupResult[]>>;
  /** The rows of each report that is a table of events. */
  readonly tables: Readonly<Record<string, EventTable>>;
}

/** The finished conditions of an experiment, at least one. */
export interface Findings {
  readonly head: ExperimentHead;
  readonly conditions: readonly FoundCondition[];
  /** Number of conditions that were not run, because they change nothing. */
  readonly unchanged: number;
  /** True if others may be missing, because the job is not finished. */
  readonly isPartial?: boolean;
  /** The label of a neuron of a table, such as its type and side. */
  labelOf(neuron: number): string;
  /** The cell type of a neuron, by its root id; undefined if types are not known. */
  typeOf(rootId: string): string | undefined;
  /** If the reader has a list of them, tables name the lines of each cell type. */
  readonly driverLines?: DriverLines | undefined;
}

/** A choice that the reader of a figure has. The first value is the default. */
export interface Choice {
  readonly name: string;
  readonly label: string;
  readonly values: readonly string[];
  /** Number of the values that a file shows, each in a figure of its own. */
  readonly inFile: number;
}

export type Chosen = (choice: Choice) => string;

/** A number of a group of a report in a condition. */
export interface MeasuredRow {
  readonly report: string;
  readonly condition: FoundCondition;
  readonly group: GroupResult;
}

/** A mean in a time bin, of a group of a report in a condition. */
export interface BinRow extends MeasuredRow {
  readonly fromMs: number;
  readonly toMs: number;
  readonly mean: number;
}

/** The first rows of a table, and the number of all. */
export interface FirstRows<Row extends MeasuredRow = MeasuredRow> {
  readonly shown: readonly Row[];
  readonly all: number;
  /** Their order, if it is not that of the figure. */
  readonly order?: string;
}

export interface FigureKind {
  readonly name: string;
  /** The table (`?table=`) with the numbers of the figure. */
  readonly table: string;
  choices?(findings: Findings, chosen: Chosen): readonly Choice[];
  /** @returns undefined if there is nothing to draw yet */
  draw(findings: Findings, chosen: Chosen): Figure | undefined;
  /** The numbers behind the figure, in its order. Absent if another figure already lists the same numbers. */
  rows?(findings: Findings, chosen: Chosen): FirstRows;
  /** The numbers in time bins, if the figure shows these, and their unit. */
  readonly bins?: { readonly unit: string; rows(findings: Findings): FirstRows<BinRow> };
}

/** A choice among the values of the axes that a figure does not show. */
export function otherSettingsChoice({ conditions }: Findings, shown: readonly string[]): Choice {
  const values = [...new Set(conditions.map(({ parameters }) => otherSettingsText(parameters, shown)))];
  return { name: 'beside', label: 'At', values, inFile: MAX_FIGURES };
}

/** @param before values before those of single trials */
export function trialChoice(trials: number, before: readonly string[] = []): Choice {
  const values = Array.from({ length: trials }, (_, trial) => String(trial));
  return { name: 'trial', label: 'Trial', values: [...before, ...values], inFile: 1 };
}

/** The chosen condition of a figure that shows only one. */
export function conditionOf(findings: Findings, chosen: Chosen): FoundCondition {
  const beside = chosen(otherSettingsChoice(findings, []));
  return findings.conditions.find(({ parameters }) => otherSettingsText(parameters, []) === beside)!;
}

/** The numbers that a condition sets, whose parameters begin with a prefix such as `constants.`, by the rest of their names. */
export function numbersUnder(prefix: string, { parameters }: FoundCondition): Record<string, number> {
  const numbers = Object.entries(parameters).filter(
    (entry): entry is [string, number] => entry[0].startsWith(prefix) && typeof entry[1] === 'number',
  );
  return Object.fromEntries(numbers.map(([name, value]) => [name.slice(prefix.length), value]));
}

/** A section with one panel below the other. */
export function wide(panels: readonly Panel[]): Section {
  return { panels, smallestWidth: Infinity };
}

export function sentences(...all: readonly (string | false)[]): string {
  return all.filter(Boolean).join(' ');
}
