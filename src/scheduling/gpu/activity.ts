import { LRUCache } from 'lru-cache';
import { expectedEvents } from '../../experiments/plan/prices.js';
import type { Protocol } from '../../stimulus/protocol.js';
import type { BatchTask } from './gpu-stage.js';

/** Amount of work of a simulation. */
export interface Load {
  readonly steps: number;
  readonly synapticEvents: number;
}

/** Groups whose activity is remembered. */
const GROUPS = 1000;

interface Measured {
  inputEvents: number;
  synapticEvents: number;
}

/**
 * Estimates how many synaptic events a task will deliver: its expected input events times the synaptic events that one of
 * them has led to, in tasks of the same group, or in all tasks while there were none of the group.
 */
export class Activity {
  readonly #ofGroup = new LRUCache<object | string, Measured>({ max: GROUPS });
  readonly #ofAll: Measured = { inputEvents: 0, synapticEvents: 0 };

  loadOf({ protocol, group }: BatchTask): Load {
    const { durationSteps: steps, eventBudget = Infinity } = protocol;
    const { inputEvents, synapticEvents } = this.#ofGroup.get(group) ?? this.#ofAll;
    const perInputEvent = inputEvents > 0 ? synapticEvents / inputEvents : 0;
    const expected = expectedInputEvents(protocol) * perInputEvent;
    return { steps, synapticEvents: Math.min(expected, eventBudget) };
  }

  /** @param synapticEvents what a task has delivered */
  learn({ protocol, group }: BatchTask, synapticEvents: number): void {
    const ofGroup = this.#ofGroup.get(group) ?? { inputEvents: 0, synapticEvents: 0 };
    this.#ofGroup.set(group, ofGroup);
    for (const measured of [ofGroup, this.#ofAll]) {
      measured.inputEvents += expectedInputEvents(protocol);
      measured.synapticEvents += synapticEvents;
    }
  }
}

/** The mean number of input events of a trial. */
export function expectedInputEvents({ inputs, durationSteps }: Protocol): number {
  return inputs.reduce((sum, input) => sum + expectedEvents(input, durationSteps), 0);
}
