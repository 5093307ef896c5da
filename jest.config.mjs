import './test/support/run-folder.mjs';

export default {
  testEnvironment: '<rootDir>/test/support/ending-environment.mjs',
  roots: ['<rootDir>/src', '<rootDir>/test'],
  testMatch: ['**/*.spec.ts'],
  // Their processes take a sixth of the time of all tests: npm run test:faults.
  testPathIgnorePatterns: ['/node_modules/', '<rootDir>/test/faults/'],
  // Packages of their own, for programs that a test starts.
  modulePathIgnorePatterns: ['<rootDir>/test/clients/generated/node_modules/'],
  moduleNameMapper: {
    '^(\\.{1,2}/.*)\\.js$': '$1',
    '^#platform$': '<rootDir>/src/engine/platform.node.ts',
    '^#client$': '<rootDir>/clients/typescript/src/client.ts',
    '^webgpu$': '<rootDir>/test/support/webgpu-binding.ts',
  },
  transform: {
    '(\\.[tj]s|/d3-[a-z-]+/.+\\.mjs)$': [
      '@swc/jest',
      {
        jsc: {
          target: 'es2023',
          parser: { syntax: 'typescript', decorators: true, dynamicImport: true },
          transform: { legacyDecorator: true, decoratorMetadata: true },
          keepClassNames: true,
        },
        module: { type: 'commonjs' },
      },
    ],
  },
  transformIgnorePatterns: [
    '/node_modules/(?!(@nestjs|cookie|content-disposition|hyparquet|hyparquet-compressors|hyparquet-writer|hysnappy|fzstd|d3-[a-z-]+|internmap)/)',
  ],
  setupFilesAfterEnv: ['<rootDir>/test/support/equal-bytes.ts'],
  globalSetup: '<rootDir>/test/support/built-sources.ts',
  testSequencer: '<rootDir>/test/support/long-first.mjs',
  // Limit for tests that hang; on a busy machine everything takes five times as long.
  testTimeout: 180_000,
  reporters: ['default', '<rootDir>/test/support/summary-reporter.mjs'],
  // One more than the two cores of a small machine: a tenth of the time the files wait, for timeouts or for services.
  maxWorkers: 3,
};
