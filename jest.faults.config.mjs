import base from './jest.config.mjs';

/**
 * npm run test:faults: the faults of test/faults in their full extent, one after the other; about 40 minutes.
 * npm run test:faults:short, with FAULTS=short: a short form of most of them, in about 4 minutes.
 */
process.env.FAULTS ??= 'full';
const isFull = process.env.FAULTS === 'full';

export default {
  ...base,
  roots: ['<rootDir>/test/faults'],
  testPathIgnorePatterns: ['/node_modules/'],
  ...(isFull && { testTimeout: 300_000, maxWorkers: 1 }),
};
