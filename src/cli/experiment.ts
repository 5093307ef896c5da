/**
 * npm run experiment: an open experiment, which a document or options describe, or runs of version 1, which --stimulus
 * and its like describe. What only one of them needs is not loaded for the other.
 */
import { parseArgs } from 'node:util';
import { helpOf, runCommand, usage } from './command.js';
import { COMMAND_NAME } from './experiment-usage.js';
import { OPEN_OPTIONS } from './open-experiments/options.js';
import { PRESET_OPTIONS } from './preset-runs/options.js';

const openExperiments = async () => (await import('./open-experiments/command.js')).OPEN_EXPERIMENTS;
const presetRuns = async () => (await import('./preset-runs/command.js')).PRESET_RUNS;

const args = process.argv.slice(2);
const { onlyOpen, onlyPreset } = kindsOf(args);

if (args.includes('--help') || args.includes('-h')) {
  process.stdout.write(`${helpOf(await openExperiments())}\n\n${helpOf(await presetRuns())}`);
} else if (onlyOpen !== undefined && onlyPreset !== undefined) {
  const error = usage(
    { name: COMMAND_NAME },
    `${onlyPreset} is for runs of version 1 and ${onlyOpen} for open experiments, so they cannot be combined` +
      (onlyPreset === '--stimulus' ? '; --stimulate @stimulus/NAME stimulates the same neurons' : ''),
  );
  process.stderr.write(`${error.message}\n`);
  process.exitCode = error.exitCode;
} else if (onlyOpen !== undefined) {
  await runCommand(await openExperiments());
} else {
  await runCommand(await presetRuns());
}

/** What among the arguments is of one kind alone. */
function kindsOf(given: string[]): { readonly onlyOpen?: string; readonly onlyPreset?: string } {
  const { tokens } = parseArgs({
    args: given,
    options: Object.fromEntries(
      Object.entries({ ...PRESET_OPTIONS, ...OPEN_OPTIONS }).map(([name, { type }]) => [name, { type }]),
    ),
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  const onlyOf = (own: object, other: object) =>
    tokens.find((token) => token.kind === 'option' && token.name in own && !(token.name in other));
  const document = tokens.find(({ kind }) => kind === 'positional');
  const [open, preset] = [onlyOf(OPEN_OPTIONS, PRESET_OPTIONS), onlyOf(PRESET_OPTIONS, OPEN_OPTIONS)];
  return {
    ...(document?.kind === 'positional' && { onlyOpen: document.value }),
    ...(open?.kind === 'option' && { onlyOpen: `--${open.name}` }),
    ...(preset?.kind === 'option' && { onlyPreset: `--${preset.name}` }),
  };
}
