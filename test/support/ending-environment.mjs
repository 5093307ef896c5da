/** The environment of all tests: a worker of Jest ends when Jest does, even if a test still has something open. */
import { basename } from 'node:path';
import { TestEnvironment } from 'jest-environment-node';

process.once('disconnect', () => process.exit(1));

export default class extends TestEnvironment {
  constructor(config, context) {
    super(config, context);
    // Lists of processes show which file keeps a core busy.
    process.title = `jest ${basename(context.testPath)}`;
  }
}
