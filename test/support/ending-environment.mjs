/** The environment of all tests: a worker of Jest ends when Jest does, even if a test still has something open. */
import { TestEnvironment } from 'jest-environment-node';

process.once('disconnect', () => process.exit(1));

export default class extends TestEnvironment {}
