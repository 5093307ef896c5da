/** Help and usage error of node dist/main.js. The service itself takes no arguments, so this runs only if there are some. */
import { type Environment, MEANINGS, readEnvironment } from '../../service/config/environment.js';
import { defineCommand, UsageError } from './command.js';
import { wrapped } from './text.js';

const INDENTED = ' '.repeat(6);

export const START = defineCommand({
  name: 'main.js',
  // npm would end on SIGTERM and leave the service behind.
  call: 'node dist/main.js',
  summary:
    'Starts the service: experiments on a spiking model of the fruit fly brain, over\n' +
    'HTTP. It runs until SIGTERM or Ctrl+C, and finishes accepted runs first.',
  options: {},
  notes: `settings, from environment variables, with their defaults here:
${settings().join('\n')}

npm run config prints the settings that the service would read. The values that
are allowed are in docs/operations.md. npm run up builds what is missing and
starts the service. The service describes its API at /docs; docs/guide has
examples.
`,
  async run() {
    throw new UsageError('it takes no arguments');
  },
});

function settings(): string[] {
  const defaults = readEnvironment({});
  return Object.entries(MEANINGS).flatMap(([name, meaning]) => [
    `  ${name}=${defaults[name as keyof Environment]}`,
    ...wrapped(meaning, INDENTED, INDENTED),
  ]);
}
