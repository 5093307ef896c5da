/** Draws and simulates runs, trials and steps in this thread, as a worker of the service does. */
import type { Connectome } from '../../src/engine/connectome/connectome.js';
import { KernelEngine } from '../../src/engine/simulation/cpu/kernel-engine.js';
import { RewirableEngine } from '../../src/engine/simulation/rewiring/rewirable-engine.js';
import { compiledDrawing } from '../../src/engine/stimulus/compiled-drawing.js';
import { MAX_WHOLE_TRIAL_STEPS, STEPS_PER_MS } from '../../src/engine/stimulus/protocol.js';
import {
  isProgress,
  type SessionStep,
  type StepResult,
  type TrialProgress,
  type TrialResult,
  type TrialTask,
} from '../../src/experiments/plan/trial.js';
import { ExperimentRunner } from '../../src/experiments/presets/run-body.js';
import { sessionSteps, trialInSegments, trialOf, TrialReader } from '../../src/experiments/run/readout.js';
import { pauseIfDue } from './turns.js';

/** The compiled kernels, as bytes of WebAssembly. */
export interface Kernels {
  readonly simulation: ArrayBuffer;
  readonly rewiring: ArrayBuffer;
  readonly drawing: ArrayBuffer;
}

/** A segment of a long trial takes about 10 ms, so each one is a turn. */
const AFTER_EACH_SEGMENT = (): boolean => true;

export class Computer {
  readonly runner: ExperimentRunner;
  readonly #whole: ReturnType<typeof trialOf>;
  readonly #inSegments: ReturnType<typeof trialInSegments>;
  readonly #step: ReturnType<typeof sessionSteps>;

  constructor(connectome: Connectome, kernels: Kernels) {
    const simulation = new WebAssembly.Module(kernels.simulation);
    const engine = new KernelEngine(simulation, connectome);
    const draw = compiledDrawing(new WebAssembly.Module(kernels.drawing));
    const modules = () => ({ simulation, rewiring: new WebAssembly.Module(kernels.rewiring) });
    const rewirable = new RewirableEngine(engine, connectome, modules);
    const reader = new TrialReader(connectome, draw);
    this.runner = new ExperimentRunner(connectome, engine, draw);
    this.#whole = trialOf(reader, rewirable);
    this.#inSegments = trialInSegments(reader, (wiring) => rewirable.engineFor(wiring));
    this.#step = sessionSteps(reader, rewirable);
  }

  /** @throws the reason of the signal */
  async runTrial(task: TrialTask, signal: AbortSignal): Promise<TrialResult> {
    await pauseIfDue(signal);
    if (task.protocol.durationSteps <= MAX_WHOLE_TRIAL_STEPS) return this.#whole(task);
    let result: TrialResult | TrialProgress | undefined;
    do {
      await pauseIfDue(signal);
      result = this.#inSegments(task, result as TrialProgress | undefined, AFTER_EACH_SEGMENT);
    } while (isProgress(result));
    return result;
  }

  async runStep(task: TrialTask, step: SessionStep): Promise<StepResult> {
    let drives: StepResult['drives'];
    const durationMs = (step.endStep - step.startStep) / STEPS_PER_MS;
    const result = this.#step(task, step, (raster) => {
      if (step.readsDrives) drives = this.runner.drives(raster, durationMs);
    });
    return { ...result, ...(drives && { drives }) };
  }
}
