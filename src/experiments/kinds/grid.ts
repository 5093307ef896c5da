/**
 * The grid of a sweep: every condition has a coordinate on each axis, and its controls come right after it.
 *
 * Two numbers are in use wherever experiments are planned and run:
 *
 * - The _cell_ counts conditions and controls. Both are run in the same way.
 * - The _condition_ counts only conditions. Answers number them so, in their member `index`.
 *
 * With two values on the first axis, three on the second and one control for each condition:
 *
 *     coordinates   0,0    0,1    0,2    1,0    1,1     1,2
 *     condition     0      1      2      3      4       5
 *     cells         0, 1   2, 3   4, 5   6, 7   8, 9    10, 11
 *
 * Only the document decides the grid. So a number means the same condition in every answer, even if some conditions are not
 * run. For example, an axis of responders has `top` coordinates after its baseline; if fewer groups respond, the last ones
 * stay unused.
 */
import type { GroupLabel } from './fields.js';
import type { GroupLabels, Groups } from './groups.js';

/** Neurons that are silenced or stimulated together. */
export interface SweptGroup {
  readonly labels: GroupLabels;
  /** Ascending. */
  readonly neurons: Uint32Array;
}

/** A parameter that takes values in turn. */
export interface ValueAxis {
  readonly kind: 'values';
  /** As in the document: `inputs.sugar.rate_hz`. */
  readonly name: string;
  readonly values: readonly number[];
}

/** Coordinate 0 is the baseline, without any group. */
export interface GroupAxis {
  readonly kind: 'groups';
  /** `silence`, `inputs.NAME` or an end of an override. */
  readonly name: string;
  readonly groups: Groups;
  /** True if groups that never spike change nothing, so that they need not be run. */
  readonly sparesSilent: boolean;
}

/** A GroupAxis whose groups are known only after the baseline has run. */
export interface ResponderAxis {
  readonly kind: 'responders';
  readonly name: string;
  readonly top: number;
  readonly groupBy: readonly GroupLabel[];
  readonly sparesSilent: boolean;
}

export type Axis = ValueAxis | GroupAxis | ResponderAxis;

/** The value at a coordinate: a number, a group, or null in the baseline of an axis of groups. */
export type AxisValue = number | SweptGroup | null;

export class Grid {
  /** Number of cells. */
  readonly size: number;
  /** For each axis, the distance in cells between neighbouring coordinates. */
  readonly strides: readonly number[];

  /**
   * @param controls number of controls of each condition
   * @param matchedAxis number of the axis whose groups controls replace by matched neurons, or -1
   */
  constructor(
    readonly axes: readonly Axis[],
    readonly controls = 0,
    readonly matchedAxis = -1,
  ) {
    const lengths = axes.map(lengthOf);
    const product = (from: number) =>
      lengths.slice(from).reduce((size, length) => size * length, 1 + controls);
    this.strides = lengths.map((_, axis) => product(axis + 1));
    this.size = product(0);
  }

  /** Number of conditions, including those that need not be run. */
  get conditions(): number {
    return this.size / (1 + this.controls);
  }

  /** The condition of a cell. */
  conditionOf(cell: number): number {
    return Math.floor(cell / (1 + this.controls));
  }

  /** @returns 0 for the condition itself; for its controls 1, 2, ... */
  controlOf(cell: number): number {
    return cell % (1 + this.controls);
  }

  /** Number of controls that a condition has. Matched controls have nothing to replace in a baseline. */
  controlsOf(condition: number): number {
    return this.isUsed(this.cellOf(condition) + 1) ? this.controls : 0;
  }

  isUsed(cell: number): boolean {
    if (this.matchedAxis < 0 || this.controlOf(cell) === 0) return true;
    return cell !== this.baselineOf(cell, this.matchedAxis);
  }

  /** The cell of a condition itself. */
  cellOf(condition: number): number {
    return condition * (1 + this.controls);
  }

  /** A coordinate on each axis, from 0. */
  coordinatesOf(cell: number): number[] {
    return this.axes.map((axis, at) => Math.floor(cell / this.strides[at]!) % lengthOf(axis));
  }

  /** The baseline of a cell on one axis: it has no group there and the same coordinates on the others. */
  baselineOf(cell: number, axis: number): number {
    return cell - this.coordinatesOf(cell)[axis]! * this.strides[axis]!;
  }

  /** Names the neurons of a matched control: those of another cell with this name have the same effect. */
  nameOfSet(cell: number, set: string): string {
    return `${this.baselineOf(cell - this.controlOf(cell), this.matchedAxis)} ${set}`;
  }

  /** The cell that has no group on any axis. Its spikes decide the groups of all axes of responders. */
  originOf(cell: number): number {
    return this.coordinatesOf(cell).reduce(
      (origin, coordinate, axis) =>
        this.isOfGroups(axis) ? origin - coordinate * this.strides[axis]! : origin,
      cell,
    );
  }

  /** @returns the number of the axis that sweeps a parameter, or -1 */
  axisOf(parameter: string): number {
    return this.axes.findIndex(({ name }) => name === parameter);
  }

  /** @returns a function from a parameter to its value in a cell; undefined if no axis of values sets it */
  valuesAt(cell: number): (parameter: string) => number | undefined {
    const coordinates = this.coordinatesOf(cell);
    return (parameter) => {
      const at = this.axisOf(parameter);
      const axis = this.axes[at];
      return axis?.kind === 'values' ? axis.values[coordinates[at]!] : undefined;
    };
  }

  /** The first trial to run if an answer starts at a later one. A cell that decides others runs all of its trials. */
  firstTrial(cell: number, fromTrial: number): number {
    return this.decidesOthers(cell) ? 0 : fromTrial;
  }

  isOfGroups(axis: number): boolean {
    return this.axes[axis]!.kind !== 'values';
  }

  /** Tells whether the baseline's spikes decide which groups this axis has, or which of its groups are run. */
  isDecidedByBaseline(axis: number): boolean {
    const swept = this.axes[axis]!;
    return swept.kind === 'responders' || this.#needsBaseline(axis);
  }

  /** Tells whether each cell with a group on this axis needs the spikes of its own baseline. */
  #needsBaseline(axis: number): boolean {
    return axis === this.matchedAxis || sparesSilent(this.axes[axis]!);
  }

  /** Tells whether the spikes of a cell decide whether or how other cells are run. */
  decidesOthers(cell: number): boolean {
    if (this.controlOf(cell) > 0) return false;
    return this.coordinatesOf(cell).some(
      (coordinate, axis) => coordinate === 0 && this.isDecidedByBaseline(axis),
    );
  }

  /** Number of axes on which a baseline decides a cell. Cells of lower levels must run before it. */
  levelOf(cell: number): number {
    return this.coordinatesOf(cell).filter(
      (coordinate, axis) => coordinate > 0 && this.isDecidedByBaseline(axis),
    ).length;
  }

  /** The cells whose results decide whether this one is run, ascending. All have a lower level. */
  decidersOf(cell: number): number[] {
    const deciders = new Set<number>();
    const collect = (from: number): void => {
      this.coordinatesOf(from).forEach((coordinate, axis) => {
        if (coordinate === 0 || !this.isDecidedByBaseline(axis)) return;
        const swept = this.axes[axis]!;
        const next = swept.kind === 'responders' ? [this.originOf(from)] : [];
        if (this.#needsBaseline(axis)) next.push(this.baselineOf(from, axis));
        for (const each of next) {
          if (deciders.has(each)) continue;
          deciders.add(each);
          collect(each);
        }
      });
    };
    // A control is run if its condition is.
    collect(cell - this.controlOf(cell));
    return [...deciders].sort((a, b) => a - b);
  }

  /**
   * The cells to run for an answer that starts at a condition, ascending. Earlier cells are among them if they decide
   * later ones.
   * @param hasControls whether the answer needs controls
   */
  neededFrom(condition: number, hasControls = true): number[] {
    const from = this.cellOf(condition);
    const cells: number[] = [];
    for (let cell = from; cell < this.size; cell += hasControls ? 1 : 1 + this.controls) {
      if (this.isUsed(cell)) cells.push(cell);
    }
    if (from === 0) return cells;
    const deciders = cells.flatMap((cell) => this.decidersOf(cell));
    return [...new Set([...deciders, ...cells])].sort((a, b) => a - b);
  }
}

export function sparesSilent(axis: Axis): boolean {
  return axis.kind !== 'values' && axis.sparesSilent;
}

export function lengthOf(axis: Axis): number {
  if (axis.kind === 'values') return axis.values.length;
  return 1 + (axis.kind === 'groups' ? axis.groups.count : axis.top);
}

/** @returns null in the baseline of an axis of groups, and everywhere on an axis of responders, whose groups are not known yet */
export function valueAt(axis: Axis, coordinate: number): AxisValue {
  if (axis.kind === 'values') return axis.values[coordinate]!;
  return coordinate === 0 || axis.kind === 'responders' ? null : groupOf(axis.groups, coordinate - 1);
}

export function groupOf(groups: Groups, group: number): SweptGroup {
  return { labels: groups.labelsOf(group), neurons: groups.neuronsOf(group) };
}
