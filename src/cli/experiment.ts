/** npm run experiment */
import { runCommand } from './command.js';
import { PRESET_RUNS } from './preset-runs/command.js';

await runCommand(PRESET_RUNS);
