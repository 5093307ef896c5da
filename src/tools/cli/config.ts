/** npm run config prints the configuration that the service would read from this environment. */
import { type Environment, MEANINGS, readEnvironment } from '../../service/config/environment.js';
import { withoutPassword } from '../../service/redis/redis-url.js';
import { defineCommand, flag } from './command.js';
import { aligned } from './text.js';
import { own } from '../../engine/own.js';

export const command = defineCommand({
  name: 'config',
  summary: 'Prints the effective configuration, or an error that lists every invalid variable.',
  options: { json: flag('Print JSON.') },
  async run({ json }, _, { environment: given, print }) {
    const environment = readEnvironment(given);
    const names = Object.keys(MEANINGS) as (keyof Environment)[];
    const rows = names.map((name) => ({
      name,
      value:
        name === 'REDIS_URL' || name === 'REDIS_JOBS_URL'
          ? withoutPassword(environment[name])
          : environment[name],
      source: (own(given, name) ?? '') === '' ? 'default' : 'environment',
      meaning: MEANINGS[name],
    }));
    const text = json ? JSON.stringify(rows, null, 2) : aligned(rows.map(Object.values)).join('\n');
    print(`${text}\n`);
  },
});
