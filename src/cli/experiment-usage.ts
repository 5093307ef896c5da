import type { CodedError } from '../errors.js';
import { usage } from './command.js';

export const COMMAND_NAME = 'experiment';

/** Wrong usage of `npm run experiment`. */
export function usageError(what: string): CodedError {
  return usage({ name: COMMAND_NAME }, what);
}
