/**
 * A figure as data: panels with axes and marks, in units of the data. It has no colours and, except for the height of a panel,
 * no sizes in pixels. draw.ts turns it into SVG with a palette and a width.
 */

import type { Facts } from './provenance.js';

/** A colour by its purpose: the number of a series, or a role on the page. */
export type Paint = number | 'text' | 'muted' | 'line' | 'none';

/** One or more rows or columns with a common label, such as the neurons of one type. */
export interface Band {
  readonly label: string;
  /** Number of rows, by default 1. */
  readonly size?: number;
  /** A text at the other end of the row. */
  readonly note?: string;
  /** True if the label must be visible even if rows are thin. */
  readonly isMarked?: true;
}

/** Numbers, or bands: row r lies between r and r + 1, and rows are counted from the top. */
export type Axis =
  | {
      readonly label: string;
      readonly domain: readonly [number, number];
      /** If true, draw lines across the panel instead of ticks, and end the axis at a line. */
      readonly hasGrid?: boolean;
      readonly isLog?: boolean;
      /** Positions of ticks. They are used only if all of them fit. */
      readonly ticks?: readonly number[];
    }
  | { readonly label: string; readonly bands: readonly Band[] };

/** A cell of a heat map. */
export interface Cell {
  readonly x: number;
  readonly y: number;
  /** From 0 to 1, the end of the scale; null if the cell has no number. */
  readonly share: number | null;
  /** The number, drawn if it fits. */
  readonly text: string;
  /** A text below the number, drawn if it fits too. */
  readonly detail?: string;
  readonly title: string;
}

type Point = readonly [x: number, y: number, title?: string];

/** A mark with a name by which style sheets and tests find it. */
interface Named {
  readonly name: string;
}

interface Painted {
  readonly paint: Paint;
}

/** A rectangle. `title` is shown to a reader who points at it. */
export interface Rect extends Named, Painted {
  readonly mark: 'rect';
  readonly x: readonly [number, number];
  readonly y: readonly [number, number];
  readonly title?: string | undefined;
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
  /** For each dot, the number of later dots at the same position. Later ones are smaller, so that all are visible. */
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
  /** A line below the title, which is never cut. */
  readonly numbers?: string;
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

/** Panels that stand side by side if the width allows. */
export interface Section {
  readonly panels: readonly Panel[];
  readonly smallestWidth: number;
  readonly largestWidth?: number;
  /** True if panels below each other share the x axis. Their edges are then aligned. */
  readonly sharesX?: true;
  /** The scale of the cells' colours, from 0 to this number. */
  readonly scale?: { readonly label: string; readonly highest: number };
}

export interface Figure {
  readonly title?: string;
  readonly subtitles?: readonly string[];
  /** A description for readers who cannot see the figure. */
  readonly label: string;
  readonly sections: readonly Section[];
  /** A note below the figure. */
  readonly note: string;
  /** A note about pointing at marks. Only an interactive page shows it. */
  readonly hint?: string;
  /** Facts to store in a file of the figure. */
  readonly metadata?: Facts;
}

/** Dashes distinguish series for readers who cannot tell the colours apart. */
export const DASHES = ['', '7 3', '2 3', '9 3 2 3', '4 2', '1 4'];
export const MAX_SERIES = DASHES.length;

/** A legend entry for each line; none for a single line without a name. */
export function legendOfLines(labels: readonly string[]): LegendEntry[] {
  if (labels.length === 1 && labels[0] === 'all') return [];
  return labels.map((label, paint) => ({ label, paint, dash: DASHES[paint]! }));
}

/** `1 trial`, `30 trials`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** A p or q in the form that all figures, tables and pages share. Fewer digits would hide on which side of 0.05 it is. */
export function chanceText(share: number | null): string {
  return share === null ? '–' : String(Number(share.toPrecision(3)));
}

/** A number in a short form for readers. */
export function rounded(value: number): string {
  if (value === 0) return '0';
  // Mean rates of many neurons can be low; one digit is then enough.
  if (Math.abs(value) < 0.1) return String(Number(value.toPrecision(1)));
  return value.toFixed(Math.abs(value) >= 99.95 ? 0 : 1);
}
