/** A network that a laboratory made itself: a table of neurons and one of connections, with columns of any name. */
import { type ConnectionTable, type Dataset, type NeuronTable, ownNetwork } from './dataset.js';
import { CodedError } from '../errors.js';

/**
 * @param columns names of columns by what they are called here, such as pre: body_pre
 * @throws CodedError USAGE for a name that no column is called here
 */
export function ownTables(edges: string, neurons: string, columns: ReadonlyMap<string, string>): Dataset {
  const template = ownNetwork();
  const [table, connection] = [template.tables[0]!, template.connections[0]!];
  const known = new Set([...Object.keys(connection.columns), ...Object.keys(table.columns)]);
  const unknown = [...columns.keys()].filter((name) => !known.has(name));
  if (unknown.length > 0) {
    throw new CodedError(
      'USAGE',
      `--columns names ${unknown.join(', ')}; there are ${[...known].join(', ')}.`,
    );
  }
  const renamed = <T extends NeuronTable | ConnectionTable>(own: T, file: string): T => ({
    ...own,
    file,
    columns: Object.fromEntries(
      Object.entries(own.columns).map(([name, column]) => [name, columns.get(name) ?? column]),
    ),
    // A column that was named has to be there; a sign may stand in either table.
    optional: own.optional?.filter((name) => name === 'sign' || !columns.has(name)),
  });
  return { ...template, tables: [renamed(table, neurons)], connections: [renamed(connection, edges)] };
}
