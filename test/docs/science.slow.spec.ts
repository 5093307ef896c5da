/** docs/science.md gives numbers for both brains, so they are computed again: they depend on nothing but the brain. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { DriveRun } from '../../clients/typescript/src/client.js';
import { readPopulations } from '../../src/tools/compiler/populations.js';
import { openConnectome } from '../../src/engine/connectome/format.js';
import { STIMULUS_IDS, type StimulusId } from '../../src/experiments/presets/populations.js';
import { KernelEngine } from '../../src/engine/simulation/cpu/kernel-engine.js';
import { roundRate } from '../../src/experiments/presets/readout.js';
import { ExperimentRunner } from '../../src/experiments/presets/run-body.js';
import { meanSd } from '../../src/experiments/kinds/mean-sd.js';
import { compiledDrawing } from '../../src/engine/stimulus/compiled-drawing.js';
import { compileDrawingKernel, compileKernel } from '../../src/workers/pool/kernel-file.js';
import { connectomeFile } from '../support/connectomes.js';
import { describeWith } from '../support/requirements.js';

const SEEDS = Array.from({ length: 20 }, (_, i) => 42 + i);
const LARGE_ENOUGH_TO_SHOW_HZ = 1;

const document = readFileSync(resolve('docs/science.md'), 'utf8');
const rows = new Map(
  /<!-- table: responses -->\n+([^]*?)\n\n/
    .exec(document)![1]!
    .split('\n')
    .slice(2)
    .map((line) => line.split('|').map((cell) => cell.trim()))
    .map(([, stimulus, ...cells]) => [stimulus!, cells] as const),
);

async function responsesOf(name: 'default' | 'measured-corrected') {
  const connectome = openConnectome(new Uint8Array(readFileSync(await connectomeFile(name))).buffer);
  const runner = new ExperimentRunner(
    connectome,
    new KernelEngine(compileKernel(), connectome),
    compiledDrawing(compileDrawingKernel()),
  );
  return (stimulus: StimulusId) =>
    SEEDS.map((seed) => {
      const seeded = { stimulus, duration_ms: 100, intensity: 1, seed } as const;
      const { bytes } = runner.body(seeded, 'drive', runner.simulate(seeded));
      return JSON.parse(new TextDecoder().decode(bytes)) as DriveRun;
    });
}

function respondingOf(runs: readonly DriveRun[]): string {
  const { mean, sd } = meanSd(runs.map(({ spikes }) => spikes.responding_neurons));
  return `${roundRate(mean)} ± ${roundRate(sd)}`;
}

describe('the sources in docs/science.md', () => {
  it('are those of every stimulus and channel', () => {
    const { stimuli, channels } = readPopulations();
    const text = readFileSync(resolve('docs/science.md'), 'utf8').replaceAll('\\', '');
    const rowOf = (id: string) =>
      text.split('\n').find((line) => line.startsWith(`| ${id} `) && line.includes('doi.org'));
    for (const { id, citations } of stimuli) {
      for (const { text: name, doi } of citations)
        expect(rowOf(id)).toContain(`${name} ([${doi}](https://doi.org/${doi}))`);
    }
    for (const { id, kind, citations } of channels) {
      expect(rowOf(`\`${id}\``)).toContain(`| ${kind} `);
      for (const { text: name, doi } of citations) {
        expect(rowOf(`\`${id}\``)).toContain(`${name} ([${doi}](https://doi.org/${doi}))`);
      }
    }
  });
});

describe('the responses in docs/science.md', () => {
  it('are those of the ten stimuli', () => {
    expect([...rows.keys()]).toEqual([...STIMULUS_IDS]);
  });

  it('are those of the brain that ships', async () => {
    const respond = await responsesOf('default');
    const computed = STIMULUS_IDS.map((stimulus) => {
      const runs = respond(stimulus);
      const channels = Object.keys(runs[0]!.channels)
        .map((id) => [id, roundRate(meanSd(runs.map(({ channels }) => channels[id]!)).mean)] as const)
        .filter(([, rateHz]) => rateHz > LARGE_ENOUGH_TO_SHOW_HZ)
        .map(([id, rateHz]) => `${id} ${rateHz}`);
      return [stimulus, String(runs[0]!.spikes.stimulated_neurons), respondingOf(runs), channels.join(', ')];
    });
    const documented = [...rows].map(([stimulus, cells]) => [stimulus, cells[0], cells[1], cells[3]]);
    expect(documented).toEqual(computed);
  }, 180_000);
});

describeWith(['tables'], 'the responses of the measured wiring in docs/science.md', () => {
  it('are those of the tables', async () => {
    const respond = await responsesOf('measured-corrected');
    const computed = STIMULUS_IDS.map((stimulus) => [stimulus, respondingOf(respond(stimulus))]);
    expect([...rows].map(([stimulus, cells]) => [stimulus, cells[2]])).toEqual(computed);
  }, 180_000);
});
