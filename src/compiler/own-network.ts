/** A network that a laboratory made itself: a table of neurons and one of connections, with columns of any name. */
import { type ConnectionTable, type Dataset, type NeuronTable, ownNetwork } from './dataset.js';

/**
 * @param columns names of columns by what they are called here, such as pre: body_pre
 * @returns the network, and the names that no column is called here
 */
export function ownTables(
  edges: string,
  neurons: string,
  columns: ReadonlyMap<string, string>,
): { readonly dataset: Dataset; readonly unknown: readonly string[]; readonly known: readonly string[] } {
  const template = ownNetwork();
  const [table, connection] = [template.tables[0]!, template.connections[0]!];
  const renamed = <T extends NeuronTable | ConnectionTable>(own: T): T => ({
    ...own,
    columns: Object.fromEntries(
      Object.entries(own.columns).map(([name, column]) => [name, columns.get(name) ?? column]),
    ),
    // A column that was named has to be there; a sign may stand in either table.
    optional: own.optional?.filter((name) => name === 'sign' || !columns.has(name)),
  });
  const known = [...new Set([...Object.keys(connection.columns), ...Object.keys(table.columns)])];
  return {
    dataset: {
      ...template,
      tables: [{ ...renamed(table), file: neurons }],
      connections: [{ ...renamed(connection), file: edges }],
    },
    known,
    unknown: [...columns.keys()].filter((name) => !known.includes(name)),
  };
}
