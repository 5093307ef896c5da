import './service/signals.js';

/** The service of this process; undefined where it could not start, or was not asked to. */
export const app = process.argv.length > 2 ? await answerArguments() : await start();

async function start() {
  // Not before signals: everything takes a second to load, and they must be heard meanwhile.
  const { startService } = await import('./service/service.js');
  return startService();
}

/** The service takes no arguments, so it does not start with any: they ask for help, or are a mistake. */
async function answerArguments(): Promise<undefined> {
  const [{ runCommand }, { START }] = await Promise.all([
    import('./cli/command.js'),
    import('./cli/start.js'),
  ]);
  await runCommand(START);
}
