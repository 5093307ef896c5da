/** Protocols on a GPU, through all threads of its process: its results equal those of the CPU. */
import { protocolOf, DEFAULT_EXPERIMENT } from '../../src/experiments/presets/experiment.js';
import { readConnectomeFile } from '../../src/workers/pool/connectome-file.js';
import type { Connectome } from '../../src/engine/connectome/connectome.js';
import { openConnectome } from '../../src/engine/connectome/format.js';
import { ReferenceEngine } from '../../src/engine/simulation/reference-engine.js';
import { drawInputEvents } from '../../src/engine/stimulus/input-events.js';
import type { Input, Protocol } from '../../src/engine/stimulus/protocol.js';
import { GpuHost } from '../../src/workers/gpu/gpu-host.js';
import { describeWith } from '../support/requirements.js';
import { smallConnectomeFile } from '../support/small-connectome.js';

/** Far more than a software adapter takes to compile. */
const TIMEOUT_MS = 120_000;

/** Input events in given steps. */
const given = (neurons: number[], steps: number[]): Input => ({
  neurons: Uint32Array.from(neurons),
  train: { kind: 'spikes', steps: Uint32Array.from(steps) },
});
const open = (...inputs: Input[]): Protocol => ({
  inputs,
  silenced: new Uint32Array(0),
  durationSteps: 500,
});

describeWith(['gpu'], 'the GPU process', () => {
  let connectome: Connectome;
  let host: GpuHost;

  beforeAll(async () => {
    const connectomeFile = smallConnectomeFile();
    connectome = openConnectome(await readConnectomeFile(connectomeFile));
    const { digest } = connectome;
    const [opened, { widths }] = await GpuHost.open({
      connectomeFile,
      digest,
      allowSoftware: true,
      widths: [1, 4],
    });
    host = opened;
    expect(widths).toEqual([1, 4]);
  }, TIMEOUT_MS);
  afterAll(() => host.close());

  const v1 = (seed: number, durationMs: 50 | 100 = 50) =>
    protocolOf(connectome, { ...DEFAULT_EXPERIMENT, stimulus: 'loom', duration_ms: durationMs, seed });
  const onCpu = (protocol: Protocol) =>
    new ReferenceEngine(connectome).simulate(
      drawInputEvents(protocol, (i) => connectome.neuronId(i)),
      protocol,
    );

  it(
    'simulates protocols of any version and of several durations, spike for spike as the CPU',
    async () => {
      const protocols = [v1(1), open(given([0, 1, 2, 3, 4, 5], [10, 60, 110, 160, 210])), v1(2, 100), v1(3)];
      const trials = await host.simulate(protocols, TIMEOUT_MS);
      const simulated = trials.filter((trial) => trial !== undefined);
      // Some may lack a certificate.
      expect(simulated.length).toBeGreaterThan(1);
      expect(trials[2] ?? trials[0]).toBeDefined();
      trials.forEach((trial, i) => {
        if (trial !== undefined) expect(trial).toEqual(onCpu(protocols[i]!));
      });
    },
    TIMEOUT_MS,
  );

  it(
    'simulates silenced neurons, budgets and inputs that meet in a step',
    async () => {
      const protocol = v1(1);
      const protocols: Protocol[] = [
        { ...protocol, silenced: Uint32Array.of(1, 2, 3) },
        { ...protocol, eventBudget: 100 },
        open(given([0, 1], [10, 20]), given([1, 2], [20, 30])),
        open(),
      ];
      const trials = await host.simulate(protocols, TIMEOUT_MS);
      const expected = protocols.map(onCpu);
      expect(expected[1]!.stoppedAtStep).toBeLessThan(499);
      expect(trials.filter((trial) => trial !== undefined).length).toBeGreaterThan(1);
      trials.forEach((trial, i) => {
        if (trial !== undefined) expect(trial).toEqual(expected[i]);
      });
    },
    TIMEOUT_MS,
  );

  it(
    'has several batches in flight, more than fit side by side among them',
    async () => {
      const batches = [
        [v1(1), v1(2)],
        [1, 2, 3, 4, 5, 6].map((seed) => v1(seed)),
        [v1(7)],
        [v1(8), v1(9, 100)],
      ];
      const answers = await Promise.all(batches.map((batch) => host.simulate(batch, TIMEOUT_MS)));
      expect(answers.map(({ length }) => length)).toEqual([2, 6, 1, 2]);
      const pairs = answers.flatMap((trials, at) =>
        trials.map((trial, i) => [trial, batches[at]![i]!] as const),
      );
      const simulated = pairs.filter(([trial]) => trial !== undefined);
      expect(simulated.length).toBeGreaterThan(5);
      for (const [trial, protocol] of simulated) expect(trial).toEqual(onCpu(protocol));
    },
    TIMEOUT_MS,
  );
});
