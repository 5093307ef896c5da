import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { Connectome } from '../../src/engine/connectome/connectome.js';
import { openConnectome } from '../../src/engine/connectome/format.js';
import { compareSpikes, goldenReader, type GoldenReader } from '../../src/tools/golden/golden.js';
import { connectomeFile } from '../support/connectomes.js';
import { ENGINES } from '../support/engines.js';
import { describeWith, GOLDEN_DIR } from '../support/requirements.js';

/** With a cold cache the brain is compiled first. */
jest.setTimeout(300_000);

/** The oracle takes seconds for a long run. Random networks compare it with the kernel, too. */
const RUNS_OF_ORACLE: readonly string[] = [
  'sugar-100ms',
  'loom-100ms',
  'balance-loom-400ms',
  'rewired-sugar-800ms',
];

/** Runs of Brian 2 on different tables. */
const SETS = [
  [
    'golden-predicted',
    GOLDEN_DIR,
    [
      ['sugar-100ms', 2892],
      ['loom-100ms', 6820],
      ['food-100ms', 22_897],
      ['heat-200ms', 17_947],
    ],
  ],
  // Open experiments: 0.3 to 1 s, several inputs and windows, silenced neurons.
  [
    'measured-predicted',
    resolve(GOLDEN_DIR, 'open'),
    [
      ['sugar-1000ms', 7044],
      ['sugar-bitter-500ms', 3390],
      ['odour-1000ms', 226_879],
      ['loom-left-lesion-400ms', 6049],
    ],
  ],
  // Edited networks; brian2-edited.slow.spec.ts asks for them as documents, and compares membranes.
  [
    'measured-predicted',
    resolve(GOLDEN_DIR, 'edited'),
    [
      ['gain-0.7-sugar-1000ms', 3064],
      ['gain-1.3-sugar-500ms', 5032],
      ['balance-loom-400ms', 16_958],
      ['timing-odour-300ms', 40_345],
      ['cut-giant-fibre-350ms', 4905],
      ['rewired-sugar-800ms', 4295],
    ],
  ],
] as const;

describeWith(['tables', 'golden'], 'the whole brain against Brian 2, spike for spike', () => {
  describe.each(SETS)('%s', (brain, directory, runs) => {
    let connectome: Connectome;
    let read: GoldenReader;

    beforeAll(async () => {
      const file = await connectomeFile(brain);
      connectome = openConnectome(new Uint8Array(readFileSync(file)).buffer);
      read = goldenReader(connectome);
    });

    describe.each(ENGINES)('$name', ({ name: engine, build }) => {
      const own = runs.filter(([name]) => engine !== 'ReferenceEngine' || RUNS_OF_ORACLE.includes(name));
      if (own.length === 0) return;
      it.each(own)('%s: all %d spikes, none missing, none extra', (name, spikes) => {
        const csv = gunzipSync(readFileSync(resolve(directory, `${name}.csv.gz`))).toString();
        const golden = read(csv, name);
        const simulated = build(connectome).simulate(golden.events, golden);
        expect(compareSpikes(golden.spikes, simulated)).toEqual({ spikes, missing: 0, extra: 0 });
      });
    });
  });
});
