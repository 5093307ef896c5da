/** The module of every worker thread: it opens the shared connectome, builds its engine, then answers tasks. */
import { workerData } from 'node:worker_threads';
import { gzipSync } from 'node:zlib';
import { DEFAULT_EXPERIMENT, availableStimuli } from '../../experiments/presets/experiment.js';
import { QUERY_FIELDS } from '../../experiments/presets/fields.js';
import { ExperimentRunner } from '../../experiments/presets/run-body.js';
import { sessionSteps, trialInSegments, trialOf, TrialReader } from '../../experiments/run/readout.js';
import {
  arraysOfResult,
  isProgress,
  type StepResult,
  type TrialResult,
  type TrialTask,
} from '../../experiments/plan/trial.js';
import { atlasOf } from '../../engine/connectome/atlas.js';
import { encodeAtlas } from '../../engine/connectome/atlas-binary.js';
import { encodeIds } from '../../engine/connectome/atlas-ids.js';
import type { Connectome } from '../../engine/connectome/connectome.js';
import { viewConnectome } from '../../engine/connectome/sections.js';
import { KernelEngine } from '../../engine/simulation/cpu/kernel-engine.js';
import { RewirableEngine } from '../../engine/simulation/rewiring/rewirable-engine.js';
import { CodedError, failureOf } from '../../engine/errors.js';
import { compiledDrawing } from '../../engine/stimulus/compiled-drawing.js';
import { MAX_RATE_HZ, MAX_WHOLE_TRIAL_STEPS, STEPS_PER_MS } from '../../engine/stimulus/protocol.js';
import { compileDrawingKernel, compileKernel, compileRewiringKernel } from './kernel-file.js';
import { GZIP_LEVEL } from './gzip.js';
import {
  beginTask,
  endTask,
  transfer,
  type AtlasResult,
  type Outcome,
  type Task,
  type V1RunResult,
  type V1RunTask,
  type WorkerData,
} from './task.js';

/**
 * V8 compiles code during the first runs of a thread, and again for each new stimulus. No request should wait for
 * that.
 */
const WARM_UP_ROUNDS = 3;
const WARM_UP_TRIAL_STEPS = 1000;
const WARM_UP_TRIAL_NEURONS = 20;

/** A long trial gives way to other tasks at the first segment that ends after this. */
const MAX_TURN_MS = 50;

/** Answer to a withdrawn task. Nobody reads it, because the queue has dropped the task. */
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
  const runInParts = trialInSegments(reader, (wiring) => rewirable.engineFor(wiring));
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
          let drives: StepResult['drives'];
          const durationMs = (step.endStep - step.startStep) / STEPS_PER_MS;
          const reading = runStep(trial, step, (raster) => {
            if (step.readsDrives) drives = runner.drives(raster, durationMs);
          });
          return transfer({ ...reading, ...(drives && { drives }) }, arraysOfResult(reading));
        }
        const untilMs = performance.now() + MAX_TURN_MS;
        const result =
          trial.protocol.durationSteps > MAX_WHOLE_TRIAL_STEPS
            ? runInParts(trial, progress, () => performance.now() >= untilMs)
            : runTrial(trial, simulated);
        return transfer(result, arraysOfResult(isProgress(result) ? result.trialResult : result));
      }
      case 'atlas': {
        const result = writeAtlas(connectome);
        return transfer(result, Object.values(result));
      }
      case 'probe':
        return transfer(undefined, []);
    }
  };
  return (task) => {
    const flag = 'flag' in task ? task.flag : undefined;
    try {
      if (flag !== undefined && !beginTask(flag)) throw WITHDRAWN;
      return compute(task);
    } catch (error) {
      return { ok: false, failure: failureOf(error) } satisfies Outcome<never>;
    } finally {
      if (flag !== undefined) endTask(flag);
    }
  };
}

function warmUp(
  connectome: Connectome,
  runner: ExperimentRunner,
  runTrial: (trial: TrialTask) => TrialResult,
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

/**
 * Its trains need every layer of rates (see engine/stimulus). Building their tables is most of the cost of a first
 * trial.
 */
function warmUpTrial({ neuronCount }: Connectome): TrialTask {
  const window = { startStep: 0, endStep: WARM_UP_TRIAL_STEPS };
  const neurons = Uint32Array.from({ length: Math.min(WARM_UP_TRIAL_NEURONS, neuronCount) }, (_, i) => i);
  const train = { kind: 'poisson', name: '', rateHz: MAX_RATE_HZ, seed: 0, trial: 0, ...window } as const;
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
  const raster = task.simulated ?? runner.simulate(task.experiment);
  const simulatedMs = performance.now();
  const body = runner.body(task.experiment, task.view, raster);
  // Copied, because a slice of Node's buffer pool cannot be transferred to another thread.
  const gzip = task.gzip ? Uint8Array.from(gzipSync(body.bytes, { level: GZIP_LEVEL })) : undefined;
  return {
    body,
    gzip,
    backend: task.simulated === undefined ? 'cpu' : 'gpu',
    spikes: raster.steps.length,
    timings: { simulateMs: simulatedMs - startedMs, serialiseMs: performance.now() - simulatedMs },
  };
}

function writeAtlas(connectome: Connectome): AtlasResult {
  const encoder = new TextEncoder();
  return {
    json: encoder.encode(JSON.stringify(atlasOf(connectome))),
    binary: encodeAtlas(connectome),
    ids: encoder.encode(encodeIds(connectome)),
  };
}
