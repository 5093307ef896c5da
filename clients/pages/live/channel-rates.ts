/** Rates of channels of a live brain, from the spikes of its last steps. */
import type { CompactAtlas } from '../../../src/engine/connectome/atlas-binary.js';
import { SIDES } from '../../../src/engine/connectome/connectome.js';
import { wildcard } from '../../../src/engine/connectome/wildcard.js';
import type { Channel } from '../service/client.js';

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

  constructor(channels: readonly Channel[], { types, typeIndices, sides }: CompactAtlas) {
    for (const { id, selectors } of channels) {
      const ofTypes = types.map(({ name, superClass }) =>
        selectors.filter(
          ({ type, super_class, except = [] }) =>
            (type === undefined || wildcard(type)(name)) &&
            !except.includes(name) &&
            (super_class ?? superClass) === superClass,
        ),
      );
      const members = [...typeIndices.keys()].filter((neuron) =>
        ofTypes[typeIndices[neuron]!]!.some(
          ({ side }) => (side ?? SIDES[sides[neuron]!]) === SIDES[sides[neuron]!],
        ),
      );
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
    const spikes = new Map<string, number>();
    for (const neuron of neurons) {
      for (const id of this.#channelsOf.get(neuron) ?? []) spikes.set(id, (spikes.get(id) ?? 0) + 1);
    }
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
