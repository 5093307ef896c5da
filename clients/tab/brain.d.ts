/** Types of dist/local/brain.js of the npm package. */
import type { OpenBrain } from '../client.js';

export { Brain, BrainSession, connect, ServiceError } from '../client.js';
export type { BrainOptions, LoadProgress } from '../client.js';
export declare const openBrain: OpenBrain;
