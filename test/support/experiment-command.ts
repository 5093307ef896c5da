/** npm run experiment on the small brain, in this process. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCommand, type CommandResult } from './commands.js';
import { smallConnectomeFile } from './small-connectome.js';

/** Every type of report, and a sweep. */
export const DOCUMENT = {
  name: 'Sugar, twice',
  inputs: { sugar: { node_set: 'S_sugar' }, food: { node_set: 'S_food', rate_hz: 50 } },
  duration_ms: 100,
  trials: 3,
  reports: {
    walk: { node_set: '@channel/walk', group_by: ['side'] },
    bins: { node_set: 'C_escape', type: 'histogram', bin_ms: 25 },
    spikes: { node_set: '@all', type: 'spikes' },
    events: { node_set: '@all', type: 'inputs' },
    potentials: { node_set: 'C_walk', type: 'membrane', dt_ms: 20 },
  },
  sweep: [{ set: 'inputs.sugar.rate_hz', values: [0, 100, 200] }],
};
const SCREEN = {
  inputs: { sugar: { node_set: 'S_sugar', rate_hz: 150 } },
  duration_ms: 100,
  trials: 2,
  reports: { walk: { node_set: 'C_walk' } },
  sweep: [{ each: ['S_*', 'C_*'], group_by: ['type'], as: 'silence' }],
};

export const directory = mkdtempSync(join(tmpdir(), 'experiment-command-'));
afterAll(() => rmSync(directory, { recursive: true }));
export const inDirectory = (name: string) => join(directory, name);
/** DOCUMENT, as a file. */
export const file = inDirectory('document.json');
writeFileSync(file, JSON.stringify(DOCUMENT));
/** SCREEN, as a file. */
export const screenFile = inDirectory('screen.json');
writeFileSync(screenFile, JSON.stringify(SCREEN));

/**
 * Arguments that say on which brain; with one worker by default, because starting a worker takes longer than running.
 */
export function complete(args: readonly string[]): string[] {
  if (args.includes('--url')) return [...args];
  const workers = args.includes('--workers') ? [] : ['--workers', '1'];
  return [...args, '--connectome', smallConnectomeFile(), ...workers];
}

export const experiment = (args: readonly string[], input?: string): Promise<CommandResult> =>
  runCommand('experiment', complete(args), input === undefined ? {} : { input });
