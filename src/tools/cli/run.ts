/** Runs the command of a file: `npm run model:inspect -- FILE` runs `node dist/tools/cli/run.js model-inspect FILE`. */
import { runCommand, type Command } from './command.js';

const [name, ...args] = process.argv.slice(2);
const { command } = (await import(`./${name}.js`)) as { readonly command: Command };
await runCommand(command, args);
