/** What a benchmark needs to know about an experiment. */
import { protocolOf } from '../dist/answers/v1/protocol.js';
import { drawInputEvents } from '../dist/experiment/input-events.js';

/** @returns {import('../dist/experiment/input-events.js').InputEvents} the input events that the service would draw */
export function eventsOf(connectome, experiment) {
  return drawInputEvents(protocolOf(connectome, experiment), String);
}
