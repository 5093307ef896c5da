/** Rates of channels of a live brain, from the spikes of its last steps. */
import type { CompactAtlas } from '../../../src/engine/connectome/atlas-binary.js';
import { wildcard } from '../../../src/engine/connectome/wildcard.js';
import { neuronsWith } from '../selection.js';
import type { Channel } from '../service/client.js';
import { countsOf } from '../service/run-result.js';

/** Rates are means over this time: one spike of a neuron is then 5 Hz. */
export const WINDOW_MS = 200;

interface StepSpikes {
  readonly durationMs: number;
  /** Spikes of each channel. */
  readonly spikes: ReadonlyMap<string, number>;
}

export class ChannelRates {
  readonly #channelsOf = new Map<number, string[]>();
  readonly #sizes = new Map<string, number>();
  #steps: StepSpikes[] = [];

  constructor(channels: readonly Channel[], atlas: CompactAtlas) {
    for (const { id, selectors } of channels) {
      const tests = selectors.map(({ type = '*', super_class, side: only, except = [] }) => {
        const isNamed = wildcard(type);
        return ({ name, superClass }: CompactAtlas['types'][number], side: string): boolean =>
          isNamed(name) &&
          !except.includes(name) &&
          (super_class ?? superClass) === superClass &&
          (only ?? side) === side;
      });
      const members = neuronsWith(atlas, (type, side) => tests.some((fits) => fits(type, side)));
      this.#sizes.set(id, members.length);
      for (const neuron of members) {
        this.#channelsOf.set(neuron, [...(this.#channelsOf.get(neuron) ?? []), id]);
      }
    }
  }

  /**
   * @param neurons one entry for each spike of the step
   * @returns rates by channel: in the step with two decimals, as drives read them, and over the last steps in whole Hz
   */
  add(
    neurons: readonly number[],
    durationMs: number,
  ): Readonly<Record<'step' | 'window', Record<string, number>>> {
    const spikes = countsOf(neurons.flatMap((neuron) => this.#channelsOf.get(neuron) ?? []));
    const steps = [...this.#steps, { durationMs, spikes }];
    while (sumOf(steps) - steps[0]!.durationMs >= WINDOW_MS) steps.shift();
    this.#steps = steps;
    return {
      step: this.#ratesOf(steps.slice(-1), 100),
      window: this.#ratesOf(steps, 1),
    };
  }

  /** @param parts of a Hz to which the rates are rounded */
  #ratesOf(steps: readonly StepSpikes[], parts: number): Record<string, number> {
    return Object.fromEntries(
      [...this.#sizes].map(([id, size]) => {
        const count = steps.reduce((sum, step) => sum + (step.spikes.get(id) ?? 0), 0);
        return [id, Math.round((1000 * parts * count) / Math.max(1, size) / sumOf(steps)) / parts];
      }),
    );
  }
}

function sumOf(steps: readonly StepSpikes[]): number {
  return steps.reduce((sum, { durationMs }) => sum + durationMs, 0);
}
