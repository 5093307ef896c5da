/** npm run config: the configuration that the service would read from this environment. */
import { type Environment, MEANINGS, readEnvironment } from '../config/environment.js';
import { withoutPassword } from '../config/redis-url.js';
import { runCommand } from './command.js';

await runCommand({
  name: 'config',
  summary: 'Prints the effective configuration, or an error that lists every invalid variable.',
  options: {
    json: { type: 'boolean', help: 'Print JSON.' },
  },
  async run({ json }) {
    const environment = readEnvironment(process.env);
    const names = Object.keys(MEANINGS) as (keyof Environment)[];
    const rows = names.map((name) => ({
      name,
      value:
        name === 'REDIS_URL' || name === 'REDIS_JOBS_URL'
          ? withoutPassword(environment[name])
          : environment[name],
      source: (process.env[name] ?? '') === '' ? 'default' : 'environment',
      meaning: MEANINGS[name],
    }));
    process.stdout.write(json ? `${JSON.stringify(rows, null, 2)}\n` : asTable(rows));
  },
});

function asTable(rows: readonly Readonly<Record<string, string | number>>[]): string {
  const columns = ['name', 'value', 'source', 'meaning'] as const;
  const widths = columns.map((column) => Math.max(...rows.map((row) => String(row[column]).length)));
  const lines = rows.map((row) =>
    columns
      .map((column, at) => String(row[column]).padEnd(widths[at]!))
      .join('  ')
      .trimEnd(),
  );
  return `${lines.join('\n')}\n`;
}
