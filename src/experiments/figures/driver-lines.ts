/**
 * Driver lines that label cell types, so that a screen ends with a list of flies to order. docs/guide/driver-lines.md
 * specifies the lines of a row and their order, and a test holds a second implementation of those words against this one.
 */
import { getOrInsert } from '../../engine/get-or-insert.js';
import type { GroupLabels } from '../kinds/groups.js';
import type { ParameterValue } from '../kinds/result-rows.js';
import type { Findings } from './figure-kind.js';

const MAX_LINES = 3;

/** A row of a list of driver lines. */
export interface LabelledType {
  readonly line: string;
  readonly type: string;
  /** The publication of the line; empty if it is not known. */
  readonly source: string;
}

export class DriverLines {
  /** The cell types that each line labels, brain or not. */
  readonly #typesOf = new Map<string, Set<string>>();
  /** The lines that label each cell type, the most specific first. */
  readonly #linesOf = new Map<string, string[]>();
  /** To cite, sorted. */
  readonly sources: readonly string[];

  constructor(rows: Iterable<LabelledType>) {
    const sources = new Set<string>();
    for (const { line, type, source } of rows) {
      getOrInsert(this.#typesOf, line, () => new Set()).add(type);
      if (source !== '') sources.add(source);
    }
    this.sources = [...sources].sort();
    for (const [line, types] of this.#typesOf) {
      for (const type of types) getOrInsert(this.#linesOf, type, () => []).push(line);
    }
    for (const lines of this.#linesOf.values()) {
      lines.sort((a, b) => this.#others(a) - this.#others(b) || (a < b ? -1 : 1));
    }
  }

  /** `SS1, SS2 (+3) and 4 more`; `none`; empty without a type. Several types are separated by a semicolon. */
  textFor(types: readonly string[]): string {
    return types.map((type) => this.#textForOne(type)).join('; ');
  }

  #textForOne(type: string): string {
    const lines = this.#linesOf.get(type) ?? [];
    const shown = lines.slice(0, MAX_LINES).map((line) => {
      const others = this.#others(line);
      return others === 0 ? line : `${line} (+${others})`;
    });
    const more = lines.length - shown.length;
    return `${shown.join(', ') || 'none'}${more > 0 ? ` and ${more} more` : ''}`;
  }

  /** Number of other cell types that a line labels. */
  #others(line: string): number {
    return this.#typesOf.get(line)!.size - 1;
  }
}

/** The number in brackets, for a reader. */
export const LINES_NOTE =
  'Of driver lines, the most specific come first; (+n) is the number of other cell types.';

/** The cell types of a row of an answer, whose lines it has: those of groups that a sweep takes in turn, or its own. */
export function typesOfRow(
  parameters: Readonly<Record<string, ParameterValue>>,
  group: GroupLabels,
  typeOf: Findings['typeOf'],
): string[] {
  const swept = Object.values(parameters).filter((value) => typeof value !== 'number');
  const types = (swept.length === 0 ? [group] : swept).map((each) => {
    if (each === null) return '';
    return each.type ?? (each.root_id === undefined ? '' : (typeOf(each.root_id) ?? ''));
  });
  return [...new Set(types)].filter((type) => type !== '');
}
