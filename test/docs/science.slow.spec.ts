/** docs/science.md gives numbers for both brains, so they are computed again: they depend on nothing but the brain. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { summaryOf, type RoundedSpread } from '../../src/cli/preset-runs/summary.js';
import type { RunBody } from '../../src/cli/preset-runs/source.js';
import { readPopulations } from '../../src/compiler/populations.js';
import { openConnectome } from '../../src/connectome/format.js';
import { STIMULUS_IDS, type StimulusId } from '../../src/answers/v1/populations.js';
import { KernelEngine } from '../../src/engine/backends/cpu/kernel-engine.js';
import { ExperimentRunner } from '../../src/answers/v1/run-body.js';
import { compiledDrawing } from '../../src/experiment/compiled-drawing.js';
import { compileDrawingKernel, compileKernel } from '../../src/pool/kernel-file.js';
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
  const runner = new ExperimentRunner(connectome, new KernelEngine(compileKernel(), connectome), {
    draw: compiledDrawing(compileDrawingKernel()),
  });
  return (stimulus: StimulusId) => {
    const experiment = { stimulus, duration_ms: 100, intensity: 1 } as const;
    const runs = SEEDS.map((seed) => {
      const seeded = { ...experiment, seed };
      const inputEvents = runner.inputEventsOf(seeded);
      const body = runner.body(seeded, 'drive', inputEvents, runner.simulate(seeded, inputEvents));
      return JSON.parse(new TextDecoder().decode(body)) as RunBody;
    });
    return { runs, summary: summaryOf({ experiment, seeds: SEEDS, silenced: [], runs }) };
  };
}

function shown({ mean, sd }: RoundedSpread): string {
  return `${mean} ± ${sd}`;
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
      const { runs, summary } = respond(stimulus);
      const channels = summary.channels
        .filter(([, { mean }]) => mean > LARGE_ENOUGH_TO_SHOW_HZ)
        .map(([id, { mean }]) => `${id} ${mean}`);
      return [
        stimulus,
        String(runs[0]!.spikes.stimulated_neurons),
        shown(summary.respondingNeurons),
        channels.join(', '),
      ];
    });
    const documented = [...rows].map(([stimulus, cells]) => [stimulus, cells[0], cells[1], cells[3]]);
    expect(documented).toEqual(computed);
  }, 180_000);
});

describeWith(['tables'], 'the responses of the measured wiring in docs/science.md', () => {
  it('are those of the tables', async () => {
    const respond = await responsesOf('measured-corrected');
    const computed = STIMULUS_IDS.map((stimulus) => [
      stimulus,
      shown(respond(stimulus).summary.respondingNeurons),
    ]);
    expect([...rows].map(([stimulus, cells]) => [stimulus, cells[2]])).toEqual(computed);
  }, 180_000);
});
