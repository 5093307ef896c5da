import { NodeSetResolver } from '../../engine/connectome/node-set-resolver.js';
import { STEPS_PER_MS } from '../../engine/stimulus/protocol.js';
import type { Subject } from './subject.js';

export const TRIALS = 30;
const DURATION_MS = 1000;
/** Any number would do; this one is the release. */
const SEED = 783;

/** Inputs in Hz by selector, a selector of neurons whose outputs are cut, and the gain of a synapse if it is not the default. */
export interface StudiedInputs {
  readonly ratesHz: Readonly<Record<string, number>>;
  readonly silenced?: string | undefined;
  readonly synapseMv?: number | undefined;
}

/** Trials of the published protocol: 30 of 1 s. Selectors may name neurons that the brain lacks. */
export class RepeatedTrials {
  readonly #sets: NodeSetResolver;

  constructor(private readonly subject: Subject) {
    this.#sets = new NodeSetResolver(subject.connectome, { node_sets: {}, on_missing: 'skip' });
  }

  has(...selectors: readonly string[]): boolean {
    return selectors.every((selector) => this.#neuronsOf(selector).length > 0);
  }

  /** Runs one trial and adds the spikes of each neuron to `counts`. */
  count(
    { ratesHz, silenced, synapseMv }: StudiedInputs,
    trial: number,
    counts: Float64Array = new Float64Array(this.subject.connectome.neuronCount),
  ): Float64Array {
    const endStep = DURATION_MS * STEPS_PER_MS;
    const { neurons } = this.subject.simulate({
      inputs: Object.entries(ratesHz).map(([selector, rateHz]) => {
        const name = selector.replace('@', '');
        const train = { kind: 'poisson', name, rateHz, seed: SEED, trial, startStep: 0, endStep } as const;
        return { neurons: this.#neuronsOf(selector), train };
      }),
      silenced: silenced === undefined ? new Uint32Array(0) : this.#neuronsOf(silenced),
      durationSteps: endStep,
      ...(synapseMv !== undefined && { constants: { synapseMv } }),
    });
    for (const neuron of neurons) counts[neuron]! += 1;
    return counts;
  }

  /** @param counts of one trial or several */
  rateHz(selector: string, counts: Float64Array, trials = 1): number {
    const neurons = this.#neuronsOf(selector);
    const spikes = neurons.reduce((sum, neuron) => sum + counts[neuron]!, 0);
    return spikes / neurons.length / trials / (DURATION_MS / 1000);
  }

  #neuronsOf(selector: string): Uint32Array {
    return this.#sets.neuronsIfAny(selector);
  }
}
