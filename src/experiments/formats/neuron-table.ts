import { joinedBytes } from '../../engine/bytes.js';
import { CsvEncoder } from './csv.js';
import type { Connectome } from '../../engine/connectome/connectome.js';
import { modelId } from '../../engine/connectome/model-id.js';
import { type NeuronPatterns, searchNeurons } from '../../engine/connectome/neuron-search.js';
import { LABELS } from '../../engine/connectome/neuron-index.js';

export interface NeuronSearch {
  readonly patterns: NeuronPatterns;
  readonly from: number;
  readonly limit: number;
  readonly format: 'json' | 'csv';
}

const TEXTS = ['root_id', ...LABELS] as const;
const NUMBERS = ['input_synapses', 'output_synapses'] as const;

/** The answer to a search for neurons: JSON with counts and suggestions, or CSV with only the neurons. */
export function neuronTable(
  connectome: Connectome,
  { patterns, from, limit, format }: NeuronSearch,
): Uint8Array<ArrayBuffer> {
  const found = searchNeurons(connectome, patterns, { from, limit });
  const encoder = new TextEncoder();
  if (format === 'json') return encoder.encode(JSON.stringify({ model: modelId(connectome), ...found }));
  const csv = new CsvEncoder(
    [
      ...TEXTS.map((name) => ({ name, type: 'text' }) as const),
      ...NUMBERS.map((name) => ({ name, type: 'int32' }) as const),
    ],
    ',',
  );
  const { neurons } = found;
  const values = [
    ...TEXTS.map((name) => neurons.map((neuron) => neuron[name])),
    ...NUMBERS.map((name) => Int32Array.from(neurons, (neuron) => neuron[name])),
  ];
  const rows = { condition: 0, rows: neurons.length, values, truncated: false };
  return joinedBytes([...csv.begin(), ...csv.append(rows), ...csv.end()]);
}
