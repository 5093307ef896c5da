/**
 * The work of a worker on a trial: draw its input events, simulate, and read the reports from the spikes. Reading takes time in
 * proportion to the spikes; only tables also visit each of their neurons.
 */
import type { Connectome } from '../../engine/connectome/connectome.js';
import { firstNotBelow } from '../../engine/connectome/sorted-array.js';
import { getOrInsert } from '../../engine/get-or-insert.js';
import type { KernelEngine } from '../../engine/simulation/cpu/kernel-engine.js';
import type { SimulationEngine, SimulationOptions, Trial } from '../../engine/simulation/simulation.js';
import { newCursors } from '../../engine/stimulus/compiled-drawing.js';
import {
  CURSOR_WORDS,
  type DrawInputEvents,
  type InputEvents,
  joinedEvents,
  type TrainCursors,
  trainsWithCursors,
} from '../../engine/stimulus/input-events.js';
import { type Input, MAX_SEGMENT_STEPS, type Rewiring } from '../../engine/stimulus/protocol.js';
import type { EventsInTime, ReportWindow, SpikeCounts } from '../kinds/report-kind.js';
import { kindOf } from '../kinds/report-kinds.js';
import { isEventResult, rowsHere } from '../kinds/reports/event-table.js';
import {
  joinedResult,
  type SegmentState,
  recordingsOf,
  type SessionStep,
  type StepResult,
  type TrialProgress,
  type TrialResult,
  type TrialTask,
} from '../plan/trial.js';

/** An engine that simulates trials in segments. */
export type SegmentEngine = Pick<KernelEngine, 'newState' | 'loaded' | 'load' | 'advance' | 'save'>;

/** Draws, simulates (unless `simulated` is given) and reads a whole trial. One trial at a time. */
export function trialOf(reader: TrialReader, engine: SimulationEngine) {
  return (task: TrialTask, simulated?: Trial): TrialResult => {
    const events = reader.draw(task, task.protocol);
    const trial = simulated ?? engine.simulate(events.all, optionsOf(task));
    const endStep = (trial.stoppedAtStep ?? task.protocol.durationSteps - 1) + 1;
    return reader.read(task, eventsBefore(events, endStep), trial, { startStep: 0, endStep });
  };
}

/** The input events of a trial or segment. */
type DrawnEvents = ReturnType<TrialReader['draw']>;

/**
 * Simulates a trial that is too long for one go, segment by segment, until its time is up.
 * @param isTimeUp called after each segment
 * @returns the trial result; or its progress, if time was up before the end
 */
export function trialInSegments(
  reader: TrialReader,
  engineFor: (wiring: Rewiring | undefined) => SegmentEngine,
) {
  return (
    task: TrialTask,
    progress: TrialProgress | undefined,
    isTimeUp: () => boolean,
  ): TrialResult | TrialProgress => {
    const { durationSteps, constants, wiring, inputs } = task.protocol;
    const engine = engineFor(wiring);
    const cursors = cursorsBehind(progress?.state, progress?.spare, inputs);
    let trialResult = progress?.trialResult;
    engine.load(engine.newState(constants, progress?.state.brain));
    for (let startStep = progress?.step ?? 0; ; startStep += MAX_SEGMENT_STEPS) {
      const endStep = Math.min(startStep + MAX_SEGMENT_STEPS, durationSteps);
      const [ofSegment] = reader.segment(task, { startStep, endStep }, engine, cursors);
      trialResult = trialResult === undefined ? ofSegment : joinedResult(task, trialResult, ofSegment);
      if (endStep === durationSteps || trialResult.stoppedAtStep !== undefined) return trialResult;
      if (isTimeUp()) {
        const state = engine.newState(constants, progress?.spare?.brain);
        engine.save(state);
        return {
          step: endStep,
          state: { brain: state.memory, cursors },
          spare: progress?.state,
          trialResult,
        };
      }
    }
  };
}

/**
 * Computes a step of a session. The new state goes to other memory than the old state, so that the step can be repeated. The
 * old state is loaded only if the engine no longer holds it.
 * @param networks an engine for each network; `has` tells whether it is prepared
 * @param onRaster gets the spikes, which the next step overwrites
 */
export function sessionSteps(
  reader: TrialReader,
  networks: {
    has(wiring: Rewiring | undefined): boolean;
    engineFor(wiring: Rewiring | undefined): SegmentEngine;
  },
) {
  let last: { readonly number: number; readonly loaded: KernelEngine['loaded'] } | undefined;
  return (task: TrialTask, step: SessionStep, onRaster: (raster: EventsInTime) => void): StepResult => {
    const { constants, wiring, inputs } = task.protocol;
    const hadToPrepare = !networks.has(wiring);
    const engine = networks.engineFor(wiring);
    const isLoaded =
      last !== undefined && last.number === step.previousNumber && last.loaded === engine.loaded;
    last = undefined;
    if (!isLoaded) engine.load(engine.newState(constants, step.stateBefore?.brain));
    const cursors = cursorsBehind(step.stateBefore, step.memoryAfter, inputs);
    const [trialResult, raster] = reader.segment(task, step, engine, cursors);
    onRaster(raster);
    const state = engine.newState(constants, step.memoryAfter?.brain);
    engine.save(state);
    // If the reserved worker cut the step short, another one repeats it from the old state.
    if (trialResult.stoppedAtStep === undefined) last = { number: step.number, loaded: engine.loaded };
    // Sessions need the number of responding neurons, not the list.
    const { responders: _, ...read } = trialResult;
    return { ...read, hadToPrepare, state: { brain: state.memory, cursors } };
  };
}

/** Copies the cursors of a state, into the memory of another state if there is one. */
function cursorsBehind(
  state: SegmentState | undefined,
  memory: SegmentState | undefined,
  inputs: readonly Input[],
): TrainCursors {
  const cursors = memory?.cursors ?? newCursors(inputs);
  if (state === undefined) cursors.fill(0);
  else cursors.set(state.cursors);
  return cursors;
}

function optionsOf(task: TrialTask): SimulationOptions {
  const recordings = recordingsOf(task);
  return recordings.length === 0 ? task.protocol : { ...task.protocol, recordings };
}

/** Below this share of all neurons, sorting the neurons that spiked is faster than a scan of all. */
const SORTED_SHARE = 1 / 64;

/** Draws and reads trials of one connectome, whole or in segments. It reuses its counters, so use it for one trial at a time. */
export class TrialReader {
  /** All zero between two calls, like the marks. */
  readonly #counts: Uint32Array;
  readonly #marks: Uint32Array;
  readonly #neuronId: (neuron: number) => string;

  constructor(
    connectome: Pick<Connectome, 'neuronCount' | 'neuronId'>,
    private readonly drawEvents: DrawInputEvents,
  ) {
    this.#counts = new Uint32Array(connectome.neuronCount);
    this.#marks = new Uint32Array(connectome.neuronCount);
    this.#neuronId = (neuron) => connectome.neuronId(neuron);
  }

  /**
   * Input events do not carry the name of their input. If a report needs it, each input is drawn by itself; the events are the
   * same, because trains are independent.
   * @returns the events of all inputs, and of each; the latter are empty if no report reads them
   * @param cursors updated in place
   */
  draw(
    { protocol, reports }: TrialTask,
    span: { readonly startStep?: number; readonly durationSteps: number },
    cursors?: TrainCursors,
  ): { readonly all: InputEvents; readonly ofInputs: readonly InputEvents[] } {
    const { inputs } = protocol;
    const drawn = (some: readonly Input[], own?: TrainCursors) =>
      this.drawEvents({ ...span, inputs: some }, this.#neuronId, own);
    if (!reports.some((report) => kindOf(report).readsInputs))
      return { all: drawn(inputs, cursors), ofInputs: [] };
    let from = 0;
    const ofInputs = inputs.map((input) => {
      const to = from + CURSOR_WORDS * trainsWithCursors([input]);
      const own = cursors?.subarray(from, to);
      from = to;
      return drawn([input], own);
    });
    return { all: joinedEvents(inputs, ofInputs), ofInputs };
  }

  /** Simulates and reads the next segment of the trial that the engine has loaded. */
  segment(
    task: TrialTask,
    { startStep, endStep }: ReportWindow,
    engine: SegmentEngine,
    cursors: TrainCursors,
  ): readonly [trialResult: TrialResult, raster: EventsInTime] {
    const span = { startStep, durationSteps: endStep - startStep };
    const events = this.draw(task, span, cursors);
    const trial = engine.advance(events.all, { ...optionsOf(task), ...span });
    const { stoppedAtStep = endStep - 1 } = trial;
    // If the budget ends the trial, the result must not depend on the planned length of the segment.
    const simulated = { startStep, endStep: stoppedAtStep + 1 };
    const raster = inTrial(trial, startStep);
    const before = eventsBefore(events, simulated.endStep - startStep);
    return [this.read(task, before, { ...trial, ...raster }, simulated), raster];
  }

  /**
   * @param trial its steps count from the start of the trial
   * @param segment the segment that was simulated
   */
  read(
    task: TrialTask,
    { all: events, ofInputs }: DrawnEvents,
    trial: Omit<Trial, 'steps'> & EventsInTime,
    segment: ReportWindow,
  ): TrialResult {
    // Most reports read the same window, the whole trial, so counts of a window are remembered.
    const windows = new Map<string, SpikeCounts>();
    const countsIn = ({ startStep, endStep }: ReportWindow): SpikeCounts =>
      getOrInsert(windows, `${startStep} ${endStep}`, () => this.#count(trial, startStep, endStep));
    const all = countsIn(segment);
    const eventsOfInputs = ofInputs.map((each) => inTrial(each.background ?? each, segment.startStep));
    let { maxRows: rowsLeft = Infinity } = task;
    const recorded = trial.membranes?.values();
    return {
      spikes: trial.neurons.length,
      responding: all.neurons.length,
      inputEvents: events.steps.length + (events.background?.steps.length ?? 0),
      synapticEvents: trial.deliveredEvents,
      ...(trial.stoppedAtStep !== undefined && { stoppedAtStep: trial.stoppedAtStep }),
      reports: task.reports.map((report) => {
        const kind = kindOf(report);
        const samples = kind.recordingOf && recorded?.next().value;
        const view = {
          ...segment,
          ...{ raster: trial, eventsOfInputs, marks: this.#marks, samples, rowsLeft, countsIn },
        };
        const result = kind.read(report, view);
        if (isEventResult(result)) rowsLeft -= rowsHere(result);
        return result;
      }),
      ...(task.countsAll ? { counts: all } : { responders: all.neurons }),
    };
  }

  #count({ steps, neurons: ofSpikes }: EventsInTime, startStep: number, endStep: number): SpikeCounts {
    const counts = this.#counts;
    const active: number[] = [];
    const from = firstNotBelow(steps, startStep);
    const to = firstNotBelow(steps, endStep);
    if (to - from > counts.length) return this.#countMany(ofSpikes.subarray(from, to));
    for (let spike = from; spike < to; spike++) {
      const neuron = ofSpikes[spike]!;
      if (counts[neuron]!++ === 0) active.push(neuron);
    }
    const neurons = inAscendingOrder(active, counts);
    const spikes = neurons.map((neuron) => counts[neuron]!);
    for (const neuron of active) counts[neuron] = 0;
    return { neurons, spikes };
  }

  /** The same for many spikes: scans all neurons, because a growing list of active ones would be slower. */
  #countMany(ofSpikes: Uint32Array): SpikeCounts {
    const counts = this.#counts;
    for (let spike = 0; spike < ofSpikes.length; spike++) counts[ofSpikes[spike]!]!++;
    const neurons = new Uint32Array(counts.length);
    const spikes = new Uint32Array(counts.length);
    let active = 0;
    for (let neuron = 0; neuron < counts.length; neuron++) {
      neurons[active] = neuron;
      spikes[active] = counts[neuron]!;
      // Without a branch, which could not be predicted: a neuron that did not spike is overwritten by the next.
      active += Math.min(1, counts[neuron]!);
    }
    counts.fill(0);
    return { neurons: neurons.slice(0, active), spikes: spikes.slice(0, active) };
  }
}

/** @param counts 0 except for these neurons */
function inAscendingOrder(neurons: readonly number[], counts: Uint32Array): Uint32Array {
  if (neurons.length < counts.length * SORTED_SHARE) return Uint32Array.from(neurons).sort();
  const ascending = new Uint32Array(neurons.length);
  for (let neuron = 0, position = 0; position < ascending.length; neuron++) {
    if (counts[neuron] !== 0) ascending[position++] = neuron;
  }
  return ascending;
}

function eventsBefore({ all, ofInputs }: DrawnEvents, step: number): DrawnEvents {
  const cut = <T extends Pick<InputEvents, 'steps'>>(of: T): T => ({
    ...of,
    steps: of.steps.subarray(0, firstNotBelow(of.steps, step)),
  });
  const before = ({ background, ...events }: InputEvents): InputEvents => ({
    ...cut(events),
    ...(background && { background: cut(background) }),
  });
  return { all: before(all), ofInputs: ofInputs.map(before) };
}

/** Shifts steps that count from the start of a segment, so that they count from the start of the trial. */
function inTrial({ steps, neurons }: EventsInTime, startStep: number): EventsInTime {
  return startStep === 0
    ? { steps, neurons }
    : { steps: new Uint32Array(steps).map((step) => step + startStep), neurons };
}
