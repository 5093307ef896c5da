/** The file that every worker runs: opens the shared connectome, builds its engine, then answers tasks. */
import { workerData } from 'node:worker_threads';
import { gzipSync } from 'node:zlib';
import { DEFAULT_EXPERIMENT } from '../presets/experiment.js';
import { QUERY_FIELDS } from '../presets/fields.js';
import { availableStimuli } from '../presets/presets.js';
import { ExperimentRunner } from '../presets/run-body.js';
import { sessionSteps, trialInParts, trialOf, TrialReader } from '../experiments/run/readout.js';
import {
  arraysOfReading,
  isProgress,
  type StepReading,
  type TrialReading,
  type TrialTask,
} from '../experiments/plan/trial.js';
import { atlasOf } from '../connectome/atlas.js';
import { encodeAtlas, firstPartLength } from '../connectome/atlas-binary.js';
import type { Connectome } from '../connectome/connectome.js';
import { viewConnectome } from '../connectome/sections.js';
import { KernelEngine } from '../simulation/cpu/kernel-engine.js';
import { RewirableEngine } from '../simulation/rewiring/rewirable-engine.js';
import { CodedError, failureOf } from '../errors.js';
import { compiledDrawing } from '../stimulus/compiled-drawing.js';
import { MAXIMUM_RATE_HZ, MAXIMUM_TRIAL_STEPS, STEPS_PER_MS } from '../stimulus/protocol.js';
import { compileDrawingKernel, compileKernel, compileRewiringKernel } from './kernel-file.js';
import { GZIP_LEVEL } from '../gzip.js';
import { transfer } from './transfer.js';
import type { AtlasResult, Outcome, Task, V1RunResult, V1RunTask, WorkerData } from './task.js';
import { begin, end } from './cancellation-flag.js';

/** Level for bodies that are compressed once and sent often. */
const ATLAS_GZIP_LEVEL = 6;
/** The first runs of a new thread are slow, and so is the first of each stimulus; no request should be one of them. */
const WARM_UP_ROUNDS = 3;
const WARM_UP_TRIAL_STEPS = 1000;
const WARM_UP_TRIAL_NEURONS = 20;

/** A trial in parts takes a little longer than this before others come first. */
const LONGEST_TURN_MS = 50;

/** Outcome of a withdrawn task, which is not read: the queue has forgotten it. */
const WITHDRAWN = new CodedError('RUN_CANCELLED', 'The task was withdrawn before it started.');

export default start(workerData as WorkerData);

function start({ connectome: buffer }: WorkerData): (task: Task) => unknown {
  const connectome = viewConnectome(buffer);
  const kernel = compileKernel();
  const engine = new KernelEngine(kernel, connectome);
  const draw = compiledDrawing(compileDrawingKernel());
  const runner = new ExperimentRunner(connectome, engine, draw);
  const modules = () => ({ simulation: kernel, rewiring: compileRewiringKernel() });
  const rewirable = new RewirableEngine(engine, connectome, modules);
  const reader = new TrialReader(connectome, draw);
  const runTrial = trialOf(reader, rewirable);
  const runInParts = trialInParts(reader, (wiring) => rewirable.engineFor(wiring));
  const runStep = sessionSteps(reader, rewirable);
  warmUp(connectome, runner, runTrial);
  const compute = (task: Task): unknown => {
    switch (task.kind) {
      case 'v1-run': {
        const result = runExperiment(runner, task);
        return transfer(result, [result.body.bytes, result.gzip]);
      }
      case 'v2-trial': {
        const { trial, simulated, progress, step } = task;
        if (step !== undefined) {
          let drives: StepReading['drives'];
          const durationMs = (step.endStep - step.startStep) / STEPS_PER_MS;
          const reading = runStep(trial, step, (raster) => {
            if (step.readsDrives) drives = runner.drives(raster, durationMs);
          });
          return transfer({ ...reading, ...(drives && { drives }) }, arraysOfReading(reading));
        }
        const untilMs = performance.now() + LONGEST_TURN_MS;
        const result =
          trial.protocol.durationSteps > MAXIMUM_TRIAL_STEPS
            ? runInParts(trial, progress, () => performance.now() >= untilMs)
            : runTrial(trial, simulated);
        return transfer(result, arraysOfReading(isProgress(result) ? result.reading : result));
      }
      case 'atlas': {
        const result = writeAtlas(connectome);
        return transfer(result, Object.values(result) as Uint8Array[]);
      }
      case 'probe':
        return transfer(undefined, []);
    }
  };
  return (task) => {
    const flag = 'flag' in task ? task.flag : undefined;
    try {
      if (flag !== undefined && !begin(flag)) throw WITHDRAWN;
      return compute(task);
    } catch (error) {
      return { ok: false, failure: failureOf(error) } satisfies Outcome<never>;
    } finally {
      if (flag !== undefined) end(flag);
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
      for (const view of QUERY_FIELDS.view.enum)
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

function runExperiment(runner: ExperimentRunner, task: V1RunTask): V1RunResult {
  const startedMs = performance.now();
  const inputEvents = runner.inputEventsOf(task.experiment);
  const raster = task.simulated ?? runner.simulate(task.experiment, inputEvents);
  const simulatedMs = performance.now();
  const body = runner.body(task.experiment, task.view, inputEvents, raster);
  const gzip = task.gzip ? compressed(body.bytes, GZIP_LEVEL) : undefined;
  return {
    body,
    gzip,
    backend: task.simulated === undefined ? 'cpu' : 'gpu',
    spikes: raster.steps.length,
    timings: { simulateMs: simulatedMs - startedMs, serialiseMs: performance.now() - simulatedMs },
  };
}

function writeAtlas(connectome: Connectome): AtlasResult {
  const json = new TextEncoder().encode(JSON.stringify(atlasOf(connectome)));
  const binary = encodeAtlas(connectome);
  const start = binary.subarray(0, firstPartLength(binary.buffer));
  return {
    json,
    jsonGzip: compressed(json, ATLAS_GZIP_LEVEL),
    binary,
    binaryGzip: compressed(binary, ATLAS_GZIP_LEVEL),
    startGzip: compressed(start, ATLAS_GZIP_LEVEL),
  };
}

/** In memory of its own: a slice of Node's buffer pool cannot be moved to another thread. */
function compressed(bytes: Uint8Array, level: number): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(gzipSync(bytes, { level }));
}
