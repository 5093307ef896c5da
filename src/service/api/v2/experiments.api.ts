import { readOperations, type HeaderDescriptions, type Operation } from '../../http/api-operation.js';
import EXAMPLES from './openapi-examples.json' with { type: 'json' };

interface Shared {
  /** Brain seconds that a client has left. */
  readonly budgetHeaders: HeaderDescriptions;
  /** Failures of which version 2 says more than the table of errors, which also speaks of runs. */
  readonly failures: NonNullable<Operation['failureDescriptions']>;
}

export const {
  ApiOperationOf,
  shared: { budgetHeaders: BUDGET_HEADERS, failures: FAILURES_OF_V2 },
} = readOperations<Shared>(new URL('./operations.yaml', import.meta.url), EXAMPLES);
