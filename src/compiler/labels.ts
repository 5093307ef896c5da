import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Dataset, LABEL_COLUMNS, type LabelColumn } from './dataset.js';
import type { NeuronColumns } from './brain.js';
import { type MarkedPositions, positionsOf } from './positions.js';
import { RowLabels } from './row-labels.js';
import type { TransmitterSource } from './signs.js';
import type { TableReader } from './table-reader.js';
import type { TableRow } from './table-row.js';

/** Labels of neurons and where they lie, filled in from one table after the other. */
export class NeuronLabels {
  readonly columns: Readonly<Record<LabelColumn, string[]>>;
  readonly transmitterSources: TransmitterSource[];
  /** Labels that some table has a column for. */
  readonly given = new Set<LabelColumn>();
  readonly #measured: MarkedPositions;
  #estimated: MarkedPositions | null = null;

  constructor(readonly count: number) {
    this.columns = Object.fromEntries(
      LABEL_COLUMNS.map((label) => [label, new Array<string>(count).fill('')]),
    ) as Record<LabelColumn, string[]>;
    this.transmitterSources = new Array<TransmitterSource>(count).fill('none');
    this.#measured = noPositions(count);
  }

  put(neuron: number, { label, transmitter, position }: Taken, { table }: RowLabels): void {
    for (const [name, text] of Object.entries(label) as [LabelColumn, string][]) {
      this.given.add(name);
      this.columns[name][neuron] = text;
    }
    if (transmitter !== undefined) {
      [this.columns.transmitter[neuron], this.transmitterSources[neuron]] = transmitter as [
        string,
        TransmitterSource,
      ];
    }
    if (position === undefined) return;
    const marked = table.estimated === true ? (this.#estimated ??= noPositions(this.count)) : this.#measured;
    if (marked.isMarked[neuron] === 1) return;
    marked.isMarked[neuron] = 1;
    marked.nm.set(position, 3 * neuron);
  }

  /** As a brain has them. */
  neurons(): Omit<NeuronColumns, 'count' | 'ids' | 'signs'> {
    const { type, class: classes, sub_class: subClasses, super_class: superClasses, side } = this.columns;
    const labels = { types: type, superClasses, classes, subClasses, sides: side };
    return {
      ...labels,
      ...positionsOf(labels, this.#measured, this.#estimated),
      ...(this.given.has('preset_type') && { presetTypes: this.columns.preset_type }),
    };
  }
}

/** Labels and position of a neuron, to be kept until its place is known. */
export type Taken = ReturnType<typeof taken>;

export function taken(row: TableRow, labels: RowLabels) {
  const label = labels.labelsOf(row);
  return {
    label,
    transmitter: label.transmitter === undefined ? undefined : labels.transmitterOf(row, label.transmitter),
    position: labels.hasPositions ? labels.positionOf(row) : undefined,
  };
}

/**
 * Reads the tables that label the neurons of another.
 * @throws CodedError TABLE_INVALID
 */
export async function readLabels(
  tables: TableReader,
  { tables: [, ...others], values }: Pick<Dataset, 'tables' | 'values'>,
  into: NeuronLabels,
): Promise<void> {
  for (const table of others) {
    if (table.estimated === true && !existsSync(join(tables.dir, table.file))) continue;
    let labels!: RowLabels;
    const columns = (found: readonly string[]) => (labels = new RowLabels(table, values, found)).names;
    await tables.readNeuronRows(table.file, columns, table.several === true, (neuron, row) =>
      into.put(neuron, taken(row, labels), labels),
    );
  }
}

function noPositions(count: number): MarkedPositions {
  return { isMarked: new Uint8Array(count), nm: new Int32Array(3 * count) };
}
