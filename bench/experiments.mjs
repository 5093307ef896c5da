/** Input events of an experiment, for benchmarks of the simulation. */
import { protocolOf } from '../dist/experiments/presets/experiment.js';
import { drawInputEvents } from '../dist/engine/stimulus/input-events.js';

/** @returns {import('../dist/engine/stimulus/input-events.js').InputEvents} the input events that the service would draw */
export function eventsOf(connectome, experiment) {
  return drawInputEvents(protocolOf(connectome, experiment), String);
}
