/**
 * The file that every worker runs: opens the shared connectome, builds its engine, then answers tasks. It
 * holds no logic of its own; what a task computes is in answers/, engine/ and connectome/.
 */
import { workerData } from 'node:worker_threads';
import { gzipSync } from 'node:zlib';
import { DEFAULT_EXPERIMENT } from '../answers/v1/experiment.js';
import { QUERY_FIELDS } from '../answers/v1/fields.js';
import { availableStimuli } from '../answers/v1/presets.js';
import { ExperimentRunner } from '../answers/v1/run-body.js';
import { trialOf } from '../answers/v2/readout.js';
import type { TrialReading, TrialTask } from '../answers/v2/trial.js';
import { atlasOf } from '../connectome/atlas.js';
import { encodeAtlas } from '../connectome/atlas-binary.js';
import type { Connectome } from '../connectome/connectome.js';
import { viewConnectome } from '../connectome/sections.js';
import { KernelEngine } from '../engine/backends/cpu/kernel-engine.js';
import { failureOf } from '../errors.js';
import { compiledDrawing } from '../experiment/compiled-drawing.js';
import { MAXIMUM_RATE_HZ } from '../experiment/protocol.js';
import { compileDrawingKernel, compileKernel } from './kernel-file.js';
import { moved } from './moved.js';
import type { AtlasResult, Outcome, ResultOf, Task, V1RunResult, V1RunTask, WorkerData } from './task.js';
import { begin, end, type Ticket } from './ticket.js';

/** Level 6 takes twice the time of 3 for 2 % fewer bytes: acceptable for a body compressed once. */
const RUN_GZIP_LEVEL = 3;
const ATLAS_GZIP_LEVEL = 6;
/** The first runs of a new thread are slow, and so is the first of each stimulus; no request should be one of them. */
const WARM_UP_ROUNDS = 3;
const WARM_UP_TRIAL_STEPS = 1000;
const WARM_UP_TRIAL_NEURONS = 20;

/** Nobody reads it: whoever withdrew the task knows. */
const WITHDRAWN: Outcome<never> = {
  ok: false,
  failure: { code: 'RUN_CANCELLED', message: 'The task was withdrawn before it started.' },
};

type Answer = (task: Task) => unknown;

export default start(workerData as WorkerData);

function start({ connectome: buffer }: WorkerData): Answer {
  const connectome = viewConnectome(buffer);
  const engine = new KernelEngine(compileKernel(), connectome);
  const draw = compiledDrawing(compileDrawingKernel());
  const runner = new ExperimentRunner(connectome, engine, { draw });
  const runTrial = trialOf(connectome, engine, draw);
  warmUp(connectome, runner, runTrial);
  return (task) => {
    try {
      switch (task.kind) {
        case 'v1-run':
          return ticketed(task.ticket, () => {
            const result = runExperiment(runner, task);
            return moved(result, [result.body, result.gzip]);
          });
        case 'v2-trial':
          return ticketed(task.ticket, () => {
            const reading = runTrial(task.trial, task.simulated);
            return moved(reading, arraysOf(reading));
          });
        case 'atlas': {
          const result = writeAtlas(connectome);
          return moved(result, Object.values(result) as Uint8Array[]);
        }
        case 'probe':
          return { ok: true, result: undefined } satisfies Outcome<ResultOf['probe']>;
      }
    } catch (error) {
      return { ok: false, failure: failureOf(error) } satisfies Outcome<never>;
    }
  };
}

function warmUp(
  connectome: Connectome,
  runner: ExperimentRunner,
  runTrial: (trial: TrialTask) => TrialReading,
): void {
  for (let round = 0; round < WARM_UP_ROUNDS; round++) {
    for (const stimulus of [...availableStimuli(connectome.metadata), 'none'] as const) {
      const experiment = { ...DEFAULT_EXPERIMENT, stimulus };
      for (const view of QUERY_FIELDS.view.allowed)
        runExperiment(runner, { kind: 'v1-run', experiment, view, gzip: true });
    }
    runTrial(warmUpTrial(connectome));
  }
}

/** Its trains have every layer of rates, whose tables take most of the time of a first trial. */
function warmUpTrial({ neuronCount }: Connectome): TrialTask {
  const window = { startStep: 0, endStep: WARM_UP_TRIAL_STEPS };
  const neurons = Uint32Array.from({ length: Math.min(WARM_UP_TRIAL_NEURONS, neuronCount) }, (_, i) => i);
  const train = { kind: 'poisson', name: '', rateHz: MAXIMUM_RATE_HZ, seed: 0, trial: 0, ...window } as const;
  return {
    protocol: {
      inputs: [{ neurons, train }],
      silenced: new Uint32Array(0),
      durationSteps: WARM_UP_TRIAL_STEPS,
    },
    reports: [{ type: 'rate', neurons, ...window }],
    countsAll: false,
  };
}

/** Computes what has not been withdrawn. */
function ticketed(ticket: Ticket | undefined, compute: () => unknown): unknown {
  if (ticket === undefined) return compute();
  if (!begin(ticket)) return WITHDRAWN;
  try {
    return compute();
  } finally {
    end(ticket);
  }
}

function runExperiment(runner: ExperimentRunner, task: V1RunTask): V1RunResult {
  const startedMs = performance.now();
  const inputEvents = runner.inputEventsOf(task.experiment);
  const raster = task.simulated ?? runner.simulate(task.experiment, inputEvents);
  const simulatedMs = performance.now();
  const body = runner.body(task.experiment, task.view, inputEvents, raster);
  const gzip = task.gzip ? compressed(body, RUN_GZIP_LEVEL) : undefined;
  return {
    body,
    gzip,
    backend: task.simulated === undefined ? 'cpu' : 'gpu',
    spikes: raster.steps.length,
    timings: { simulateMs: simulatedMs - startedMs, serialiseMs: performance.now() - simulatedMs },
  };
}

/** The arrays of a reading, which belong to it alone. */
function arraysOf({ reports, counts }: TrialReading): ArrayBufferView[] {
  return [...reports, counts ?? {}].flatMap((part) => Object.values(part).filter(ArrayBuffer.isView));
}

function writeAtlas(connectome: Connectome): AtlasResult {
  const json = new TextEncoder().encode(JSON.stringify(atlasOf(connectome)));
  const binary = encodeAtlas(connectome);
  return {
    json,
    jsonGzip: compressed(json, ATLAS_GZIP_LEVEL),
    binary,
    binaryGzip: compressed(binary, ATLAS_GZIP_LEVEL),
  };
}

/** In memory of its own: a slice of Node's buffer pool cannot be moved to another thread. */
function compressed(bytes: Uint8Array, level: number): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(gzipSync(bytes, { level }));
}
