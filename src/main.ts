import './service/signals.js';

/** The service of this process; undefined if it did not start, or if arguments asked for help. */
export const app = process.argv.length > 2 ? await answerArguments() : await start();

async function start() {
  // Loads signals.js first: the rest takes a second to load, and signals must be handled meanwhile.
  const { startService } = await import('./service/service.js');
  return startService();
}

/** The service takes no arguments. With any, it prints help or an error and does not start. */
async function answerArguments(): Promise<undefined> {
  const [{ runCommand }, { START }] = await Promise.all([
    import('./tools/cli/command.js'),
    import('./tools/cli/start.js'),
  ]);
  await runCommand(START);
}
