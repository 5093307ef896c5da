/** Converts the lines of an answer to the form that figures and files need. */
import { SIDES } from '../../../src/engine/connectome/connectome.js';
import { getOrInsert } from '../../../src/engine/get-or-insert.js';
import type { Findings, FoundCondition } from '../../../src/experiments/figures/figure-kind.js';
import { eventTableOf, type TableColumns } from '../../../src/experiments/formats/tables.js';
import type { ExperimentHead, ExperimentTotals } from '../../../src/experiments/document/result.js';
import type { EventTable, GroupResult } from '../../../src/experiments/kinds/result-rows.js';
import type { NeuronIndex } from '../service/neuron-index.js';
import type { ConditionLine } from '../service/open-experiments.js';

/** @param neurons undefined until they are loaded; rows then have only ids */
export function findingsOf(
  head: ExperimentHead,
  conditions: readonly ConditionLine[],
  totals: ExperimentTotals | undefined,
  neurons: NeuronIndex | undefined,
): Findings {
  const places = new Map<string, number>();
  const indexOf = (id: string) =>
    neurons === undefined ? getOrInsert(places, id, () => places.size) : neurons.indexOf(id);
  const tableOf = (columns: TableColumns, report: string) =>
    eventTableOf(columns, head.experiment, report, indexOf);
  const typeName = ({ metadata, typeIndices }: NeuronIndex, neuron: number) =>
    metadata.types[typeIndices[neuron]!]!.name;
  return {
    head,
    conditions: conditions.map((line) => foundCondition(line, tableOf)),
    unchanged: totals?.unchanged.length ?? 0,
    labelOf(neuron) {
      if (neurons === undefined) return [...places.keys()][neuron]!;
      return `${typeName(neurons, neuron) || 'untyped'} ${SIDES[neurons.sides[neuron]!]!}`.trim();
    },
    typeOf: (rootId) => neurons && typeName(neurons, neurons.indexOf(rootId)),
  };
}

function foundCondition(
  { reports, ...condition }: ConditionLine,
  tableOf: (columns: TableColumns, report: string) => EventTable,
): FoundCondition {
  const entries = Object.entries(reports);
  const groups = entries.filter((entry): entry is [string, readonly GroupResult[]] =>
    Array.isArray(entry[1]),
  );
  const columns = entries.filter((entry): entry is [string, TableColumns] => !Array.isArray(entry[1]));
  let tables: Record<string, EventTable> | undefined;
  return {
    ...condition,
    groups: Object.fromEntries(groups),
    // Converted on demand, because few tables are drawn.
    get tables() {
      return (tables ??= Object.fromEntries(columns.map(([name, table]) => [name, tableOf(table, name)])));
    },
  };
}
