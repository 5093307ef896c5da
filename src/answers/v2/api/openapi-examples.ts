/** Written by npm run openapi:examples: answers of the brain that ships. */
export const EXAMPLES = {
  requests: {},
  answer: {},
  dryRun: {},
  ndjson: '',
  csv: '',
  nodeSets: {},
  neurons: {},
  failures: {
    INVALID_PARAMETER: { error: '', code: '', path: '' },
    UNKNOWN_NEURONS: { error: '', code: '', path: '' },
    EMPTY_NODE_SET: { error: '', code: '', path: '' },
    TOO_EXPENSIVE: { error: '', code: '', path: '' },
  },
};
