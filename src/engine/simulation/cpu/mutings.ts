import { getOrInsert } from '../../get-or-insert.js';
import type { SilencedWindow } from '../../stimulus/protocol.js';

/** Neurons that are silenced in one window. */
export interface Muting {
  readonly neurons: ArrayLike<number> & Iterable<number>;
  readonly startStep: number;
  readonly endStep: number;
}

/**
 * Rewrites windows so that those of one neuron neither overlap nor touch.
 * @param silenced the neurons that are silenced in all steps, which need no window
 */
export function mutingsOf(
  windows: readonly SilencedWindow[],
  silenced: Uint32Array,
  neuronCount: number,
): Muting[] {
  if (windows.length === 0) return [];
  const given = windows.filter(({ startStep, endStep }) => startStep < endStep);
  const windowsOf = new Uint8Array(neuronCount);
  for (const { neurons } of given)
    for (const neuron of neurons) windowsOf[neuron] = Math.min(2, windowsOf[neuron]! + 1);
  for (const neuron of silenced) windowsOf[neuron] = 0;
  const single = given.map((window) => ({
    ...window,
    neurons: window.neurons.filter((neuron) => windowsOf[neuron] === 1),
  }));
  const ofNeuron = new Map<number, SilencedWindow[]>();
  for (const window of given.toSorted((a, b) => a.startStep - b.startStep)) {
    for (const neuron of window.neurons) {
      if (windowsOf[neuron] === 2) getOrInsert(ofNeuron, neuron, (): SilencedWindow[] => []).push(window);
    }
  }
  return [...single, ...[...ofNeuron].flatMap(([neuron, windows]) => united(neuron, windows))];
}

/** @param windows sorted by their start */
function united(neuron: number, windows: readonly SilencedWindow[]): Muting[] {
  const neurons = [neuron];
  const result: { neurons: number[]; startStep: number; endStep: number }[] = [];
  for (const { startStep, endStep } of windows) {
    const last = result.at(-1);
    if (last !== undefined && startStep <= last.endStep) last.endStep = Math.max(last.endStep, endStep);
    else result.push({ neurons, startStep, endStep });
  }
  return result;
}
