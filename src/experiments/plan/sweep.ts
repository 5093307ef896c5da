/**
 * The conditions of a sweep as a grid: a place on every axis, the last axis fastest, then its controls. The document alone
 * decides the grid, so a number means the same condition in every answer, whichever conditions are run: an axis of responders
 * has `top` places behind its baseline, and where fewer groups responded, or a lesion changes nothing, the numbers of those
 * places stay unused.
 *
 * Two numbers are told apart here and in all that plans and runs. The _index_ counts the grid: a condition has one, and each of
 * its controls, which are run like conditions, has one behind it. The _condition_ is the number that answers have, as their
 * member `index`, and that counts no controls. Without controls both are the same.
 */
import type { GroupLabel } from '../document/document.js';
import { editKindOf } from '../kinds/edit-kinds.js';
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

/** Place 0 is the baseline, without any group. */
export interface GroupAxis {
  readonly kind: 'groups';
  /** `silence`, `inputs.NAME` or an end of an override. */
  readonly name: string;
  readonly groups: Groups;
}

/** As GroupAxis; which groups there are is known when the baseline was run. */
export interface ResponderAxis {
  readonly kind: 'responders';
  readonly name: string;
  readonly top: number;
  readonly groupBy: readonly GroupLabel[];
}

export type Axis = ValueAxis | GroupAxis | ResponderAxis;

/** On each axis: a number, a group, or null in the baseline of an axis of groups. */
export type AxisValue = number | SweptGroup | null;

export class Grid {
  /** Indices: conditions at most, with their controls. */
  readonly size: number;
  /** How far apart, in indices, two neighbours on an axis are. */
  readonly strides: readonly number[];

  /** @param controls of each condition */
  constructor(
    readonly axes: readonly Axis[],
    readonly controls = 0,
  ) {
    const lengths = axes.map(lengthOf);
    const product = (from: number) =>
      lengths.slice(from).reduce((size, length) => size * length, 1 + controls);
    this.strides = lengths.map((_, axis) => product(axis + 1));
    this.size = product(0);
  }

  /** Conditions at most, as answers number them. */
  get conditions(): number {
    return this.size / (1 + this.controls);
  }

  /** The condition that an index belongs to. */
  conditionOf(index: number): number {
    return Math.floor(index / (1 + this.controls));
  }

  /** @returns 0 for a condition itself, the number of a control from 1 on */
  controlOf(index: number): number {
    return index % (1 + this.controls);
  }

  /** The index of a condition itself. */
  indexOf(condition: number): number {
    return condition * (1 + this.controls);
  }

  /** The places on the axes, each from 0. */
  placesOf(index: number): number[] {
    return this.axes.map((axis, at) => Math.floor(index / this.strides[at]!) % lengthOf(axis));
  }

  /** The index with the same values and no group on one axis. */
  baselineOf(index: number, axis: number): number {
    return index - this.placesOf(index)[axis]! * this.strides[axis]!;
  }

  /** The index with the same values and no group on any axis: its spikes say which groups an axis of responders has. */
  originOf(index: number): number {
    return this.placesOf(index).reduce(
      (origin, place, axis) => (this.isOfGroups(axis) ? origin - place * this.strides[axis]! : origin),
      index,
    );
  }

  /** @returns the number of the axis of a parameter, -1 where nothing sweeps it */
  axisOf(parameter: string): number {
    return this.axes.findIndex(({ name }) => name === parameter);
  }

  /** @returns a function that gives the value of a parameter at an index, or undefined where no axis sets it to a value */
  valuesAt(index: number): (parameter: string) => number | undefined {
    const places = this.placesOf(index);
    return (parameter) => {
      const at = this.axisOf(parameter);
      const axis = this.axes[at];
      return axis?.kind === 'values' ? axis.values[places[at]!] : undefined;
    };
  }

  /** The first trial to run where an answer starts at a later one: indices that decide others run all trials. */
  firstTrial(index: number, fromTrial: number): number {
    return this.decidesOthers(index) ? 0 : fromTrial;
  }

  isOfGroups(axis: number): boolean {
    return this.axes[axis]!.kind !== 'values';
  }

  /** Tells whether the spikes of the baseline of this axis decide which groups are swept, or which need running. */
  isDecidedByBaseline(axis: number): boolean {
    const swept = this.axes[axis]!;
    return swept.kind === 'responders' || (swept.kind === 'groups' && sparesSilent(swept));
  }

  /** Tells whether the spikes of a condition decide on others. */
  decidesOthers(index: number): boolean {
    if (this.controlOf(index) > 0) return false;
    return this.placesOf(index).some((place, axis) => place === 0 && this.isDecidedByBaseline(axis));
  }

  /** On how many axes a condition is decided by a baseline. Conditions with fewer such axes have to be run before it. */
  levelOf(index: number): number {
    return this.placesOf(index).filter((place, axis) => place > 0 && this.isDecidedByBaseline(axis)).length;
  }

  /** Indices that have to be known before it is known whether this one is run, ascending; all have a lower level. */
  decidersOf(index: number): number[] {
    const deciders = new Set<number>();
    const collect = (from: number): void => {
      this.placesOf(from).forEach((place, axis) => {
        if (place === 0 || !this.isDecidedByBaseline(axis)) return;
        const swept = this.axes[axis]!;
        const next = swept.kind === 'responders' ? [this.originOf(from)] : [];
        if (sparesSilent(swept)) next.push(this.baselineOf(from, axis));
        for (const each of next) {
          if (deciders.has(each)) continue;
          deciders.add(each);
          collect(each);
        }
      });
    };
    // Controls are run where their conditions are.
    collect(index - this.controlOf(index));
    return [...deciders].sort((a, b) => a - b);
  }

  /**
   * Indices of the conditions from a given one on with their controls, and of those before it whose spikes decide which of these are
   * run, ascending.
   * @param hasControls whether controls are needed
   */
  neededFrom(condition: number, hasControls = true): number[] {
    const from = this.indexOf(condition);
    const indices: number[] = [];
    for (let index = from; index < this.size; index += hasControls ? 1 : 1 + this.controls)
      indices.push(index);
    if (from === 0) return indices;
    const deciders = indices.flatMap((index) => this.decidersOf(index));
    return [...new Set([...deciders, ...indices])].sort((a, b) => a - b);
  }
}

/** Tells whether groups of the axis that never spike change nothing. */
export function sparesSilent({ name }: Axis): boolean {
  return editKindOf(name)?.groups?.sparesSilent === true;
}

export function lengthOf(axis: Axis): number {
  switch (axis.kind) {
    case 'values':
      return axis.values.length;
    case 'groups':
      return 1 + axis.groups.count;
    case 'responders':
      return 1 + axis.top;
  }
}

/** @returns null in the baseline of an axis of groups, and of one whose groups are not known yet */
export function valueAt(axis: Axis, place: number): AxisValue {
  if (axis.kind === 'values') return axis.values[place]!;
  return place === 0 || axis.kind === 'responders' ? null : groupOf(axis.groups, place - 1);
}

export function groupOf(groups: Groups, group: number): SweptGroup {
  return { labels: groups.labelsOf(group), neurons: groups.neuronsOf(group) };
}
