/**
 * A figure as data: panels with axes and marks, in the units of what they show. It has no sizes of a screen, but for the
 * height of a panel, and no colours, which belong to a palette; draw.ts makes SVG of it.
 */

import type { Facts } from './provenance.js';

/** A colour by its purpose: the place of a series, or a part of the page. */
export type Paint = number | 'text' | 'muted' | 'line' | 'none';

/** Rows or columns that share a label; several of them where neurons of one type stand together. */
export interface Band {
  readonly label: string;
  /** Rows; 1 by default. */
  readonly size?: number;
  /** Stands at the other end of the row. */
  readonly note?: string;
  /** True for a label that has to be seen, however thin the rows. */
  readonly isMarked?: true;
}

/** Numbers, or bands: row r lies between r and r + 1, and rows are counted from the top. */
export type Axis =
  | {
      readonly label: string;
      readonly domain: readonly [number, number];
      /** Lines across the panel in place of ticks; the axis ends at one. */
      readonly hasGrid?: boolean;
      readonly isLog?: boolean;
      /** Places of ticks, where there is room for all of them. */
      readonly ticks?: readonly number[];
    }
  | { readonly label: string; readonly bands: readonly Band[] };

/** A cell of a heat map. */
export interface Cell {
  readonly x: number;
  readonly y: number;
  /** From 0 to 1, the end of the scale; null where there is no number. */
  readonly share: number | null;
  /** Its number, where there is room. */
  readonly text: string;
  /** Stands below it, where there is room for that as well. */
  readonly detail?: string;
  readonly title: string;
}

type Point = readonly [x: number, y: number, title?: string];

/** A mark that a style sheet, or a test, finds by its name. */
interface Named {
  readonly name: string;
}

interface Painted {
  readonly paint: Paint;
}

/** `title` is what a reader is told who points at a mark. */
export interface Rect extends Named, Painted {
  readonly mark: 'rect';
  readonly x: readonly [number, number];
  readonly y: readonly [number, number];
  readonly title?: string;
}

export interface Line extends Partial<Named>, Painted {
  readonly mark: 'line';
  readonly points: readonly Point[];
  readonly dash?: string;
}

export interface Area extends Painted {
  readonly mark: 'area';
  /** Lower and upper end at each x. */
  readonly points: readonly (readonly [x: number, low: number, high: number])[];
}

export interface Dots extends Painted {
  readonly mark: 'dots';
  readonly points: readonly Point[];
  readonly isRing?: boolean;
  /** Dots drawn later at the place of each, which are smaller, so that all are seen. */
  readonly below?: readonly number[];
}

/** Upright strokes, one for each event, in one path. */
export interface Ticks extends Painted {
  readonly mark: 'ticks';
  readonly x: readonly number[];
  readonly rows: readonly number[];
}

export interface Cells extends Named {
  readonly mark: 'cells';
  readonly cells: readonly Cell[];
}

export type Mark = Rect | Line | Area | Dots | Ticks | Cells;

export interface Panel {
  readonly title: string;
  readonly height: number;
  readonly x: Axis;
  readonly y: Axis;
  readonly marks: readonly Mark[];
  readonly legend?: readonly LegendEntry[];
}

export interface LegendEntry extends Painted {
  readonly label: string;
  readonly dash?: string;
  /** The mark that it explains; a line by default. */
  readonly sample?: 'line' | 'band' | 'bar' | 'ring';
}

/** Panels that stand side by side where there is room for their smallest width. */
export interface Section {
  readonly panels: readonly Panel[];
  readonly smallestWidth: number;
  readonly largestWidth?: number;
  /** True where panels below each other have one axis in common: their ends stand below each other. */
  readonly sharesX?: true;
  /** Colours of the cells: from 0 to this number. */
  readonly scale?: { readonly label: string; readonly highest: number };
}

export interface Figure {
  readonly title?: string;
  readonly subtitles?: readonly string[];
  /** For those who do not see it. */
  readonly label: string;
  readonly sections: readonly Section[];
  /** For those who do. */
  readonly note: string;
  /** For those who can point at it. */
  readonly hint?: string;
  /** Facts that a file takes along. */
  readonly metadata?: Facts;
}

/** Dashes tell series apart as well, for those who do not see the hues. */
export const DASHES = ['', '7 3', '2 3', '9 3 2 3', '4 2', '1 4'];
export const MAX_SERIES = DASHES.length;

/** A key for each line; a single one without a name needs none. */
export function legendOfLines(labels: readonly string[]): LegendEntry[] {
  if (labels.length === 1 && labels[0] === 'all') return [];
  return labels.map((label, paint) => ({ label, paint, dash: DASHES[paint]! }));
}

/** `1 trial`, `30 trials`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** A rate, or another number, as people read it. */
export function rounded(value: number): string {
  if (value === 0) return '0';
  // Mean rates of many neurons are low.
  if (Math.abs(value) < 0.1) return String(Number(value.toPrecision(1)));
  return value.toFixed(Math.abs(value) >= 99.95 ? 0 : 1);
}
