/** A table of spikes as JSON has it, for those who read the answer of a service. */
import { STEPS_PER_MS } from '../../../experiment/protocol.js';
import type { SpikeTable } from '../result.js';

/** One member for each column, with the ids of the neurons. */
export interface TableColumns {
  readonly trial: readonly number[];
  readonly t_ms: readonly number[];
  readonly root_id: readonly string[];
  /** Of a table of input events. */
  readonly input?: readonly string[];
  readonly truncated?: boolean;
}

/**
 * The columns as the writers of tables take them.
 * @param indexOf the place of a neuron in the connectome, by its id
 */
export function spikeTableOf(
  { trial, t_ms: timesMs, root_id: ids, input, truncated = false }: TableColumns,
  inputNames: readonly string[],
  indexOf: (id: string) => number,
): SpikeTable {
  return {
    table: input === undefined ? 'spikes' : 'inputs',
    trials: Uint8Array.from(trial),
    steps: Uint16Array.from(timesMs, (ms) => Math.round(ms * STEPS_PER_MS)),
    neurons: Uint32Array.from(ids, (id) => indexOf(id)),
    ...(input && { inputs: Uint8Array.from(input, (name) => inputNames.indexOf(name)), inputNames }),
    truncated,
  };
}
