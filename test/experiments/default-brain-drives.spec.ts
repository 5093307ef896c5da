/**
 * Drives are made for bodies, and a body that does nothing for half of the stimuli is a broken toy: from `drive` alone, at the
 * defaults, a person should be able to name the stimulus of the fly.
 */
import { readFileSync } from 'node:fs';
import { openConnectome } from '../../src/engine/connectome/format.js';
import { STIMULUS_IDS } from '../../src/experiments/presets/populations.js';
import { compiledSimulators } from '../../src/tools/cli/simulators.js';
import { stimulusDrives, type StimulusDrives } from '../../src/tools/studies/studies.js';
import { Subject } from '../../src/tools/studies/subject.js';
import { connectomeFile } from '../support/connectomes.js';

const SEEDS = [1, 2, 3, 4, 5, 6];

/** Known behaviour of flies, from docs/science.md: these drives are strong, and apart from walking no other is. */
const EXPECTED: Readonly<Record<(typeof STIMULUS_IDS)[number], readonly string[]>> = {
  sugar: ['proboscis', 'stop'],
  loom: ['escape', 'wing'],
  food: ['approach'],
  touch: ['groom'],
  song: ['courtship', 'escape'],
  pheromone: ['approach', 'courtship'],
  colour: ['phototaxis'],
  humid: ['hygrotaxis'],
  heat: ['avoid'],
  bitter: ['avoid', 'reject'],
};
const STRONG = 1 / 3;

describe('the drives of the default brain', () => {
  let stimuli: readonly StimulusDrives[];
  beforeAll(async () => {
    const connectome = openConnectome(new Uint8Array(readFileSync(await connectomeFile('default'))).buffer);
    stimuli = stimulusDrives(new Subject(connectome, compiledSimulators()), SEEDS);
  }, 120_000);

  it.each(STIMULUS_IDS)('tell %s from the other stimuli', (id) => {
    const { assignedTo } = stimuli.find(({ stimulus }) => stimulus === id)!;
    expect(assignedTo.reduce((sum, times) => sum + times)).toBe(SEEDS.length);
    expect(assignedTo[STIMULUS_IDS.indexOf(id)]).toBeGreaterThanOrEqual(0.9 * SEEDS.length);
  });

  it.each(STIMULUS_IDS)('move for %s as a fly would', (id) => {
    const { drives } = stimuli.find(({ stimulus }) => stimulus === id)!;
    const strong = drives.filter((each) => each.id !== 'walk' && Math.abs(each.value.mean) >= STRONG);
    expect(strong.map((each) => each.id).sort()).toEqual(EXPECTED[id]);
  });
});
