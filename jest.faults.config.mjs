import base from './jest.config.mjs';

/** npm run test:faults: the faults of test/faults in their full extent, one after the other; about 40 minutes. */
process.env.FAULTS = 'full';

export default {
  ...base,
  roots: ['<rootDir>/test/faults'],
  testTimeout: 300_000,
  maxWorkers: 1,
};
