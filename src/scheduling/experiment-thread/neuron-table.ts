import { CsvEncoder } from '../../experiments/formats/csv.js';
import type { Connectome } from '../../connectome/connectome.js';
import { modelId } from '../../connectome/model-id.js';
import { searchNeurons } from '../../connectome/neuron-search.js';
import { LABELS } from '../../connectome/neuron-index.js';
import type { NeuronSearch } from './messages.js';

const COLUMNS = ['root_id', ...LABELS] as const;

/** The answer to a search for neurons: JSON with counts and suggestions, or CSV with the neurons alone. */
export function neuronTable(
  connectome: Connectome,
  { patterns, from, limit, format }: NeuronSearch,
): Uint8Array<ArrayBuffer> {
  const found = searchNeurons(connectome, patterns, { from, limit });
  const encoder = new TextEncoder();
  if (format === 'json') return encoder.encode(JSON.stringify({ model: modelId(connectome), ...found }));
  const csv = new CsvEncoder(
    COLUMNS.map((name) => ({ name, type: 'text' })),
    ',',
  );
  const { neurons } = found;
  const values = COLUMNS.map((name) => neurons.map((neuron) => neuron[name]));
  const rows = { condition: 0, rows: neurons.length, values, truncated: false };
  return Uint8Array.from(Buffer.concat([...csv.begin(), ...csv.append(rows), ...csv.end()]));
}
