import type { ChannelKind } from '../../connectome/populations.js';
import type { Experiment, View } from '../../answers/v1/experiment.js';

/** The members of an answer to POST /api/v1/run that the command reads. */
export interface RunBody {
  readonly id: string;
  readonly model: string;
  readonly spikes: {
    readonly total: number;
    readonly stimulated_neurons: number;
    readonly responding_neurons: number;
    readonly mean_rate_hz: number;
  };
  readonly channels: Readonly<Record<string, number>>;
  readonly drive: Readonly<Record<string, number>>;
  /** These two in view=full only. */
  readonly frames?: readonly RunFrame[];
  readonly top_types?: readonly RunTopType[];
}

export interface RunFrame {
  readonly t: number;
  readonly total: number;
  readonly channels: Readonly<Record<string, number>>;
  readonly steps: readonly number[];
  readonly spikes: readonly number[];
}

export interface RunTopType {
  readonly type: string;
  readonly super_class: string;
  readonly neurons: number;
  readonly responding: number;
  readonly spikes: number;
  readonly rate_hz: number;
  readonly stimulated: number;
}

/** Labels of the neurons of an answer, by their index. */
export interface NeuronLabels {
  readonly id: (neuron: number) => string;
  /** Empty for a neuron without a type. */
  readonly type: (neuron: number) => string;
  /** As top_types names the type, which it does for a neuron without one, too. */
  readonly typeLabel: (neuron: number) => string;
  readonly side: (neuron: number) => string;
}

/** The model as the text output shows it. */
export interface ModelSummary {
  /** What is simulated, and whether its wiring was measured. */
  readonly name: string;
  readonly kindOf: (channel: string) => ChannelKind | undefined;
}

/** Runs experiments: this process with a connectome file, or a service somewhere. */
export interface RunSource {
  model(): Promise<ModelSummary>;
  /** The body of the answer to POST /api/v1/run, byte for byte. */
  run(experiment: Experiment, view: View): Promise<Uint8Array>;
  labels(): Promise<NeuronLabels>;
}
